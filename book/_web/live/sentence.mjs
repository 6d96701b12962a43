// @ts-check
// The editor of a sentence: possible next words, an additional clause, another sentence.

import { button, element } from "../parts.mjs";
import { LONGEST } from "./language.mjs";

/** @typedef {import("./grammar.mjs").Grammar} Grammar */

const TOO_LONG = "The sentence is as long as it can be: eight clauses, or sixty words.";

/**
 * Return words as ordinary text: an initial capital, no space before a punctuation mark.
 * @param {string[]} words
 */
export function asText(words) {
    let text = "";
    for (const word of words) {
        const joined = /^[,.?!]$|^-/.test(word) || text.endsWith("'");
        text += joined || !text ? word : ` ${word}`;
    }
    return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * Make the field, the list of offered words, and the buttons.
 * @param {string} id unique on the page
 * @param {Grammar} grammar
 * @param {string[]} start a complete sentence
 * @param {(words: string[], right: string[] | null) => void} changed is called with the words, and
 * with the right translation if they are a complete sentence
 */
export function sentence(id, grammar, start, changed) {
    let words = start;
    const shown = element("p", { class: "live-source", lang: "en" });
    const said = element("p", { class: "live-said", role: "status" });
    const list = element("datalist", { id: `${id}-next` });
    const input = element("input", {
        ...{ id: `${id}-word`, list: `${id}-next`, autocomplete: "off", autocapitalize: "off" },
        ...{ spellcheck: "false", size: 14 },
    });
    const label = element("label", { for: `${id}-word` }, "Next word");
    const longer = button("Longer", () => {
        const more = grammar.longer(words, Math.random);
        if (more) put(more);
        else say(TOO_LONG);
    });
    const another = button("Another sentence", () =>
        put(grammar.shuffle(Math.random, 1 + Math.floor(2 * Math.random()))),
    );
    const back = button("Take back a word", () => put(words.slice(0, -1)));

    /** @param {string} text */
    function say(text) {
        said.textContent = text;
    }

    /** @param {string[]} next */
    function put(next) {
        words = next.slice(0, LONGEST);
        say("");
        draw();
    }

    function draw() {
        shown.textContent = words.length ? asText(words) : "Begin a sentence.";
        const offered = grammar.next(words);
        list.replaceChildren(
            ...offered.map(({ word, group }) => element("option", { value: word }, group)),
        );
        const whole = grammar.read(words);
        input.disabled = offered.length === 0;
        label.textContent = offered.length
            ? `Next word (${offered.length} can come next)`
            : "The sentence is whole";
        back.disabled = words.length === 0;
        longer.disabled = !whole;
        changed(words, whole && grammar.french(whole).map(({ word }) => word));
    }

    /** Add the typed words, up to the first that cannot come next. */
    function add() {
        const typed = input.value.match(/[\p{L}'-]+|[,.?]/gu) ?? [];
        let next = words;
        let refused = "";
        for (const one of typed) {
            const offered = grammar.next(next);
            const fits = offered.find(({ word }) => word.toLowerCase() === one.toLowerCase());
            if (!fits || next.length === LONGEST) {
                refused = fits ? TOO_LONG : grammar.refusal(next, one);
                break;
            }
            next = [...next, fits.word];
        }
        if (next !== words) {
            input.value = "";
            put(next);
        }
        say(refused);
    }

    input.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || (event.key === " " && input.value.trim())) {
            event.preventDefault();
            add();
        } else if (event.key === "Backspace" && !input.value && words.length)
            put(words.slice(0, -1));
    });
    // A word chosen from the list is added at once.
    input.addEventListener("input", (event) => {
        if (!(event instanceof InputEvent) || event.inputType === "insertReplacementText") add();
    });
    const typing = element("div", { class: "live-typing" }, label, input, list, back);
    const buttons = element("div", { class: "live-buttons" }, longer, another);
    const place = element("div", { class: "live-sentence" }, shown, buttons, typing, said);
    return { place, begin: draw };
}
