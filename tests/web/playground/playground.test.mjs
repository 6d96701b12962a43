// @ts-check
// Test the texts and the parsing of the playground, as far as they need no page.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { HELD_OUT } from "../../../book/_web/learning/held_out.mjs";
import { RANGES } from "../../../book/_web/learning/settings.mjs";
import { read, written } from "../../../book/_web/playground/address.mjs";
import { frames } from "../../../book/_web/playground/frames.mjs";
import { between, centred, directions } from "../../../book/_web/playground/plane.mjs";
import { machineOf, verdict } from "../../../book/_web/playground/puzzles.mjs";
import { answered, percent } from "../../../book/_web/playground/seen.mjs";
import { parsed, tokensOf } from "../../../book/_web/playground/sequence.mjs";
import { inWords, names, OWN, offered, SHARED } from "../../../book/_web/playground/words.mjs";
import { machinesOf, PUZZLES, QUESTIONS } from "./headless.mjs";

test("every setting has a row, either shared or for each machine", () => {
    assert.deepEqual([...SHARED, ...OWN].sort(), Object.keys(RANGES).sort());
});

for (const address of [
    "task=both&vs.heads=2",
    "task=far&seed=7&body=gru&vs.body=gru",
    "task=copying&length=48&rate=0.003&residual=true",
    ...Object.values(QUESTIONS).map(({ settings }) => settings),
])
    test(`${address} survives a round trip`, () => {
        const machines = machinesOf(address);
        assert.deepEqual(machinesOf(written(machines)), machines);
        assert.equal(machines.length, address.includes("vs.") ? 2 : 1);
    });

test("each invalid part of an address is reported in a sentence, and the rest is used", () => {
    const { machines, faults } = read("colour=red&width=wide&heads=2&vs.seed=3&rate=2");
    assert.equal(faults.length, 4);
    assert.ok(faults.some((fault) => fault.startsWith('“width” is "wide"')));
    assert.equal(machines.length, 1);
    assert.deepEqual([machines[0].heads, machines[0].width, machines[0].rate], [2, 32, 0.01]);
});

test("incompatible settings are not changed", () => {
    assert.equal(read("heads=3").machines[0].heads, 3);
});

test("machines are named by their differences", () => {
    assert.deepEqual(names(machinesOf("vs.heads=2")), ["1 head", "2 heads"]);
    assert.deepEqual(names(machinesOf("body=mean&vs.body=gru")), ["mean", "GRU"]);
    assert.deepEqual(names(machinesOf("vs.positions=rotary&vs.layers=2")), [
        "1 block, no positions",
        "2 blocks, rotary positions",
    ]);
    assert.equal(new Set(names(machinesOf("vs.body=attention"))).size, 2);
});

test("an unusual value is offered if the machine has it", () => {
    const [machine] = machinesOf("width=20&length=33");
    assert.ok(offered("width", machine).includes(20));
    assert.ok(offered("length", machine).includes(33));
    assert.ok(!offered("length", machinesOf("task=own")[0]).includes(32), "longer than the task");
});

const SYMBOLS = ["A", "B", "1", "2", "?", "1 back"];

test("a sequence survives a round trip", () => {
    const sequence = [
        [0, 2],
        [1, 3],
        [5, 4],
    ];
    const text = tokensOf(sequence, SYMBOLS).join("  ");
    assert.equal(text, "A:1  B:2  1-back:?");
    assert.deepEqual(parsed(` ${text} `, SYMBOLS, 2), sequence);
});

