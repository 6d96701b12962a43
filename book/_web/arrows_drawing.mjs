// @ts-check
// The picture of three arrows: where everything stands (solutions/drawing/arrows.py draws it first).

import { twoDigits } from "./small_attention.mjs";

/** @typedef {import("./small_attention.mjs").Point} Point */
/** @typedef {import("./small_attention.mjs").Matrix} Matrix */

const WIDTH = 480;
const HEIGHT = 320;
const REACH = 3.3; // the first coordinate at the right edge

/**
 * Return functions from the plane to the picture. It shows more of the plane at a larger factor, so
 * that long arrows fit in, and less at a smaller one, so that short arrows can be told apart.
 * @param {number} factor
 */
export function view(factor) {
    const unit = WIDTH / 2 / (REACH * (factor < 1 ? Math.sqrt(factor) : factor));
    return {
        unit,
        /** @param {number[]} point @returns {Point} */
        place: ([x, y]) => [WIDTH / 2 + unit * x, HEIGHT / 2 - unit * y],
        /** @param {Point} share of the picture's width and height @returns {Point} */
        point: ([x, y]) => [((x - 0.5) * WIDTH) / unit, ((0.5 - y) * HEIGHT) / unit],
    };
}

/** @param {ReturnType<typeof view>} shown */
function gridPath({ unit, place }) {
    const [columns, rows] = [WIDTH, HEIGHT].map((size) => Math.floor(size / 2 / unit));
    let path = "";
    for (let at = -columns; at <= columns; at++) path += `M${place([at, 0])[0]} 0V${HEIGHT}`;
    for (let at = -rows; at <= rows; at++) path += `M0 ${place([0, at])[1]}H${WIDTH}`;
    return path;
}

/**
 * Set attributes of an element.
 * @param {Element | null} node
 * @param {Record<string, string | number>} attributes
 */
function assign(node, attributes) {
    for (const [name, value] of Object.entries(attributes)) node?.setAttribute(name, String(value));
}

/**
 * Return where the names of the tokens and outputs stand: an arrow's beyond its tip, an output's at a
 * right angle to its way.
 * @param {Point[]} tips
 * @param {Point[]} ends
 * @param {Point} origin
 */
function names(tips, ends, origin) {
    const beyond = tips.map((tip) => {
        const [across, down] = [tip[0] - origin[0], tip[1] - origin[1]];
        const size = Math.hypot(across, down) || 1;
        return [tip[0] + (22 * across) / size, tip[1] + (22 * down) / size + 4];
    });
    const beside = ends.map((end, at) => {
        const [across, down] = [end[0] - tips[at][0], end[1] - tips[at][1]];
        const size = Math.hypot(across, down) * (across < 0 ? -1 : 1);
        if (Math.abs(size) < 0.5) return [end[0], end[1] - 14];
        return [end[0] + (18 * down) / size, end[1] - (18 * across) / size + 4];
    });
    return spread([...beyond, ...beside]);
}

/**
 * Return the places, of which those that would cover an earlier one stand further to the right.
 * @param {number[][]} places
 * @returns {number[][]}
 */
export function spread(places) {
    /** @type {number[][]} */
    const taken = [];
    for (const [x, y] of places) {
        let free = x;
        while (taken.some((one) => Math.abs(one[0] - free) < 18 && Math.abs(one[1] - y) < 14))
            free += 9;
        taken.push([free, y]);
    }
    return taken;
}

/**
 * Move the arrow of a token, and its output.
 * @param {Element} group
 * @param {Point} tip
 * @param {Point} end
 */
function drawToken(group, tip, end) {
    const turn = (180 / Math.PI) * Math.atan2(tip[1] - HEIGHT / 2, tip[0] - WIDTH / 2);
    assign(group.querySelector(".moves"), { x1: tip[0], y1: tip[1], x2: end[0], y2: end[1] });
    assign(group.querySelector(".shaft"), { x2: tip[0], y2: tip[1] });
    assign(group.querySelector(".head"), {
        transform: `translate(${tip.join(" ")}) rotate(${turn})`,
    });
    assign(group.querySelector(".output"), { cx: end[0], cy: end[1] });
}

/** @param {Matrix} points */
const listed = (points) => points.map((point) => `(${point.map(twoDigits).join(", ")})`).join(", ");

/**
 * Return the function that draws the picture again.
 * @param {SVGElement} svg
 */
export function drawing(svg) {
    const groups = [...svg.querySelectorAll("g")];
    const [across, up] = svg.querySelectorAll(".one");
    return {
        /**
         * Draw the arrows X and the outputs Y; return the tips as shares of width and height.
         * @param {Matrix} X
         * @param {Matrix} Y
         * @param {number} factor of the arrows' lengths
         * @param {boolean} circled whether the circle on the first arrow is drawn
         */
        draw(X, Y, factor, circled) {
            const shown = view(factor);
            assign(svg.querySelector(".grid"), { d: gridPath(shown) });
            assign(across, { x: shown.place([1, 0])[0] });
            const one = shown.place([0, 1])[1];
            assign(up, { y: one + 5, visibility: one < 10 ? "hidden" : "visible" });
            assign(svg.querySelector(".hull"), { points: X.map(shown.place).join(" ") });
            const [cx, cy] = shown.place(X[0].map((value) => value / 2));
            const r = circled ? (shown.unit * Math.hypot(...X[0])) / 2 : 0;
            assign(svg.querySelector(".thales"), { cx, cy, r });
            const [tips, ends] = [X.map(shown.place), Y.map(shown.place)];
            const labels = names(tips, ends, shown.place([0, 0]));
            for (const [at, group] of groups.entries()) {
                drawToken(group, tips[at], ends[at]);
                const [input, output] = [labels[at], labels[at + X.length]];
                assign(group.querySelector(".of-input"), { x: input[0], y: input[1] });
                assign(group.querySelector(".of-output"), { x: output[0], y: output[1] });
            }
            const text = `Three arrows from the origin to ${listed(X)}, their tips joined to a triangle. The outputs are dots in this triangle, at ${listed(Y)}.`;
            svg.setAttribute("aria-label", text);
            return tips.map(([x, y]) => /** @type {Point} */ ([x / WIDTH, y / HEIGHT]));
        },
    };
}
