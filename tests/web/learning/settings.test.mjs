// Test which settings are valid, which are incompatible, and which have no effect.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
    completed,
    differences,
    idle,
    problems,
    RANGES,
} from "../../../book/_web/learning/settings.mjs";
import { TASKS } from "../../../book/_web/learning/tasks.mjs";
import { FOLDER, machine, trained } from "./engine.mjs";

/** @typedef {Partial<import("../../../book/_web/learning/settings.mjs").Settings>} Some */

test("empty settings are completed to a machine", () => {
    assert.deepEqual(problems({}), []);
    assert.equal(completed({}).length, 32);
    assert.equal(completed({ task: "own" }).length, 9);
});

for (const [field, value, pattern] of /** @type {[string, unknown, RegExp][]} */ ([
    ["task", "sorting", /must be far or later or own/],
    ["task", "constructor", /must be far/],
    ["body", null, /must be mean or gru/],
    ["heads", "2", /“heads” is "2"; it must be a number from 1 to 8/],
    ["heads", 1.5, /a whole number/],
    ["layers", 4, /from 1 to 3/],
    ["scale", 1, /true or false/],
    ["rate", 0, /above 0/],
    ["rate", NaN, /from 0 to 1/],
    ["seed", -1, /from 0 to 999999/],
    ["colour", "red", /There is no setting “colour”/],
]))
    test(`${field} ${value} is refused with a sentence`, () => {
        const [only, ...others] = problems({ [field]: value });
        assert.deepEqual(others, []);
        assert.equal(only.field, field);
        assert.match(only.sentence, pattern);
        assert.match(only.sentence, /\.$/);
    });

for (const [settings, field, pattern] of /** @type {[Some, string, RegExp][]} */ ([
    [{ heads: 5 }, "heads", /32 features cannot be shared out equally to 5 heads/],
    [{ body: "convolution", window: 6, length: 5 }, "window", /window of 6 places is longer/],
    [{ body: "gru", positions: "rotary" }, "positions", /queries and keys/],
    [{ width: 6, heads: 2, positions: "rotary" }, "positions", /each head has 3/],
    [{ width: 5, positions: "sinusoidal" }, "positions", /Take an even width/],
    [{ task: "own", length: 18 }, "length", /5 to 17 places, not 18/],
    [{ length: 128, batch: 128, width: 128, layers: 3, heads: 8 }, "batch", /Take a smaller batch/],
]))
    test(`${JSON.stringify(settings)} are incompatible, and a sentence says what to do`, () => {
        const [only, ...others] = problems(settings);
        assert.deepEqual(others, []);
        assert.equal(only.field, field);
        assert.match(only.sentence, pattern);
    });

test("five heads are compatible with a body without heads", () => {
    assert.deepEqual(problems({ body: "gru", heads: 5 }), []);
});

test("compared machines see the same sequences", () => {
    const fields = differences(completed({}), completed({ length: 16, heads: 2, seed: 1 }));
    assert.deepEqual(
        fields.map(({ field }) => field),
        ["length", "seed"],
    );
});

/** Return another value of a switch, which the other settings allow. @param {string} field @param {unknown} value */
const other = (field, value) =>
    /** @type {Record<string, unknown>} */ ({ heads: 2, window: 3 })[field] ?? !value;

for (const settings of /** @type {Some[]} */ ([
    {},
    { task: "copying", length: 12 },
    { layers: 2 },
    { body: "bare" },
    { body: "mean" },
    { body: "mean", layers: 2 },
    { body: "gru" },
    { body: "gru", layers: 2 },
    { body: "convolution" },
    { body: "convolution", layers: 2 },
]))
    test(`exactly the idle switches of ${JSON.stringify(settings)} change nothing`, () => {
        const full = { ...completed({ ...settings, steps: 3, batch: 4, width: 8 }) };
        const listed = idle(full).map(({ field }) => field);
        const loss = trained(machine(full)).loss;
        for (const field of [
            "causal",
            "scale",
            "heads",
            "window",
            "dilated",
            "residual",
            "norm",
            "feedForward",
        ]) {
            const value = other(field, /** @type {Record<string, unknown>} */ (full)[field]);
            const changed = trained(machine({ ...full, [field]: value })).loss;
            assert.equal(
                changed === loss,
                listed.includes(field),
                `${field}: ${changed} and ${loss}`,
            );
        }
    });

test("every field without effect has a reason, which is a sentence", () => {
    for (const body of /** @type {{ options: string[] }} */ (RANGES.body).options)
        for (const layers of [1, 2]) {
            const all = idle(completed({ body, layers }));
            assert.equal(new Set(all.map(({ field }) => field)).size, all.length);
            for (const { reason } of all) assert.match(reason, /^[A-Z].*\.$/);
        }
});

test("README.md lists every field with its range and its default", () => {
    const text = readFileSync(new URL("README.md", FOLDER), "utf8");
    const rows = [...text.matchAll(/^\| `(\w+)` \| (.*?) \| (.*?) \|/gm)];
    const listed = new Map(rows.map(([, field, values, usual]) => [field, { values, usual }]));
    for (const [field, range] of Object.entries(RANGES)) {
        const { values, usual } = listed.get(field) ?? assert.fail(`${field} is not listed`);
        const ends = "options" in range ? range.options : [range.to];
        for (const end of ends) assert.ok(values.includes(`${end}`), `${field}: ${end}`);
        if (field !== "length") assert.equal(usual.replaceAll(/[`"]/g, ""), `${range.usual}`);
    }
});

test("README.md lists every task and the lengths of its sequences", () => {
    const text = readFileSync(new URL("README.md", FOLDER), "utf8");
    for (const [name, { lengths }] of Object.entries(TASKS)) {
        const [shortest, longest, usual] = lengths;
        const row = new RegExp(
            `^\\| .${name}. \\|.*\\| ${shortest} to ${longest} \\(${usual}\\) \\|`,
            "m",
        );
        assert.match(text, row);
    }
});
