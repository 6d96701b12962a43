// @ts-check
// Three tokens as arrows in the plane, whose tips the reader drags: self-attention without
// parameters, live. The picture and the tables are in the page (solutions/drawing/arrows.py).

import { drawing, view } from "./arrows_drawing.mjs";
import { handle } from "./handles.mjs";
import { cellsOf, fill, shade } from "./numbers.mjs";
import { button, element, slider, task, toggle } from "./parts.mjs";
import { dot, selfAttention, twoDigits, widest } from "./small_attention.mjs";

/** @typedef {import("./small_attention.mjs").Matrix} Matrix */

const LIMITS = [3, 2];
const STEP = 0.1;
const TIMES = 5;
const TOGETHER = 0.05;
const FACTORS = Array.from({ length: 29 }, (_, at) => (at + 2) / 10);

/**
 * Return a coordinate of a tip on the grid of steps and within its limit.
 * @param {number} value
 * @param {number} axis
 */
export function allowed(value, axis) {
    const limit = LIMITS[axis];
    if (!Number.isFinite(value)) return 0;
    return Math.min(limit, Math.max(-limit, Math.round(value / STEP) / Math.round(1 / STEP)));
}

/**
 * Return whether a place of x2 gives more weight to x1 than to x2 itself, whatever the length.
 * @param {number[]} x1
 * @param {number[]} x2
 */
export const looksAway = (x1, x2) => dot(x2, x1) > dot(x2, x2) + 1e-9;

/**
 * Describe where a token's weights go.
 * @param {number[]} weights
 * @param {number} looks the token
 */
export function described(weights, looks) {
    const gives = weights.map((weight, at) => {
        const whom = at === looks ? "itself" : `x${at + 1}`;
        return `${twoDigits(weight)} to ${whom}`;
    });
    return `x${looks + 1} gives ${gives.slice(0, -1).join(", ")} and ${gives.at(-1)}.`;
}

/**
 * Return a sentence as nodes, with x1 written as x with an index.
 * @param {string} sentence
 */
const nodes = (sentence) =>
    sentence
        .split(/\b(x\d)/)
        .map((part) =>
            /^x\d$/.test(part)
                ? element("span", {}, element("i", {}, part[0]), element("sub", {}, part[1]))
                : part,
        );

/**
 * @param {HTMLElement} figure
 * @param {number} number of the figure on its page
 */
function bring(figure, number) {
    /** @type {Matrix} */
    const start = JSON.parse(figure.dataset.inputs ?? "[]");
    const plane = /** @type {HTMLElement} */ (figure.querySelector(".arrows-plane"));
    const caption = /** @type {HTMLElement} */ (figure.querySelector(".play-caption"));
    const picture = drawing(/** @type {SVGElement} */ (plane.querySelector("svg")));
    const cells = {
        inputs: cellsOf(figure, "inputs"),
        scores: cellsOf(figure, "scores"),
        weights: cellsOf(figure, "weights"),
        outputs: cellsOf(figure, "outputs"),
    };
    /** The arrows at factor 1. */
    let tips = start;
    let factor = 1;
    let equal = false;
    let looks = 1;
    let times = 0;
    /** How far apart the arrows were before they were applied. */
    let before = 0;
    /** Which tasks are solved. */
    let found = false;
    let applied = false;

    const inputs = () => tips.map((tip) => tip.map((value) => value * factor));

    /** @param {number} at @param {number[]} to */
    function move(at, to) {
        const tip = to.map(allowed);
        if (tip.every((value, axis) => value === tips[at][axis])) return;
        tips = tips.map((old, i) => (i === at ? tip : old));
        times = 0;
        update();
    }

    const handles = start.map((_, at) =>
        handle(plane, {
            taken() {
                looks = at;
                update();
            },
            dragged: (to) =>
                move(
                    at,
                    view(factor)
                        .point(to)
                        .map((value) => value / factor),
                ),
            pushed: (right, down) =>
                move(at, [tips[at][0] + STEP * right, tips[at][1] - STEP * down]),
        }),
    );

    const away = task(...nodes("Place x2 so that it gives more to x1 than to itself."));
    const merge = task("Apply the layer again, five times. What becomes of the three tokens?");
    const status = element("p", { class: "play-told", role: "status" });
    const again = button("Apply again", () => {
        const X = inputs();
        if (times === 0) before = widest(X);
        tips = selfAttention(X, equal).outputs.map((y) => y.map((value) => value / factor));
        times += 1;
        update();
    });
    const restart = button("Start again", () => {
        tips = start;
        times = 0;
        found = false;
        applied = false;
        looks = 1;
        lengthOf.value = String(FACTORS.indexOf(1));
        lengthOf.dispatchEvent(new Event("input"));
        if (equal) same.querySelector("input")?.click();
    });
    const same = toggle("Equal weights", false, (on) => {
        equal = on;
        update();
    });
    const [lengthLabel, lengths] = slider(
        `arrows-${number}-length`,
        "Length of all arrows",
        FACTORS,
        FACTORS.indexOf(1),
        (value) => `× ${value.toFixed(1)}`,
        (value) => {
            factor = value;
            times = 0;
            update();
        },
    );
    const lengthOf = /** @type {HTMLInputElement} */ (lengths);
    const counter = element("output", { class: "play-count" });

    /** Mark the tasks, and return what the reader has found. @param {Matrix} X */
    function judge(X) {
        const reached = times === 0 && !equal && looksAway(X[0], X[1]);
        found ||= reached;
        const apart = widest(X);
        applied ||= times >= TIMES && apart < TOGETHER;
        away.mark(found);
        merge.mark(applied);
        if (reached)
            return "Found. It holds inside the dotted circle, which has x1 as its diameter: there x1 reaches further in the direction of x2 than x2 itself.";
        if (times < TIMES) return "";
        const end =
            apart < TOGETHER
                ? "Three tokens have become one."
                : "They are not yet one. Long arrows take very many layers.";
        return `After ${times} times the two that are furthest apart are ${twoDigits(apart)} apart; at first it was ${twoDigits(before)}. ${end}`;
    }

    function update() {
        const X = inputs();
        const { scores, weights, outputs } = selfAttention(X, equal);
        fill(cells.inputs, X);
        fill(cells.scores, scores);
        fill(cells.weights, weights);
        fill(cells.outputs, outputs);
        shade(cells.weights, weights);
        for (const table of Object.values(cells))
            for (const [at, row] of table.entries())
                row[0].parentElement?.classList.toggle("looks", at === looks);
        status.replaceChildren(...nodes(`${described(weights[looks], looks)} ${judge(X)}`));
        counter.textContent = times === 1 ? "applied once" : `applied ${times} times`;
        const places = picture.draw(X, outputs, factor, found);
        for (const [at, place] of places.entries()) {
            const where = X[at].map(twoDigits).join(", ");
            const label = `Tip of x${at + 1}, at (${where}): move it with the arrow keys`;
            handles[at].put(place, label);
        }
    }

    const tasks = element("ul", { class: "play-tasks" }, away.node, merge.node);
    const form = element("div", { class: "play-sliders" }, lengthLabel, lengths);
    const actions = element("div", { class: "play-actions" }, same, restart, again, counter);
    // The page asks what becomes of the tokens; drag.css shows these when the reader has answered.
    for (const part of [merge.node, again, counter]) part.classList.add("after-predicting");
    figure.prepend(tasks);
    caption.after(element("div", { class: "arrows-controls" }, form, actions), status);
    update();
}

if (typeof document !== "undefined")
    for (const [number, figure] of [...document.querySelectorAll("div.arrows")].entries())
        if (figure instanceof HTMLElement) bring(figure, number);
