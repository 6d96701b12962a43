// @ts-check
// Test attention on a handful of tokens, which the figures to change compute.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
    attend,
    blend,
    scoresOf,
    selfAttention,
    softmax,
    twoDigits,
    widest,
} from "../../book/_web/small_attention.mjs";

const X = [
    [2, 0],
    [1, 1],
    [-1, 1],
];

/** @param {number[]} values @param {number[]} expected */
const near = (values, expected) => {
    assert.equal(values.length, expected.length);
    for (const [at, value] of values.entries()) assert.ok(Math.abs(value - expected[at]) < 1e-12);
};

test("the scores are the dot products of the rows", () => {
    assert.deepEqual(scoresOf(X, X), [
        [4, 2, -2],
        [2, 2, 0],
        [-2, 0, 2],
    ]);
});

test("the softmax sums to 1, does not overflow, and gives a masked score nothing", () => {
    near(softmax([0, Math.log(3)]), [0.25, 0.75]);
    near(softmax([1e4, 1e4]), [0.5, 0.5]);
    assert.deepEqual(softmax([5, -Infinity]), [1, 0]);
});

test("a blend is the sum of the rows times their weights", () => {
    assert.deepEqual(
        blend(
            [
                [0.5, 0.5, 0],
                [0, 0, 1],
            ],
            X,
        ),
        [
            [1.5, 0.5],
            [-1, 1],
        ],
    );
});

test("with equal weights every output is the mean", () => {
    for (const output of selfAttention(X, true).outputs) near(output, [2 / 3, 2 / 3]);
});

test("after five layers the three arrows of chapter 4 are one", () => {
    let tokens = X;
    for (let times = 0; times < 5; times++) tokens = selfAttention(tokens, false).outputs;
    assert.ok(widest(tokens) < 0.01);
});

test("a query attends to the keys up to the last one that it may see", () => {
    const way = attend([2, 0], X, [[1], [2], [3]], { divisor: 2, last: 1 });
    assert.deepEqual(way.scores, [4, 2, -2]);
    assert.deepEqual(way.divided, [2, 1, -1]);
    near(way.weights, [Math.E / (Math.E + 1), 1 / (Math.E + 1), 0]);
    near(way.output, [1 + 1 / (Math.E + 1)]);
});

test("a number has two digits and a proper minus, but zero has none", () => {
    assert.equal(twoDigits(-1.234), "−1.23");
    assert.equal(twoDigits(-0.001), "0.00");
    assert.equal(twoDigits(0.999), "1.00");
});
