// @ts-check
// A stack of blocks whose parts the reader switches. The charts and the table are in the page
// (solutions/drawing/stack_switches.py); this adds the switches and draws the lines again.

import { cellsOf } from "./numbers.mjs";
import { choice, dataOf, element, task, toggle } from "./parts.mjs";
import { twoDigits } from "./small_attention.mjs";
import { described, judged, pointsOf, short, stackOf } from "./stacks.mjs";

const KINDS = /** @type {const} */ (["size", "gradient", "unlike"]);
const NORMS = /** @type {[string, string][]} */ ([
    ["none", "none"],
    ["post", "after"],
    ["pre", "before"],
]);

/** @param {HTMLElement} figure */
function bring(figure) {
    /** @type {import("./stacks.mjs").Stacks} */
    const { depths, stacks } = dataOf(figure);
    const switches = { residual: true, norm: "none", smaller: false };
    let depth = depths[depths.length - 1];

    const charts = KINDS.map((kind) => {
        const svg = /** @type {SVGElement} */ (figure.querySelector(`.stacks-${kind}`));
        return {
            kind,
            svg,
            title: svg.previousElementSibling?.textContent ?? "",
            low: Number(svg.dataset.low),
            high: Number(svg.dataset.high),
            others: [...svg.querySelectorAll(".other")],
            chosen: /** @type {Element} */ (svg.querySelector(".chosen")),
            end: /** @type {Element} */ (svg.querySelector(".depth")),
        };
    });
    const table = /** @type {Element} */ (figure.querySelector(".accuracies"));
    const caption = /** @type {Element} */ (table.querySelector("caption"));
    const cells = cellsOf(figure, "accuracies").map(([cell]) => cell);

    const withoutNorm = task("Make 24 blocks learn without any norm.");
    const healthyInVain = task(
        "Find 24 blocks that learn nothing, although neither their stream nor its gradient grows or shrinks tenfold.",
    );
    const status = element("p", { class: "play-told", role: "status" });

    const residual = toggle("Residual", switches.residual, (on) => {
        switches.residual = on;
        update();
    });
    const smaller = toggle("Smaller first weights", switches.smaller, (on) => {
        switches.smaller = on;
        update();
    });
    const smallerInput = /** @type {HTMLInputElement} */ (smaller.querySelector("input"));
    const norm = choice("stacks-norm", "Norm", NORMS, (value) => {
        switches.norm = value;
        update();
    });
    const blocks = choice(
        "stacks-depth",
        "Blocks",
        depths.map((n) => [n, String(n)]),
        (value) => {
            depth = Number(value);
            update();
        },
        depths.length - 1,
    );

    /** Draw the lines of this depth, and say what the stack does. */
    function update() {
        smallerInput.disabled = !switches.residual;
        const measured = stackOf(stacks, switches)[depth];
        for (const { kind, svg, title, low, high, others, chosen, end } of charts) {
            const values = measured[kind];
            for (const [at, line] of others.entries())
                line.setAttribute("points", pointsOf(stacks[at][depth][kind], low, high));
            chosen.setAttribute("points", pointsOf(values, low, high));
            end.textContent = String(depth);
            const [first, last] = [short(values[0]), short(values.at(-1))];
            svg.setAttribute("aria-label", `${title}: from ${first} to ${last}`);
        }
        caption.textContent = `${depth} blocks, trained`;
        for (const [at, share] of measured.right.entries()) {
            cells[at].textContent = twoDigits(share);
            cells[at].style.setProperty("--part", share.toFixed(3));
        }
        const result = judged(switches, measured, depth === depths.at(-1));
        withoutNorm.mark(result.withoutNorm);
        healthyInVain.mark(result.healthyInVain);
        status.textContent = described(measured, depth);
    }

    const controls = element("div", { class: "stacks-controls" }, blocks, norm, residual, smaller);
    figure.prepend(
        element("ul", { class: "play-tasks" }, withoutNorm.node, healthyInVain.node),
        controls,
    );
    table.after(status);
    update();
}

if (typeof document !== "undefined")
    for (const figure of document.querySelectorAll("div.stacks"))
        if (figure instanceof HTMLElement) bring(figure);
