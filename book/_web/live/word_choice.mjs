// @ts-check
// A choice between words, by a click, a touch or the arrow keys.

import { element } from "../parts.mjs";

/**
 * @param {string} name unique on the page
 * @param {string} legend
 * @param {(at: number) => void} chosen is called with the index of the word
 */
export function wordChoice(name, legend, chosen) {
    const row = element("span", { class: "look-words" });
    const place = element("fieldset", { class: "play-choice" }, element("legend", {}, legend), row);
    let written = "";

    /**
     * @param {string[]} words
     * @param {boolean[]} marked
     * @param {string} mark the class of marked words
     * @param {number} at the index of the chosen word
     */
    function show(words, marked, mark, at) {
        const now = JSON.stringify([words, marked]);
        if (now !== written)
            row.replaceChildren(
                ...words.map((word, value) => {
                    const input = element("input", { type: "radio", name, value, class: "unseen" });
                    input.addEventListener("change", () => chosen(value));
                    const text = element("span", { class: marked[value] ? mark : "" }, word);
                    return element("label", {}, input, text);
                }),
            );
        written = now;
        const input = row.querySelectorAll("input")[at];
        if (input) input.checked = true;
    }
    return { place, show };
}
