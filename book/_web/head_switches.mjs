// @ts-check
// Eight trained heads that the reader switches on and off. The tables and the map are in the page
// (solutions/drawing/head_switches.py); this adds the switches and fills the same cells again.

import { cellsOf } from "./numbers.mjs";
import { button, dataOf, element, task, toggle } from "./parts.mjs";
import { twoDigits } from "./small_attention.mjs";
import {
    described,
    ENOUGH,
    headsOf,
    judged,
    meanOf,
    ofSize,
    progress,
    switched,
} from "./subsets.mjs";

/**
 * @typedef {object} Heads the data in the page
 * @property {import("./subsets.mjs").Row[]} accuracy
 * @property {number[]} importance
 * @property {string[]} prefers
 * @property {string[]} letters
 * @property {number[][][]} maps
 */

/** @param {HTMLElement} figure */
function bring(figure) {
    /** @type {Heads} */
    const { accuracy, importance, prefers, letters, maps } = dataOf(figure);
    const all = accuracy.length - 1;
    let subset = all;

    const names = [...figure.querySelectorAll(".of-heads tbody th")];
    const table = /** @type {HTMLElement} */ (figure.querySelector(".accuracies"));
    const caption = /** @type {Element} */ (table.querySelector("caption"));
    const accuracies = cellsOf(figure, "accuracies").map(([cell]) => cell);
    const meanHead = element("th", { scope: "col", class: "mean" });
    table.querySelector("thead tr")?.append(meanHead);
    const means = accuracies.map((cell) => {
        const mean = element("td", { class: "mean" });
        cell.after(mean);
        return mean;
    });
    const note = /** @type {Element} */ (figure.querySelector(".switches-map .play-note"));
    const svg = /** @type {Element} */ (figure.querySelector(".switches-map svg"));
    const squares = /** @type {NodeListOf<SVGElement>} */ (svg.querySelectorAll(".cell"));

    const switches = names.map((name, head) => {
        const label = toggle(name.textContent ?? "", true, () => {
            subset = switched(subset, head);
            show(head);
            update();
        });
        const input = /** @type {HTMLInputElement} */ (label.querySelector("input"));
        const about = `looks at ${prefers[head]}, importance ${twoDigits(importance[head])}`;
        input.setAttribute("aria-label", `head ${head}, ${about}`);
        input.addEventListener("focus", () => show(head));
        name.replaceChildren(label);
        return input;
    });

    const keep = task(
        `Keep ${ENOUGH} of `,
        element("i", {}, "both"),
        " with as few heads as you can.",
    );
    const status = element("p", { class: "play-told", role: "status" });
    const compare = toggle("Compare with the mean of all choices of as many heads", false, (on) =>
        table.classList.toggle("compared", on),
    );
    const restart = button("All on", () => {
        subset = all;
        update();
    });

    /** Show where a head looks. @param {number} head */
    function show(head) {
        for (const [at, name] of names.entries())
            name.parentElement?.classList.toggle("looks", at === head);
        note.textContent = `Where head ${head} looks: a row for each question, a column for each record`;
        svg.setAttribute("aria-label", described(letters, maps[head]));
        for (const [at, weight] of maps[head].flat().entries())
            squares[at].style.setProperty("--weight", weight.toFixed(3));
    }

    /** Show which heads are on, and what is right with them. */
    function update() {
        const on = headsOf(subset);
        const choices = ofSize(accuracy, on.length);
        caption.textContent = `${on.length} of ${switches.length} heads on`;
        meanHead.textContent = `mean of ${choices.length}`;
        for (const [at, mean] of meanOf(choices).entries()) {
            const share = accuracy[subset][at];
            accuracies[at].textContent = twoDigits(share);
            accuracies[at].style.setProperty("--part", share.toFixed(3));
            accuracies[at].style.setProperty("--mean", mean.toFixed(3));
            means[at].textContent = twoDigits(mean);
        }
        for (const [head, input] of switches.entries()) {
            input.checked = on.includes(head);
            names[head].parentElement?.classList.toggle("off", !input.checked);
        }
        const result = judged(accuracy, subset);
        keep.mark(result.solved);
        status.textContent = progress(result);
    }

    figure.prepend(element("ul", { class: "play-tasks" }, keep.node));
    const actions = element("div", { class: "play-actions" }, restart);
    figure.querySelector(".of-heads")?.after(actions);
    table.after(status, element("div", { class: "play-actions" }, compare));
    update();
}

if (typeof document !== "undefined")
    for (const figure of document.querySelectorAll("div.switches"))
        if (figure instanceof HTMLElement) bring(figure);
