// Test the page's sampler. tests/book/test_live_writer.py compares `shaped` with the course's.

import assert from "node:assert/strict";
import { test } from "node:test";
import { counted, drawnBy, moved, openness, shaped, sum } from "../../book/_web/sampling.mjs";

const LOGITS = [Math.log(8), Math.log(4), Math.log(2), Math.log(1), Math.log(1)];

/**
 * @param {number[]} actual
 * @param {number[]} expected
 */
function near(actual, expected) {
    assert.equal(actual.length, expected.length);
    for (const [at, value] of actual.entries()) assert.ok(Math.abs(value - expected[at]) < 1e-12);
}

test("without shaping the probabilities are the softmax", () => {
    near(shaped(LOGITS, 1, 5, 1), [8 / 16, 4 / 16, 2 / 16, 1 / 16, 1 / 16]);
});

test("half the temperature squares the ratios, and twice the temperature takes their square roots", () => {
    const [first, second] = shaped(LOGITS, 0.5, 5, 1);
    near([first / second], [4]);
    const [warm, warmer] = shaped(LOGITS, 2, 5, 1);
    near([warm / warmer], [Math.SQRT2]);
});

test("top-k keeps the k likeliest tokens", () => {
    near(shaped(LOGITS, 1, 2, 1), [8 / 12, 4 / 12]);
});

test("top-p keeps the fewest tokens that reach p, also if they reach it exactly", () => {
    near(shaped(LOGITS, 1, 5, 0.75), [8 / 12, 4 / 12]);
    near(shaped(LOGITS, 1, 5, 0.76), [8 / 14, 4 / 14, 2 / 14]);
    near(shaped(LOGITS, 1, 5, 0.01), [1]);
});

test("top-p is applied to the tokens that top-k keeps", () => {
    near(shaped(LOGITS, 1, 2, 0.6), [1]);
});

test("logits whose exponential overflows are handled", () => {
    near(shaped([2000, 2000], 1, 2, 1), [0.5, 0.5]);
});

test("a random number selects the token whose share contains it", () => {
    const shares = [0.5, 0.25, 0.25];
    assert.deepEqual(
        [0, 0.49, 0.5, 0.74, 0.75, 0.99].map((number) => drawnBy(number, shares)),
        [0, 0, 1, 1, 2, 2],
    );
});

test("if rounding leaves a gap at the end, the last token is drawn", () => {
    assert.equal(drawnBy(0.9999999, [0.3, 0.6]), 1);
});

test("a uniform distribution has a perplexity of its number of tokens, and a certain one has 1", () => {
    near([openness([0.25, 0.25, 0.25, 0.25])], [4]);
    near([openness([1])], [1]);
    near([openness([0.5, 0.5, 0])], [2]);
});

test("the draws of each token are counted", () => {
    assert.deepEqual(counted([2, 0, 2, 2], 4), [1, 0, 3, 0]);
    assert.equal(sum(counted([2, 0, 2, 2], 4)), 4);
});

test("what moves is the sum of what the winners win", () => {
    assert.ok(Math.abs(moved([0, 0], [Math.log(3), 0]) - 0.25) < 1e-12);
    assert.equal(moved(LOGITS, LOGITS), 0);
});
