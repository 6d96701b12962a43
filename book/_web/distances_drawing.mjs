// @ts-check
// The picture of a head's score by distance, for distance_curves.mjs. It has the measures of
// solutions/drawing/distance_curves.py, which draws it for readers without scripts.

import { PEAK, scoreAt } from "./distances.mjs";
import { drawn } from "./parts.mjs";

/** @typedef {import("./distances.mjs").Measured} Measured */

const LEFT = 40;
const WIDTH = 304;
const TOP = 22;
const HEIGHT = 118;
const FOOT = 226;
const BARS = 62;
const FINE = 4;
const LABEL = 22;
const CEILINGS = [0.1, 0.2, 0.5, 1];

/** The place of a distance. @param {number} distance @param {number} length */
const across = (distance, length) => LEFT + (WIDTH * distance) / length;

/** The place of a score. @param {number} score @param {number} limit */
const down = (score, limit) => TOP + (HEIGHT * (1 - score / limit)) / 2;

/** The largest score there can be. @param {Measured} result */
export const limitOf = ({ head }) => head.amplitudes.reduce((sum, size) => sum + size, 0);

/** The weight at the upper edge of the bars. @param {number[]} weights */
export const ceilingOf = (weights) =>
    CEILINGS.find((ceiling) => ceiling >= Math.max(...weights)) ?? 1;

/**
 * Return the points of the curve.
 * @param {Measured} result
 */
export function pointsOf(result) {
    const length = result.scores.length - 1;
    const limit = limitOf(result);
    return Array.from({ length: FINE * length + 1 }, (_, at) => {
        const y = down(scoreAt(result.head, result.turning, at / FINE), limit);
        return `${across(at / FINE, length).toFixed(1)},${y.toFixed(1)}`;
    }).join(" ");
}

/**
 * Return the path of the bars of some distances.
 * @param {number[]} weights
 * @param {(distance: number) => boolean} which
 */
export function barsOf(weights, which) {
    const ceiling = ceilingOf(weights);
    return weights
        .map((weight, d) =>
            which(d) && d > 0
                ? `M${across(d, weights.length - 1).toFixed(1)} ${FOOT}v-${((BARS * weight) / ceiling).toFixed(1)}`
                : "",
        )
        .join("");
}

/**
 * Return the distances whose numbers have room beside each other.
 * @param {number[]} peaks
 * @param {number} length
 */
export function labelled(peaks, length) {
    /** @type {number[]} */
    const chosen = [];
    for (const peak of peaks) {
        const before = chosen.at(-1);
        if (before === undefined || across(peak, length) - across(before, length) >= LABEL)
            chosen.push(peak);
    }
    return chosen;
}

/**
 * Return a function that draws what was measured.
 * @param {SVGElement} svg
 */
export function drawing(svg) {
    const part = (/** @type {string} */ name) =>
        /** @type {SVGElement} */ (svg.querySelector(`.${name}`));
    const [curve, bars, wrongBars, marks] = ["curve", "bars", "wrong-bars", "marks"].map(part);
    const [trained, line, threshold, end, top, ceiling] = [
        "trained",
        "asked",
        "threshold",
        "end",
        "limit",
        "ceiling",
    ].map(part);

    /**
     * @param {Measured} result
     * @param {number} asked
     * @param {number} reach the trained length
     */
    return (result, asked, reach) => {
        const { scores, weights, peaks, wrong, trainedScore } = result;
        const length = scores.length - 1;
        const limit = limitOf(result);
        curve.setAttribute("points", pointsOf(result));
        bars.setAttribute(
            "d",
            barsOf(weights, (d) => !wrong.includes(d)),
        );
        wrongBars.setAttribute(
            "d",
            barsOf(weights, (d) => wrong.includes(d)),
        );
        for (const path of [bars, wrongBars])
            path.style.strokeWidth = Math.max(1, (0.7 * WIDTH) / length).toFixed(1);
        trained.setAttribute("width", ((WIDTH * reach) / length).toFixed(1));
        const from = down(scores[asked], limit).toFixed(1);
        line.setAttribute("d", `M${across(asked, length).toFixed(1)} ${from}V${FOOT}`);
        const height = down(PEAK * trainedScore, limit).toFixed(1);
        threshold.setAttribute("d", `M${LEFT} ${height}h${WIDTH}`);
        const numbers = labelled(peaks, length);
        marks.replaceChildren(
            ...peaks.flatMap((peak) => {
                const name = peak === asked ? "true" : "false";
                const [x, y] = [across(peak, length).toFixed(1), down(scores[peak], limit)];
                const dot = drawn("circle", { class: name, cx: x, cy: y.toFixed(1), r: 4 });
                if (!numbers.includes(peak)) return [dot];
                const place = { class: name, x, y: (y - 8).toFixed(1), "text-anchor": "middle" };
                return [dot, drawn("text", place, String(peak))];
            }),
        );
        end.textContent = String(length);
        top.textContent = limit.toFixed(0);
        ceiling.textContent = String(ceilingOf(weights));
    };
}
