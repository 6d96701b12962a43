// Test that runs are reproducible, that both products agree, and that reports of a machine are true.

import assert from "node:assert/strict";
import { test } from "node:test";
import { heldOut } from "../../../book/_web/learning/held_out.mjs";
import { Random } from "../../../book/_web/learning/random.mjs";
import { completed, problems, RANGES } from "../../../book/_web/learning/settings.mjs";
import { accuracy, BYTES, machine, trained } from "./engine.mjs";

const SMALL = { steps: 20, batch: 8, width: 16 };
const COPYING = { ...SMALL, task: "copying", layers: 2, heads: 2, positions: "rotary" };

/** @param {import("../../../book/_web/learning/run.mjs").Run} run */
const numbers = ({ parameters }) => [...parameters.all.values()].flatMap(({ data }) => [...data]);

test("the same seed gives exactly the same run, and another seed a different run", () => {
    const [first, again, other] = [0, 0, 1].map((seed) =>
        numbers(trained(machine({ ...COPYING, seed }))),
    );
    assert.deepEqual(first, again);
    assert.notDeepEqual(first, other);
});

test("inspecting a machine does not change its run", () => {
    const [run, watched] = [machine(COPYING), machine(COPYING)];
    const [sequence] = heldOut(watched.settings, 24);
    while (watched.state === "learning") {
        watched.step();
        accuracy(watched);
        accuracy(watched, 12);
        watched.look(sequence);
    }
    assert.deepEqual(numbers(trained(run)), numbers(watched));
});

for (const body of ["mean", "gru", "convolution", "bare", "shared", "attention"])
    test(`${body} learns the same by WebAssembly and by JavaScript`, () => {
        const settings = { ...SMALL, body, layers: 2, residual: true, norm: true };
        const [fast, plain] = [BYTES, null].map((bytes) => trained(machine(settings, bytes)));
        assert.ok(Math.abs(fast.loss - plain.loss) < 1e-4, `${fast.loss} and ${plain.loss}`);
    });

test("two machines with the same seed see the same sequences", () => {
    const [first, second] = [{ body: "gru" }, { body: "mean", width: 8 }].map((one) =>
        machine({ ...SMALL, ...one }),
    );
    for (const run of [first, second]) for (let step = 0; step < 3; step++) run.step();
    assert.deepEqual(first.graph.symbols, second.graph.symbols);
    assert.deepEqual(first.graph.right, second.graph.right);
});

test("no held-out sequence occurs in the first hundred steps", () => {
    const run = machine({ batch: 32, length: 16 });
    const all = new Set(heldOut(run.settings, 16).map(String));
    assert.equal(all.size, 256);
    for (let step = 0; step < 100 * 32; step++)
        assert.ok(!all.has(String(run.task.draw(run.random, 16))));
});

test("a learning rate at which the loss is not a number is reported, and the run remains usable", () => {
    const run = trained(machine({ rate: 1, layers: 3, feedForward: true, residual: true }));
    assert.equal(run.state, "diverged");
    assert.match(run.sentence, /In step \d+ the loss .* at the rate 1 .* Take a smaller rate\./);
    const { steps } = run;
    run.step();
    assert.equal(run.steps, steps);
    assert.equal(run.look(heldOut(run.settings, 32)[0]).maps.length, 3);
});

test("the weights of every head sum to 1, and are 0 where the causal mask hides", () => {
    const run = trained(machine(COPYING));
    const { maps, answers } = run.look(heldOut(run.settings, 24)[0]);
    assert.equal(maps.length, 2);
    for (const { heads, queries, keys, weights } of maps) {
        assert.deepEqual([heads, queries, keys], [2, 24, 24]);
        for (let row = 0; row < heads * queries; row++) {
            const own = weights.subarray(row * keys, (row + 1) * keys);
            assert.ok(Math.abs(own.reduce((sum, one) => sum + one, 0) - 1) < 1e-5);
            assert.ok(own.subarray((row % queries) + 1).every((one) => one === 0));
        }
    }
    assert.deepEqual(
        answers.map(({ place }) => place),
        [...Array(24).keys()],
    );
});

test("a machine that is read at its last place has the map of all places, and answers at the last", () => {
    const run = machine({ ...SMALL, task: "both", heads: 2, causal: false });
    const [sequence] = heldOut(run.settings, 9);
    const { maps, answers } = run.look(sequence);
    assert.deepEqual([maps[0].queries, maps[0].keys], [9, 9]);
    assert.deepEqual(
        answers.map(({ place }) => place),
        [8, 8],
    );
    assert.deepEqual(
        answers.map(({ right }) => right),
        run.task.solve(sequence).map((one) => one?.answer),
    );
    for (const { probabilities } of answers) {
        assert.equal(probabilities.length, 16);
        assert.ok(Math.abs(probabilities.reduce((sum, one) => sum + one, 0) - 1) < 1e-5);
    }
});

test("inspection and measurement use the same machine", () => {
    const run = trained(machine({ ...SMALL, positions: "rotary", heads: 2, steps: 60 }));
    const all = heldOut(run.settings, 32);
    const right = all.map((sequence) => {
        const [{ right, probabilities }] = run.look(sequence).answers;
        return probabilities.indexOf(Math.max(...probabilities)) === right;
    });
    const { whole, groups, vectors } = accuracy(run);
    assert.equal(whole, right.filter(Boolean).length / 256);
    assert.equal(
        groups.reduce((sum, { count }) => sum + count, 0),
        256,
    );
    assert.deepEqual(
        vectors.labels.slice(0, 9),
        all.slice(0, 9).map((one) => run.task.solve(one)[0]?.answer),
    );
    run.look(all[7]);
    const { length } = run.settings;
    const own = run.reader(1, length, true).vectors.data.subarray(-16); // as that look has left them
    for (const [at, one] of own.entries())
        assert.ok(Math.abs(one - vectors.numbers[7 * 16 + at]) < 1e-4);
});

test("the gradient norm is reported for every layer, from the embedding to the read-out", () => {
    const run = machine({ ...COPYING, norm: true });
    run.step();
    assert.deepEqual(
        run.gradients.map(({ layer }) => layer),
        ["embedding", "block 1", "block 2", "read-out"],
    );
    assert.ok(run.gradients.every(({ norm }) => norm > 0));
});

test("random machines with valid settings can learn and be inspected", () => {
    const random = new Random(1, 0);
    for (let machines = 0; machines < 40; ) {
        const drawn = Object.entries(RANGES).map(([name, range]) => {
            if ("options" in range)
                return [name, range.options[random.whole(range.options.length)]];
            return [name, Math.min(range.to, range.from + random.whole(16))];
        });
        const { length, ...settings } = Object.fromEntries(drawn); // the length is the task's
        const full = completed({ ...settings, steps: 2, rate: 0.01 });
        if (problems(full).length) continue;
        machines++;
        const run = trained(machine(full));
        const said = JSON.stringify(full);
        assert.ok(Number.isFinite(run.loss), said);
        const { whole } = accuracy(run);
        assert.ok(whole >= 0 && whole <= 1, said);
        assert.ok(run.look(heldOut(full, full.length)[0].slice(0, 3)), said);
    }
});
