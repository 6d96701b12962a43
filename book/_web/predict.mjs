// @ts-check
// Predictions: the reader makes a guess, which opens the answer. The guess stays next to the
// answer, and is stored in the browser. `closed.js` closed the answers before the page was painted.

import { curve } from "./curve.mjs";
import { fragment } from "./parts.mjs";
import { get, remove, set } from "./storage.mjs";

/**
 * The field for a kind of guess.
 * @typedef {object} Field
 * @property {() => any} read returns the guess, or null
 * @property {(guess: any) => void} write shows a guess, or none for null
 * @property {(locked: boolean) => void} lock
 * @property {(guess: any) => string} said returns the guess in words
 * @property {string} [truth] the sentence for readers who have not guessed
 * @property {() => void} focus
 */

const EMPTY = "A guess helps, even a bad one: you will remember where the answer differs from it.";
const FORGOTTEN = "This browser keeps nothing, so your guess is gone when you leave the page.";

/**
 * @param {HTMLElement} box
 * @param {string} selector
 * @returns {any}
 */
const part = (box, selector) => box.querySelector(selector);

/** @type {Record<string, (box: HTMLElement) => Field>} */
const FIELDS = { choice, number, curve, sentence: text };

/** @param {HTMLElement} box @returns {Field} */
function choice(box) {
    /** @type {HTMLInputElement[]} */
    const options = [...box.querySelectorAll("input")];
    const { right } = box.dataset;
    /** @param {string} guess */
    const truth = (guess) => (guess === right ? `, and so it was` : `; it was ${right}`);
    return {
        read: () => options.find((one) => one.checked)?.value ?? null,
        write(guess) {
            for (const one of options) one.checked = one.value === guess;
        },
        lock(locked) {
            for (const one of options) one.disabled = locked;
        },
        said: (guess) => `You said ${guess}${right ? truth(guess) : ""}.`,
        focus: () => (options.find((one) => one.checked) ?? options[0]).focus(),
    };
}

/** @param {HTMLElement} box @returns {Field} */
function text(box) {
    /** @type {HTMLInputElement | HTMLTextAreaElement} */
    const field = part(box, ".predict-field");
    return {
        read: () => field.value.trim() || null,
        write(guess) {
            field.value = guess ?? "";
        },
        lock(locked) {
            field.readOnly = locked;
        },
        said: () => "Compare what you said with what follows.",
        focus: () => field.focus(),
    };
}

/** @param {HTMLElement} box @returns {Field} */
function number(box) {
    const measured = part(box, ".predict-measured").textContent.trim();
    return {
        ...text(box),
        said: (guess) => `You said ${guess}; it is ${measured}.`,
        truth: `It is ${measured}.`,
    };
}

/**
 * Make a prediction interactive.
 * @param {HTMLElement} box
 * @param {HTMLElement} answer the part after it, closed or open
 */
function prediction(box, answer) {
    const key = `predict/${box.dataset.key}`;
    const field = FIELDS[box.dataset.kind ?? ""](box);
    const [status, commit, skip, change, clear] = part(box, ".predict-row").children;

    /** @param {any} guess the guess, or null @param {string} [more] */
    function open(guess, more = "") {
        box.dataset.state = "open";
        answer.removeAttribute("hidden");
        field.write(guess);
        field.lock(true);
        box.toggleAttribute("data-skipped", guess === null);
        change.textContent = guess === null ? "Guess after all" : "Change my guess";
        clear.hidden = guess === null;
        status.textContent =
            guess === null ? (field.truth ?? "Shown without a guess.") : field.said(guess) + more;
        window.dispatchEvent(new Event("resize")); // wide elements can only be measured now
    }

    function close() {
        box.dataset.state = "closed";
        answer.setAttribute("hidden", "until-found");
        field.lock(false);
        box.removeAttribute("data-skipped");
        status.textContent = "";
        field.focus();
    }

    commit.addEventListener("click", () => {
        const guess = field.read();
        if (guess === null) {
            status.textContent = EMPTY;
            return;
        }
        open(guess, set(key, { guess }) ? "" : ` ${FORGOTTEN}`);
        change.focus();
    });
    skip.addEventListener("click", () => {
        set(key, { guess: null });
        open(null);
        change.focus();
    });
    change.addEventListener("click", () => {
        if (clear.hidden) remove(key);
        close();
    });
    clear.addEventListener("click", () => {
        remove(key);
        field.write(null);
        close();
    });
    box.addEventListener("keydown", (event) => {
        const from = event.target;
        if (event.key !== "Enter" || !(from instanceof HTMLInputElement) || from.readOnly) return;
        event.preventDefault(); // otherwise the button that gets the focus would be pressed, too
        commit.click();
    });
    answer.addEventListener("beforematch", () => open(null)); // found by a search or a link

    if (!answer.hasAttribute("hidden")) open(get(key)?.guess ?? null);
    return { answer, open };
}

const predictions = Array.from(document.querySelectorAll("fieldset.predict[data-state]"), (box) =>
    prediction(
        /** @type {HTMLElement} */ (box),
        /** @type {HTMLElement} */ (box.nextElementSibling),
    ),
);

/** Open the answer that an address leads into, if the browser has not done so. */
function openTarget() {
    const target = document.getElementById(fragment(location.hash));
    for (const { answer, open } of predictions) {
        if (!target || !answer.contains(target) || !answer.hasAttribute("hidden")) continue;
        open(null);
        target.scrollIntoView();
    }
}

openTarget();
window.addEventListener("hashchange", openTarget);