for (const [text, said] of [
    ["A:1 C:2", /^Place 2, “C:2”: “C” is none of this task's symbols/],
    ["A B", /^Place 1, “A”: a place has two/],
    ["", /^Place 1, “”/],
])
    test(`“${text}” is refused, and the message names the place`, () => {
        assert.throws(() => parsed(String(text), SYMBOLS, 2), { message: said });
    });

test("the plane is spanned by the two directions of the largest variance", () => {
    const rows = Array.from({ length: 60 }, (_, at) => [
        Math.sin(at),
        5 * Math.sin(2.3 * at + 1),
        0.1 * Math.sin(at / 3),
        2 * Math.sin(1.1 * at + 2),
    ]);
    const vectors = {
        width: 4,
        numbers: Float32Array.from(rows.flat()),
        labels: rows.map(() => 0),
    };
    const [first, second] = directions(centred(vectors), [
        [1, 1, 1, 1],
        [1, -1, 1, -1],
    ]);
    assert.ok(Math.abs(first[1]) > 0.99);
    assert.ok(Math.abs(second[3]) > 0.95);
});

test("the separation is 1 if each answer is a single point, and 0 if all answers are mixed", () => {
    const labels = [0, 0, 1, 1];
    assert.equal(between([[1], [1], [-1], [-1]], labels), 1);
    assert.equal(between([[1], [-1], [1], [-1]], labels), 0);
});

test("updates between two frames are drawn together, and in the background without a frame", () => {
    /** @type {(() => void)[]} */
    const asked = [];
    const page = { hidden: false };
    Object.assign(globalThis, {
        document: page,
        requestAnimationFrame: (/** @type {() => void} */ then) => asked.push(then),
    });
    /** @type {number[][]} */
    const drawn = [];
    const { push, flush, clear } = frames((/** @type {number[]} */ all) => drawn.push(all));
    for (const one of [1, 2, 3]) push(one);
    assert.deepEqual([drawn, asked.length], [[], 1]);
    asked[0]();
    assert.deepEqual(drawn, [[1, 2, 3]]);
    push(4);
    flush();
    asked[1]();
    push(5);
    clear();
    asked[2]();
    page.hidden = true;
    push(6);
    assert.deepEqual(drawn, [[1, 2, 3], [4], [6]]);
    Reflect.deleteProperty(globalThis, "document");
    Reflect.deleteProperty(globalThis, "requestAnimationFrame");
});

test("nearly all is not rounded to 100 %, and nearly nothing is not rounded to 0 %", () => {
    assert.deepEqual([0, 0.004, 0.13, 0.997, 1].map(percent), [
        "0 %",
        "0.4 %",
        "13 %",
        "99.7 %",
        "100 %",
    ]);
});

test("the machine's answer is shown with the right one, and two numbers for two questions", () => {
    const sure = (/** @type {number} */ answer) =>
        Float32Array.from({ length: 16 }, (_, at) => +(at === answer));
    const answers = [
        { place: 8, right: 4, probabilities: sure(4) },
        { place: 8, right: null, probabilities: sure(0) },
    ];
    const text = answered("both", answers);
    assert.equal(text, "Its answer at the end: 5 (100 %) and 1 (100 %). Right: 5 and nothing.");
});

test("the page states the number of held-out sequences and of puzzles", () => {
    const page = readFileSync(new URL("../../../book/playground.md", import.meta.url), "utf8");
    assert.ok(page.includes(`measured on ${HELD_OUT} sequences`));
    assert.ok(page.includes("one of ten machines"));
});

test("a puzzle counts as solved only if a single switch is changed", () => {
    const puzzle = machineOf(PUZZLES[0]);
    const solved = machineOf(PUZZLES[0], true);
    assert.match(verdict(puzzle, solved, 1), /^Solved, by one switch: Positions, rotary/);
    assert.match(verdict(puzzle, puzzle, 0.5), /^So it fails/);
    assert.match(verdict(puzzle, solved, 0.5), /^Not yet/);
    assert.match(verdict(puzzle, { ...solved, heads: 4 }, 1), /changed 2 switches/);
    assert.match(verdict(puzzle, { ...solved, task: "far" }, 1), /^That is another task/);
});

test("the solution of a puzzle names the number that solves it", () => {
    const puzzle = PUZZLES.find(({ answer }) => /=\d+$/.test(answer));
    const sentence = verdict(machineOf(puzzle), machineOf(puzzle, true), 1);
    assert.match(sentence, new RegExp(`, ${puzzle.answer.split("=")[1]}\\.$`));
    for (const { answer } of PUZZLES) {
        const [, value] = answer.split("=");
        assert.notEqual(inWords(value), "");
    }
});

test("the answer of each puzzle is a single switch that the page offers", () => {
    assert.equal(PUZZLES.length, 10);
    for (const puzzle of PUZZLES) {
        const [without, having] = [machineOf(puzzle), machineOf(puzzle, true)];
        const changed = OWN.filter((name) => without[name] !== having[name]);
        assert.equal(changed.length, 1, puzzle.name);
        assert.ok(offered(changed[0], without).includes(having[changed[0]]), puzzle.name);
    }
});
