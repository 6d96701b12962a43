// @ts-check
// A line chart over the training steps, which grows while machines learn.

import { drawn, element } from "../parts.mjs";

const [WIDTH, HEIGHT] = [256, 172];
const EDGE = { left: 30, right: 4, top: 26, bottom: 36 };
const MOST = 400; // points of a line; more would be slow, and invisible

/**
 * @typedef {[number, number]} Point step and value
 * @typedef {{ add: (machine: number, points: Point[]) => void, clear: (steps: number, high: number, level?: number) => void, say: (text: string) => void, node: HTMLElement }} Chart
 */

/**
 * @param {string} label the quantity on the vertical axis
 * @param {number} machines
 * @returns {Chart}
 */
export function chart(label, machines) {
    const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
    /** @type {Point[][]} */
    const lines = Array.from({ length: machines }, () => []);
    /** @type {SVGElement[]} */
    let shown = [];
    let [steps, high] = [1, 1];

    const x = (/** @type {number} */ step) =>
        EDGE.left + (step / steps) * (WIDTH - EDGE.left - EDGE.right);
    const y = (/** @type {number} */ value) =>
        HEIGHT - EDGE.bottom - (Math.min(value, high) / high) * (HEIGHT - EDGE.top - EDGE.bottom);

    /** @param {number} at */
    function draw(at) {
        shown[at].setAttribute(
            "points",
            lines[at]
                .map(([step, value]) => `${x(step).toFixed(1)},${y(value).toFixed(1)}`)
                .join(" "),
        );
    }

    return {
        node: element("figure", { class: "pg-chart" }, svg),
        /** Start a new chart. `level` is a dotted line, such as the accuracy of a guess. */
        clear(end, top, level) {
            [steps, high] = [end, top];
            for (const line of lines) line.length = 0;
            shown = lines.map((_, at) => drawn("polyline", { class: `pg-line pg-${at + 1}` }));
            const ticks = [0, high / 2, high].map((value) =>
                drawn(
                    "text",
                    { x: EDGE.left - 6, y: y(value) + 5, "text-anchor": "end" },
                    tick(value),
                ),
            );
            const ends = [0, steps].map((step) =>
                drawn(
                    "text",
                    {
                        x: x(step),
                        y: HEIGHT - EDGE.bottom + 18,
                        "text-anchor": step ? "end" : "start",
                    },
                    String(step),
                ),
            );
            const grid = [0, high / 2, high].map((value) =>
                drawn("line", {
                    class: "grid",
                    x1: EDGE.left,
                    x2: WIDTH - EDGE.right,
                    y1: y(value),
                    y2: y(value),
                }),
            );
            const dotted =
                level === undefined
                    ? []
                    : [
                          drawn("line", {
                              class: "pg-level",
                              x1: EDGE.left,
                              x2: WIDTH - EDGE.right,
                              y1: y(level),
                              y2: y(level),
                          }),
                      ];
            svg.replaceChildren(
                ...grid,
                ...dotted,
                ...ticks,
                ...ends,
                drawn("text", { x: 0, y: 14 }, label),
                drawn(
                    "text",
                    { x: (EDGE.left + WIDTH) / 2, y: HEIGHT - 6, "text-anchor": "middle" },
                    "step",
                ),
                ...shown,
            );
        },
        add(at, points) {
            const line = lines[at];
            line.push(...points.filter(([, value]) => Number.isFinite(value)));
            if (line.length > MOST)
                lines[at] = line.filter((_, one) => one % 2 === 0 || one === line.length - 1);
            draw(at);
        },
        say: (text) => svg.setAttribute("aria-label", text),
    };
}

/** @param {number} value */
const tick = (value) => String(Number(value.toPrecision(2)));
