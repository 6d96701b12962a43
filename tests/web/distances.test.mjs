// @ts-check
// Test the score of rotary heads by distance: the ways of stretching, the peaks, and the tasks.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
    asking,
    described,
    explained,
    grouped,
    home,
    judged,
    measured,
    oneDigit,
    scoreAt,
    speeds,
    stretched,
    verdict,
} from "../../book/_web/distances.mjs";
import {
    barsOf,
    ceilingOf,
    labelled,
    limitOf,
    pointsOf,
} from "../../book/_web/distances_drawing.mjs";

const RATES = 8;
const BASE = 10_000;
/** All pairs agree at distance 3, and most of the score is that of the fastest. */
const HEAD = {
    name: "head 1",
    amplitudes: [20, 3, 0.5, 0.3, 0.1, 0.2, 0.1, 0.5],
    phases: speeds(RATES, BASE).map((speed) => -3 * speed),
};
const DATA = { heads: [HEAD], base: BASE, rates: RATES, trained_length: 16 };
const STATE = { head: 0, asked: 3, base: BASE, length: 64, method: "none" };

/** @param {number[]} values @param {number[]} expected */
function close(values, expected, error = 1e-9) {
    assert.equal(values.length, expected.length);
    for (const [at, value] of values.entries())
        assert.ok(Math.abs(value - expected[at]) < error, `${value} is not ${expected[at]}`);
}

/** @param {Partial<typeof STATE>} changes */
function results(changes) {
    const state = { ...STATE, ...changes };
    const result = measured(DATA, state);
    return { state, result, tasks: judged(DATA, state, result) };
}

test("pairs turn at the speeds of the formula", () => {
    close(speeds(4, 10_000), [1, 0.1, 0.01, 0.001]);
    assert.equal(speeds(RATES, 100)[0], 1);
});

test("each method slows the pairs in its own way", () => {
    const usual = speeds(RATES, BASE);
    close(stretched(DATA, STATE), usual);
    const divided = usual.map((speed) => speed / 4);
    close(stretched(DATA, { ...STATE, method: "interpolation" }), divided);
    const larger = stretched(DATA, { ...STATE, method: "larger base" });
    assert.equal(larger[0], 1);
    close([larger[RATES - 1]], [divided[RATES - 1]]);
    const yarn = stretched(DATA, { ...STATE, method: "YaRN" });
    assert.equal(yarn[0], 1);
    close(yarn.slice(1), divided.slice(1));
});

test("YaRN mixes both speeds of a pair with one or two turns in training", () => {
    const data = { ...DATA, rates: 1, trained_length: 3 * Math.PI };
    close(stretched(data, { ...STATE, length: 12 * Math.PI, method: "YaRN" }), [0.5 + 0.5 / 4]);
});

test("nothing is stretched at the trained length", () => {
    for (const method of ["interpolation", "larger base", "YaRN"]) {
        const state = { ...STATE, length: 16, method };
        close(stretched(DATA, state), speeds(RATES, BASE));
        assert.match(explained(DATA, state), /^Nothing to stretch/);
    }
});

test("turning the query moves the peak to the distance asked for", () => {
    assert.equal(home(DATA, 0), 3);
    for (const asked of [1, 3, 16]) {
        const head = asking(DATA, { ...STATE, asked });
        const turning = speeds(RATES, BASE);
        close([scoreAt(head, turning, asked)], [limitOf(results({ asked }).result)]);
        assert.ok(results({ asked }).result.peaks.includes(asked));
    }
});

test("false peaks stand where the fast pairs come back together", () => {
    const { result } = results({});
    assert.deepEqual(result.wrong, [22, 41]);
    assert.equal(result.highest, 3);
    assert.equal(result.compared, 22);
    close(result.turns.slice(0, 2), [3.02, 0.96], 0.005);
    close([result.adds.reduce((sum, part) => sum + part, 0)], [result.scores[22]]);
    close([result.weights.reduce((sum, weight) => sum + weight, 0)], [1]);
    assert.equal(result.weights.length, 65);
    assert.equal(result.weights[0], 0);
    assert.deepEqual(results({ length: 16 }).result.wrong, []);
});

