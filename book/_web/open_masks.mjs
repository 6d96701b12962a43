// @ts-check
// Encoders that fill gaps, in the page. The data and a table for readers without scripts are in the
// page (solutions/drawing/open_masks.py); this runs the machines on what the reader hides.

import { drawn, isSentence, likeliest, mixed } from "./gaps.mjs";
import { button, choice, dataOf, element, task } from "./parts.mjs";
import { Restorer } from "./restorer.mjs";
import { twoDigits } from "./small_attention.mjs";

const SHOWN = 6;

/** @param {HTMLElement} figure */
function bring(figure) {
    /** @type {import("./gaps.mjs").Data} */
    const data = dataOf(figure);
    const { words, machines, tensors, heads } = data;
    const MASK = words.length - 1;
    const restorers = machines.map((kept) => new Restorer(kept, tensors, heads));
    const n = data.sentence.length;
    const text = data.sentence.slice();
    text[data.gap] = MASK;
    let [machine, place] = [1, data.gap];
    /** The places that were filled since all were hidden; null if they were not all hidden. */
    let order = /** @type {number[] | null} */ (null);
    let byHand = false;

    const blind = task("Find a gap that one machine fills for sure and another can only guess.");
    const anyOrder = task(
        "Hide everything, and let the words be drawn in an order of your own, not from left to right, until a sentence of the language stands there.",
    );
    const status = element("p", { class: "play-told", role: "status" });
    const places = text.map((_, at) => button("", () => press(at)));
    const row = element(
        "div",
        {
            class: "masks-row",
            role: "group",
            "aria-label": "The sentence: press a word to hide it",
        },
        ...places,
    );
    const title = element("p", { class: "play-note" });
    const table = element("table", { class: "accuracies masks-table" });
    const draw = button("Draw a word here", () => fill(drawnHere(), false));
    const all = button("Hide everything", () => {
        text.fill(MASK);
        [order, byHand, place] = [[], false, 0];
        update();
    });
    const again = button("The first sentence", () => {
        for (const [at, word] of data.sentence.entries()) text[at] = word;
        text[data.gap] = MASK;
        [order, place] = [null, data.gap];
        update();
    });
    const which = choice(
        "masks-machine",
        "Trained",
        machines.map(({ title }, at) => [at, title]),
        (value) => {
            machine = Number(value);
            update();
        },
        machine,
    );

    const drawnHere = () => drawn(restorers[machine].read(text)[place], Math.random());

    /** Hide a word, or look at a gap. @param {number} at */
    function press(at) {
        if (text[at] !== MASK) {
            text[at] = MASK;
            order = null;
        }
        place = at;
        update();
    }

    /** Fill the gap that is looked at, and look at the next one. @param {number} word @param {boolean} own */
    function fill(word, own) {
        if (text[place] !== MASK) return;
        text[place] = word;
        order?.push(place);
        byHand ||= own;
        const next = [...text.keys()].find((at) => text[(place + 1 + at) % n] === MASK);
        if (next !== undefined) place = (place + 1 + next) % n;
        update();
    }

    /** Show the sentence, and what the machine says of the gap. */
    function update() {
        const gap = text[place] === MASK;
        for (const [at, one] of places.entries()) {
            const hidden = text[at] === MASK;
            one.textContent = hidden ? "▁▁▁" : words[text[at]];
            one.setAttribute(
                "aria-label",
                hidden ? `gap ${at + 1}: look here` : `${words[text[at]]}: hide it`,
            );
            one.classList.toggle("gap", hidden);
            one.setAttribute("aria-pressed", String(hidden && at === place));
        }
        draw.disabled = !gap;
        const said = restorers.map((one) => one.read(text)[place]);
        const shares = likeliest(said[machine], SHOWN);
        title.textContent = gap
            ? `What may stand at gap ${place + 1}; press a word to put it there`
            : "";
        table.replaceChildren(
            ...(gap ? shares : []).map(([id, share]) => {
                const cell = element("td", { class: "measure" }, twoDigits(share));
                cell.style.setProperty("--part", share.toFixed(3));
                const head = element(
                    "th",
                    { scope: "row" },
                    button(words[id], () => fill(id, true)),
                );
                return element("tr", {}, head, cell);
            }),
        );
        const bests = said.map((one) => Math.max(...one.slice(0, -1)));
        if (gap && Math.max(...bests) > 0.95 && Math.min(...bests) < 0.5) blind.mark(true);
        const whole = !text.includes(MASK);
        const right =
            whole &&
            isSentence(
                text.map((one) => words[one]),
                data,
            );
        if (right && order?.length === n && mixed(order) && !byHand) anyOrder.mark(true);
        status.textContent = whole
            ? right
                ? "This is a sentence of the language."
                : "This is no sentence of the language."
            : gap
              ? `Trained ${machines[machine].title}, the machine would say “${words[shares[0][0]]}”, with ${twoDigits(shares[0][1])}.`
              : "";
    }

    const buttons = element("div", { class: "masks-buttons" }, draw, all, again);
    figure.replaceChildren(
        element("ul", { class: "play-tasks" }, blind.node, anyOrder.node),
        which,
        row,
        buttons,
        title,
        table,
        status,
    );
    update();
}

if (typeof document !== "undefined")
    for (const figure of document.querySelectorAll("div.masks"))
        if (figure instanceof HTMLElement) bring(figure);
