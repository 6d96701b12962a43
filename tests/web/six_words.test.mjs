// @ts-check
// Test the six words of the front page: their weights and the sentence below them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { said, weightsOf } from "../../book/_web/six_words.mjs";

const CAT = [0, 2, 1, 0, 0, 1];

test("the weights are the softmax of the scores", () => {
    const total = 3 + Math.exp(2) + 2 * Math.E;
    const weights = weightsOf(CAT, 1);
    assert.ok(Math.abs(weights[1] - Math.exp(2) / total) < 1e-12);
    assert.ok(Math.abs(weights[0] - 1 / total) < 1e-12);
});

test("without sharpness all weights are equal, and with much of it a single word has all", () => {
    for (const weight of weightsOf(CAT, 0)) assert.ok(Math.abs(weight - 1 / 6) < 1e-12);
    assert.ok(weightsOf(CAT, 100)[1] > 1 - 1e-12);
});

test("large scores do not overflow", () => {
    assert.deepEqual(weightsOf([1000, 1000], 4), [0.5, 0.5]);
});

test("words with equal weights are not listed", () => {
    assert.equal(said(["the", "cat"], 0, [0.5, 0.5]), "“the” looks at all 2 alike: 0.50 each.");
});

test("the sentence names the word with the largest weight, and `itself` only if it is alone", () => {
    const words = ["the", "cat", "sat"];
    assert.equal(said(words, 1, [0.2, 0.5, 0.3]), "“cat” looks most at itself: 0.50 of 1.");
    assert.equal(
        said(words, 1, [0.4, 0.2, 0.4]),
        "“cat” looks most at “the” and “sat”: 0.40 each of 1.",
    );
});
