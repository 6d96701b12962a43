// @ts-check
// The report of the self-check on an answer. Screen readers read its words at once. Its pictures
// come below the words, since a screen reader should not read four matrices first.

import { element } from "../parts.mjs";
import { cleaned } from "./clean.mjs";

/**
 * @typedef {import("./outputs.mjs").Output} Output
 * @typedef {import("./python.mjs").Checked} Checked
 */

/** @param {string} exercise */
export function report(exercise) {
    const words = element("div", { class: "practise-words", "aria-live": "polite" });
    const pictures = element("div", { class: "practise-pictures" });
    const node = element("div", { class: "practise-report" }, words, pictures);

    /** @param {"right" | "tried"} verdict @param {Node} text @param {Node[]} drawn */
    function put(verdict, text, drawn) {
        node.dataset.verdict = verdict;
        words.replaceChildren(text);
        pictures.replaceChildren(...drawn);
    }
    return {
        node,
        clear() {
            delete node.dataset.verdict;
            words.replaceChildren();
            pictures.replaceChildren();
        },
        /** @param {string} why the reason why the answer could not be checked */
        refuse(why) {
            const headline = element("strong", {}, `${exercise}: not yet`);
            const text = document.createDocumentFragment();
            text.append(element("p", {}, headline), element("p", {}, why));
            put("tried", text, []);
        },
        /** @param {Checked} result @param {Output[]} outputs */
        show(result, outputs) {
            const html = outputs.flatMap((output) => (output.kind === "html" ? [output.html] : []));
            if (html.length === 0) return this.refuse(result.message);
            const made = cleaned(html.join(""));
            const drawn = [...made.querySelectorAll("div:has(> svg)")];
            for (const one of [...made.querySelectorAll("div"), ...made.querySelectorAll("svg")])
                one.removeAttribute("style"); // it has the notebook's colours
            for (const one of drawn) one.remove();
            put(result.passed ? "right" : "tried", made, drawn);
        },
    };
}
