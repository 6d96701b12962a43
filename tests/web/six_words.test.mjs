import assert from "node:assert/strict";
import { test } from "node:test";
import { said, weightsOf } from "../../book/_web/six_words.mjs";

test("weights sum to 1, and a larger score has the larger weight", () => {
    const weights = weightsOf([0, 2, 1], 1);
    assert.ok(Math.abs(weights.reduce((sum, one) => sum + one, 0) - 1) < 1e-12);
    assert.ok(weights[1] > weights[2] && weights[2] > weights[0]);
});

test("without any sharpness all weights are equal, whatever the scores", () => {
    assert.deepEqual(weightsOf([5, -3, 0, 1], 0), [0.25, 0.25, 0.25, 0.25]);
});

test("the sharper, the more goes to the largest score, and scores may be large", () => {
    assert.ok(weightsOf([1, 2], 3)[1] > weightsOf([1, 2], 2)[1]);
    assert.deepEqual(weightsOf([1000, 0], 4), [1, 0]);
});

test("it is said whom a word looks at most: another one, itself, or several alike", () => {
    const words = ["the", "cat", "sat"];
    assert.equal(said(words, 0, [0.2, 0.7, 0.1]), "“the” looks most at “cat”: 0.70 of 1.");
    assert.equal(said(words, 1, [0.2, 0.7, 0.1]), "“cat” looks most at itself: 0.70 of 1.");
    assert.equal(
        said(words, 2, [0.45, 0.45, 0.1]),
        "“sat” looks most at “the” and “cat”: 0.45 each of 1.",
    );
});
