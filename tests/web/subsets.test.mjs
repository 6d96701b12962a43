// @ts-check
// Test subsets of heads: their means, the task, and the sentence on it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import {
    described,
    headsOf,
    judged,
    meanOf,
    ofSize,
    progress,
    switched,
} from "../../book/_web/subsets.mjs";

const kept = new URL("../../book/executed/multi_head/head_switches.json", import.meta.url);
/** @type {{ accuracy: number[][] }} */
const { accuracy: MEASURED } = JSON.parse(readFileSync(kept, "utf-8"));

/** Three heads, of which 0 and 1 together are enough: a row for each subset, with two accuracies. */
const ACCURACY = [
    [0.01, 0.1],
    [0.3, 0.9],
    [0.2, 0.8],
    [0.95, 0.96],
    [0.1, 0.7],
    [0.5, 0.6],
    [0.4, 0.5],
    [1, 1],
];

/** @param {number[]} heads */
const said = (...heads) => progress(judged(ACCURACY, heads.reduce(switched, 0)));

test("every subset has its heads, and a head switched twice changes nothing", () => {
    assert.deepEqual(headsOf(0), []);
    assert.deepEqual(headsOf(0b1101), [0, 2, 3]);
    assert.equal(switched(0b1101, 2), 0b1001);
    assert.equal(switched(switched(0b1101, 7), 7), 0b1101);
});

test("the mean is over all subsets of a size", () => {
    const rows = ofSize(ACCURACY, 2);
    assert.deepEqual(rows, [ACCURACY[3], ACCURACY[5], ACCURACY[6]]);
    const [first, second] = meanOf(rows);
    assert.ok(Math.abs(first - 1.85 / 3) < 1e-12 && Math.abs(second - 2.06 / 3) < 1e-12);
    const sizes = Array.from({ length: 9 }, (_, count) => ofSize(MEASURED, count).length);
    assert.deepEqual(sizes, [1, 8, 28, 56, 70, 56, 28, 8, 1]);
});

test("only the smallest subset that holds solves the task", () => {
    const solved = ACCURACY.filter((_, subset) => judged(ACCURACY, subset).solved);
    assert.deepEqual(solved, [ACCURACY[0b011]]);
    assert.equal(judged(ACCURACY, 0b111).holds, true);
    assert.deepEqual(judged(ACCURACY, 0).bests, [0.3, 0.95, 1]);
});

test("an accuracy is judged as it is shown", () => {
    const rounded = ACCURACY.with(0b011, [0.9451, 1]);
    assert.equal(judged(rounded, 0b011).solved, true);
    assert.equal(judged(ACCURACY.with(0b011, [0.9449, 1]), 0b011).holds, false);
});

test("the sentence says whether the task holds, and whether fewer or other heads would do", () => {
    const right = "both numbers are right in";
    assert.equal(
        said(0, 1),
        `With heads 0 and 1 ${right} 0.95 of the sequences. Solved with 2 heads. Fewer would not do: the best choice of 1 head has 0.30.`,
    );
    assert.equal(
        said(0, 1, 2),
        `With all 3 heads ${right} 1.00 of the sequences. That is enough, but fewer heads would do it.`,
    );
    assert.equal(
        said(0, 2),
        `With heads 0 and 2 ${right} 0.50 of the sequences, which is below 0.95. Another choice of 2 heads reaches it.`,
    );
    assert.equal(
        said(1),
        `With head 1 alone ${right} 0.20 of the sequences, which is below 0.95. No choice of 1 head reaches it; the best has 0.30.`,
    );
    assert.equal(
        said(),
        `With no head on, the read-out always gives the same answer: ${right} 0.01 of the sequences.`,
    );
});

test("a map is described by where each letter looks most", () => {
    const weights = [
        [0.25, 0.75],
        [0.9, 0.1],
    ];
    assert.equal(
        described(["A", "B"], weights),
        "Each letter and the record it looks at most: A at B (0.75), B at A (0.90).",
    );
});