test("a peak at the end of the axis is one if the curve falls behind it", () => {
    assert.deepEqual(results({ length: 22 }).result.wrong, [22]);
    assert.deepEqual(results({ length: 21 }).result.wrong, []);
});

test("the first task asks for a base that moves the first false peak farther away", () => {
    const { state, result, tasks } = results({ base: 50_000 });
    assert.ok(result.wrong[0] > 22);
    assert.ok(tasks.farther);
    assert.match(verdict(state, result, tasks), /has moved to 28, but it is not gone\.$/);
    assert.ok(!results({}).tasks.farther);
    assert.ok(!results({ base: 50_000, length: 48 }).tasks.farther);
    assert.ok(!results({ method: "larger base" }).tasks.farther);
    assert.ok(!results({ base: 5000 }).tasks.farther);
});

test("the second task asks for a single peak, and says whether it is right", () => {
    const { state, result, tasks } = results({ method: "interpolation" });
    assert.deepEqual(result.peaks, [12]);
    close(
        result.turns,
        speeds(RATES, BASE).map(() => 0),
    );
    assert.ok(tasks.single);
    assert.match(verdict(state, result, tasks), /is at 12, and you asked for 3\.$/);
    assert.ok(!results({ method: "interpolation", length: 48 }).tasks.single);
    assert.ok(!results({}).tasks.single);
    assert.equal(verdict(STATE, results({}).result, results({}).tasks), "");
});

test("where the head looks is described", () => {
    const text = (/** @type {Partial<typeof STATE>} */ changes) => {
        const { state, result } = results(changes);
        return described(state, result);
    };
    assert.match(text({}), /^Asked for 3, the head looks most at 3 \(weight 0\.\d\d\)\. It has 2/);
    assert.match(text({}), /false peaks, at 22 and 41\.$/);
    assert.match(text({ length: 24 }), /one false peak, at 22\.$/);
    assert.match(text({ length: 16 }), /no false peak\.$/);
    assert.match(text({ length: 256 }), /false peaks, the first at 22 and the last at \d+\.$/);
});

test("methods are explained with their numbers", () => {
    const say = (/** @type {string} */ method) => explained(DATA, { ...STATE, method });
    assert.match(say("none"), /^Nothing is stretched.* to the power −i\/8, in radians\.$/);
    assert.match(say("interpolation"), /divided by 4\.$/);
    assert.match(say("larger base"), /^The base is 48,800, so that the slowest pair is 4 times/);
    assert.match(say("YaRN"), /up to 8 keep it, those above 16 get 4 times theirs.* by 1\.30 /);
});

test("the picture has a point for each quarter of a position, and a bar for each weight", () => {
    const { result } = results({});
    const points = pointsOf(result).split(" ");
    assert.equal(points.length, 4 * 64 + 1);
    assert.ok(points.at(-1)?.startsWith("344.0,"));
    assert.ok(points[12].startsWith("54.3,22.0"));
    assert.equal(barsOf(result.weights, () => true).split("M").length - 1, 64);
    assert.equal(ceilingOf([0, 0.2]), 0.2);
    assert.equal(ceilingOf([0.21]), 0.5);
});

test("numbers of peaks that are too close are left out", () => {
    assert.deepEqual(labelled([3, 5, 22], 64), [3, 22]);
    assert.deepEqual(labelled([3, 5, 22], 16), [3, 5, 22]);
});

test("numbers are short", () => {
    assert.equal(grouped(19_869.2), "19,900");
    assert.equal(grouped(6.2832), "6.28");
    assert.equal(oneDigit(-0.04), "0.0");
    assert.equal(oneDigit(-12.34), "−12.3");
});
