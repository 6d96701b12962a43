// The page's sampler: tests/solutions/drawing/test_sampler.py holds `shaped` against the course's.

import assert from "node:assert/strict";
import { test } from "node:test";
import { counted, drawnBy, openness, shaped, sum } from "../../book/_web/sampling.mjs";

const LOGITS = [Math.log(8), Math.log(4), Math.log(2), Math.log(1), Math.log(1)];

/**
 * @param {number[]} found
 * @param {number[]} wanted
 */
function near(found, wanted) {
    assert.equal(found.length, wanted.length);
    for (const [at, one] of found.entries()) assert.ok(Math.abs(one - wanted[at]) < 1e-12);
}

test("without any shaping the probabilities are the softmax", () => {
    near(shaped(LOGITS, 1, 5, 1), [8 / 16, 4 / 16, 2 / 16, 1 / 16, 1 / 16]);
});

test("half the temperature squares the ratios, twice the temperature takes their roots", () => {
    const [first, second] = shaped(LOGITS, 0.5, 5, 1);
    near([first / second], [4]);
    const [warm, warmer] = shaped(LOGITS, 2, 5, 1);
    near([warm / warmer], [Math.SQRT2]);
});

test("top-k keeps the k likeliest", () => {
    near(shaped(LOGITS, 1, 2, 1), [8 / 12, 4 / 12]);
});

test("top-p keeps the fewest that reach p, also when they reach it exactly", () => {
    near(shaped(LOGITS, 1, 5, 0.75), [8 / 12, 4 / 12]);
    near(shaped(LOGITS, 1, 5, 0.76), [8 / 14, 4 / 14, 2 / 14]);
    near(shaped(LOGITS, 1, 5, 0.01), [1]);
});

test("top-p counts what top-k has left", () => {
    near(shaped(LOGITS, 1, 2, 0.6), [1]);
});

test("logits whose exponential overflows are shaped all the same", () => {
    near(shaped([2000, 2000], 1, 2, 1), [0.5, 0.5]);
});

test("a number falls on the token whose share it lies in", () => {
    const shares = [0.5, 0.25, 0.25];
    assert.deepEqual(
        [0, 0.49, 0.5, 0.74, 0.75, 0.99].map((number) => drawnBy(number, shares)),
        [0, 0, 1, 1, 2, 2],
    );
});

test("where rounding leaves a gap at the end, the last token is drawn", () => {
    assert.equal(drawnBy(0.9999999, [0.3, 0.6]), 1);
});

test("a fair draw is as open as it has tokens, and a sure one is not open at all", () => {
    near([openness([0.25, 0.25, 0.25, 0.25])], [4]);
    near([openness([1])], [1]);
    near([openness([0.5, 0.5, 0])], [2]);
});

test("what was drawn is counted for each token", () => {
    assert.deepEqual(counted([2, 0, 2, 2], 4), [1, 0, 3, 0]);
    assert.equal(sum(counted([2, 0, 2, 2], 4)), 4);
});
