// @ts-check
// Test stacks of blocks: the lines, the tasks, and the sentence on what a stack does.

import assert from "node:assert/strict";
import { test } from "node:test";

import { described, judged, pointsOf, short, stackOf } from "../../book/_web/stacks.mjs";

const HEALTHY = { size: [1, 2], gradient: [1, 0.5], unlike: [1, 0.001], right: [0.1, 0.2, 0.12] };
const LEARNS = { ...HEALTHY, right: [0.5, 0.97, 0.1] };
const PRE = { residual: true, norm: "pre", smaller: false };
const NONE = { ...PRE, norm: "none" };

test("a line is logarithmic, and what is outside lies on the edge", () => {
    assert.equal(pointsOf([1e-9, 1, 1e9], -1, 1), "44.0,118.0 194.0,63.0 344.0,8.0");
});

test("without the residual the first weights are the usual ones", () => {
    const stacks = [PRE, { ...PRE, smaller: true }, { ...PRE, residual: false }];
    assert.equal(stackOf(stacks, { ...PRE, smaller: true }), stacks[1]);
    assert.equal(stackOf(stacks, { ...stacks[2], smaller: true }), stacks[2]);
    assert.throws(() => stackOf(stacks, NONE));
});

test("the first task asks for a stack that learns without any norm", () => {
    assert.ok(judged(NONE, LEARNS, true).withoutNorm);
    assert.ok(!judged(NONE, HEALTHY, true).withoutNorm);
    assert.ok(!judged(PRE, LEARNS, true).withoutNorm);
    assert.ok(!judged(NONE, LEARNS, false).withoutNorm);
});

test("the second task asks for a healthy stack that learns nothing", () => {
    assert.ok(judged(PRE, HEALTHY, true).healthyInVain);
    assert.ok(!judged(PRE, HEALTHY, false).healthyInVain);
    assert.ok(!judged(PRE, LEARNS, true).healthyInVain);
    for (const kind of ["size", "gradient"])
        for (const values of [
            [1, 11],
            [11, 1],
        ])
            assert.ok(!judged(PRE, { ...HEALTHY, [kind]: values }, true).healthyInVain);
});

test("a stack is described", () => {
    const text = described(HEALTHY, 24);
    assert.match(text, /^Through 24 blocks the stream goes from 1 to 2, and the gradient/);
    assert.match(text, /from 0\.5 to 1\. /);
    assert.match(
        text,
        /differ by 1\.0\u00a0·\u00a010⁻³\. It learns next to nothing: 0\.20 at the best rate/,
    );
    assert.match(described(LEARNS, 2), /It learns the task: 0\.97/);
    assert.match(described({ ...HEALTHY, right: [0.5] }, 2), /It learns a part of the task: 0\.50/);
});

test("a number of any size has two digits", () => {
    assert.equal(short(0.377), "0.38");
    assert.equal(short(5.72), "5.7");
    assert.equal(short(361234), "3.6\u00a0·\u00a010⁵");
    assert.equal(short(0.00000123), "1.2\u00a0·\u00a010⁻⁶");
    assert.equal(short(0.25), "0.25");
});
