// Test the page's cost calculator. tests/solutions/drawing/test_calculator.py compares `predicted`
// with the course's formulas.

import assert from "node:assert/strict";
import { test } from "node:test";
import { asBytes, asFlops, asSeconds, atSeconds, predicted } from "../../book/_web/costs.mjs";

const MODEL = { n: 1024, d: 128, heads: 2, layers: 3 };

test("with twice the tokens, projections double and products of tokens quadruple", () => {
    const once = predicted(MODEL, 128);
    const twice = predicted({ ...MODEL, n: 2048 }, 128);
    assert.equal(twice.flops.projections, 2 * once.flops.projections);
    assert.equal(twice.flops.feedForward, 2 * once.flops.feedForward);
    assert.equal(twice.flops.meet, 4 * once.flops.meet);
    assert.equal(twice.bytes.table, 4 * once.bytes.table);
    assert.equal(twice.bytes.blocks, 2 * once.bytes.blocks);
    assert.equal(twice.bytes.cache, 2 * once.bytes.cache);
});

test("a block that is wider than the text costs as much as the whole table", () => {
    const { bytes } = predicted({ ...MODEL, n: 64 }, 128);
    assert.equal(bytes.blocks, bytes.table);
});

test("heads change the bytes of scores, but no count of operations", () => {
    const more = predicted({ ...MODEL, heads: 8 }, 128);
    assert.deepEqual(more.flops, predicted(MODEL, 128).flops);
    assert.equal(more.bytes.table, 4 * predicted(MODEL, 128).bytes.table);
});

const SAID = [
    [asFlops, 7, "7.0"],
    [asFlops, 1234, "1.2 thousand"],
    [asFlops, 999_000_000, "999 million"],
    [asFlops, 2.5e20, "250000 quadrillion"],
    [asBytes, 512, "512 bytes"],
    [asBytes, 17_000_000, "17 MB"],
    [asSeconds, 0.00042, "0.42 ms"],
    [asSeconds, 2.2, "2.2 s"],
    [asSeconds, 90, "1.5 minutes"],
    [asSeconds, 7200, "2.0 hours"],
    [asSeconds, 400 * 86400, "1.1 years"],
    [atSeconds, 0.0001, "0.1 ms"],
    [atSeconds, 0.01, "10 ms"],
    [atSeconds, 1, "1 s"],
    [atSeconds, 1000, "1000 s"],
    [atSeconds, 1e12, "10¹² s"],
];

for (const [say, value, words] of SAID)
    test(`${say.name} says ${value} as ${words}`, () => {
        assert.equal(say(value), words);
    });
