// @ts-check
// The vectors of many sequences in a plane: projected on their two principal components, and each
// labelled with its right answer.

import { drawn, element } from "../parts.mjs";

const SIZE = 230;
const TURNS = 12; // of the power iteration, which starts from the last result

/**
 * @typedef {import("../learning/run.mjs").Vectors} Vectors
 * @typedef {number[]} Direction
 */

/**
 * Return the vectors without their mean, one in each row.
 * @param {Vectors} vectors
 */
export function centred({ width, numbers, labels }) {
    const mean = Array.from({ length: width }, (_, feature) => {
        let sum = 0;
        for (let at = feature; at < numbers.length; at += width) sum += numbers[at];
        return sum / labels.length;
    });
    return labels.map((_, row) => mean.map((one, feature) => numbers[row * width + feature] - one));
}

const dot = (/** @type {number[]} */ a, /** @type {number[]} */ b) =>
    a.reduce((sum, one, at) => sum + one * b[at], 0);

/**
 * Return the two directions of the largest variance, by power iteration.
 * @param {number[][]} rows without their mean
 * @param {Direction[]} before the initial directions, from a slightly earlier state of the vectors
 * @returns {Direction[]}
 */
export function directions(rows, before) {
    /** @type {Direction[]} */
    const found = [];
    for (const start of before) {
        let now = start;
        for (let turn = 0; turn < TURNS; turn++) {
            const shares = rows.map((row) => dot(row, now));
            const next = now.map((_, feature) =>
                rows.reduce((sum, row, at) => sum + shares[at] * row[feature], 0),
            );
            for (const other of found) {
                const along = dot(next, other);
                for (const feature of next.keys()) next[feature] -= along * other[feature];
            }
            const size = Math.sqrt(dot(next, next));
            if (!(size > 0)) break;
            now = next.map((one) => one / size);
        }
        found.push(now);
    }
    return found;
}

/**
 * Return the share of the variance between the answers: 1 if all vectors of each answer are equal.
 * @param {number[][]} rows without their mean
 * @param {number[]} labels
 */
export function between(rows, labels) {
    const total = rows.reduce((sum, row) => sum + dot(row, row), 0);
    let apart = 0;
    for (const label of new Set(labels)) {
        const own = rows.filter((_, at) => labels[at] === label);
        const mean = own[0].map(
            (_, feature) => own.reduce((sum, row) => sum + row[feature], 0) / own.length,
        );
        apart += own.length * dot(mean, mean);
    }
    return total > 0 ? apart / total : 0;
}

/** @param {string[]} answers their names */
export function plane(answers) {
    const svg = drawn("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img", class: "pg-plane" });
    /** @type {Direction[]} */
    let axes = [];
    return {
        node: element("figure", {}, svg),
        /** @param {Vectors} vectors */
        show(vectors) {
            const rows = centred(vectors);
            if (!axes.length)
                axes = [0, 1].map((one) =>
                    Array.from({ length: vectors.width }, (_, at) => Number(at % 2 === one)),
                );
            axes = directions(rows, axes);
            const places = rows.map((row) => axes.map((axis) => dot(row, axis)));
            const far = Math.max(...places.flat().map(Math.abs)) || 1;
            const place = (/** @type {number} */ one) =>
                (SIZE / 2 + (one / far) * (SIZE / 2 - 12)).toFixed(1);
            svg.replaceChildren(
                ...places.map(([x, y], at) => {
                    const label = vectors.labels[at];
                    const style = `fill: var(--figure-${(label % 7) + 1})`;
                    return drawn(
                        "text",
                        { x: place(x), y: place(y), style, "text-anchor": "middle" },
                        answers[label],
                    );
                }),
            );
            svg.setAttribute(
                "aria-label",
                `The vectors of ${rows.length} sequences, written as their right answers. Of their spread, ${Math.round(100 * between(rows, vectors.labels))} % lies between the answers.`,
            );
        },
    };
}
