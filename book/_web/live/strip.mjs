// @ts-check
// The book's own curve of quality against length, in small, and this sentence on it.

import { drawn, element } from "../parts.mjs";

/** @typedef {{ title: string, accuracy: number[] }} Curve */

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [360, 130, 34, 10, 10, 30];
const MOST = 60;

/** @param {number} tokens */
const across = (tokens) => LEFT + (Math.min(tokens, MOST) / MOST) * (WIDTH - LEFT - RIGHT);
/** @param {number} share */
const up = (share) => HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);

/**
 * @param {[number, number][]} lengths the range of tokens of each point
 * @param {Curve[]} curves mean token accuracy of each machine, one number a range
 */
export function strip(lengths, curves) {
    const marks = curves.map((_, at) =>
        drawn("circle", {
            r: 5,
            cx: 0,
            cy: 0,
            class: `live-${at + 1} live-here`,
            visibility: "hidden",
        }),
    );
    const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
    for (const share of [0, 0.5, 1]) {
        svg.append(
            drawn("line", {
                class: "grid",
                x1: LEFT,
                x2: WIDTH - RIGHT,
                y1: up(share),
                y2: up(share),
            }),
        );
        svg.append(
            drawn("text", { x: LEFT - 6, y: up(share) + 5, "text-anchor": "end" }, String(share)),
        );
    }
    for (const tokens of [0, 20, 40, 60])
        svg.append(
            drawn(
                "text",
                { x: across(tokens), y: HEIGHT - 10, "text-anchor": "middle" },
                String(tokens),
            ),
        );
    for (const [at, { accuracy }] of curves.entries()) {
        const points = accuracy.map(
            (share, i) => `${across((lengths[i][0] + lengths[i][1]) / 2)},${up(share)}`,
        );
        svg.append(
            drawn("polyline", { points: points.join(" "), class: `live-${at + 1} live-curve` }),
        );
    }
    svg.append(...marks);
    const place = element(
        "figure",
        { class: "live-strip" },
        svg,
        element(
            "figcaption",
            {},
            "Right positions against words of the source. Lines: the book's test sentences. Dots: this one.",
        ),
    );

    /**
     * Put the sentence on the strip.
     * @param {number} tokens
     * @param {(number | null)[]} found its accuracy with each machine
     */
    function put(tokens, found) {
        for (const [at, mark] of marks.entries()) {
            const share = found[at];
            mark.setAttribute("visibility", share === null ? "hidden" : "visible");
            mark.setAttribute("cx", String(across(tokens)));
            mark.setAttribute("cy", String(up(share ?? 0)));
        }
        const said = curves.flatMap(({ title }, at) =>
            found[at] === null ? [] : [`${title}: ${Math.round(100 * (found[at] ?? 0))} %`],
        );
        svg.setAttribute(
            "aria-label",
            `${tokens} words. Right positions: ${said.join("; ") || "none yet"}.`,
        );
    }
    put(
        0,
        curves.map(() => null),
    );
    return { place, put };
}
