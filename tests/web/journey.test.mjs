// @ts-check
// Test the journey of a word: its numbers, the task and its answers, and the sentence on it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { cycled, judged, progress, weightsOf } from "../../book/_web/journey.mjs";

/** @typedef {Parameters<typeof weightsOf>[0]} Layer */

/** @type {Layer} */
const START = {
    tokens: ["the", "cat", "sat", "on", "the", "mat"],
    features: ["grammar", "thing", "cat-like", "place"],
    X: [
        [1, 0, 0, 0],
        [0, 1, 1, 0],
        [0, 0, 1, 1],
        [1, 0, 0, 1],
        [1, 0, 0, 0],
        [0, 1, 0, 1],
    ],
    W_q: [
        [0, 0, 0, 2],
        [0, 0, 0, 0],
        [0, 0, 0, 0],
        [0, 2, 0, 0],
    ],
    W_k: [
        [0, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 0, 1, 0],
        [0, 0, 0, 1],
    ],
    W_v: [
        [0, 0],
        [0, 0],
        [1, 0],
        [0, 1],
    ],
    looks: 2,
};

/**
 * Judge the layer after one number was changed.
 * @param {"W_q" | "W_k"} name
 * @param {number} row
 * @param {number} column
 * @param {number} value
 */
function after(name, row, column, value) {
    const matrix = START[name].map((one) => [...one]);
    matrix[row][column] = value;
    return judged(START.tokens, weightsOf(START), weightsOf({ ...START, [name]: matrix }));
}

test("a number counts up to the largest and starts again, and down likewise", () => {
    assert.deepEqual(
        [0, 1, 2].map((value) => cycled(value, 1, 2)),
        [1, 2, 0],
    );
    assert.equal(cycled(0, -1, 2), 2);
});

test("at the start sat looks at cat as at mat, and nothing has moved", () => {
    const weights = weightsOf(START);
    const result = judged(START.tokens, weights, weights);
    assert.ok(Math.abs(result.share - Math.E / (2 * Math.E + 4)) < 1e-12);
    assert.deepEqual([result.found, result.first, result.kept], [false, false, true]);
    assert.equal(
        progress(result),
        "The task: “sat” gives “cat” 0.29, and another word as much or more; nothing has moved.",
    );
});

test("only one change of a single number solves the task: the cat-like look for the cat-like", () => {
    const solved = [];
    for (const name of /** @type {const} */ (["W_q", "W_k"]))
        for (const [row, values] of START[name].entries())
            for (const column of values.keys())
                for (const value of [0, 1, 2]) {
                    const result = after(name, row, column, value);
                    if (result.found && result.kept) solved.push([name, row, column, value]);
                }
    assert.deepEqual(solved, [["W_q", 2, 2, 2]]);
    const result = after("W_q", 2, 2, 2);
    assert.deepEqual(result.words, ["cat", "sat"]);
    assert.equal(progress(result), "Solved: “sat” gives “cat” 0.47; “cat” and “sat” have moved.");
});

test("a change of the row place finds cat, but moves on; the row grammar moves the articles", () => {
    const place = after("W_q", 3, 2, 2);
    assert.deepEqual([place.found, place.kept], [true, false]);
    assert.deepEqual(place.words, ["sat", "on", "mat"]);
    const grammar = after("W_q", 0, 2, 2);
    assert.deepEqual([grammar.found, grammar.kept], [false, false]);
    assert.deepEqual(grammar.words, ["the", "on"]);
});
