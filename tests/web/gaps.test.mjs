// @ts-check
// Test the sentence with gaps of chapter 10's figure, and the encoder that fills them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { drawn, isSentence, likeliest, mixed } from "../../book/_web/gaps.mjs";
import { fromHalf, halves } from "../../book/_web/half.mjs";
import { Restorer } from "../../book/_web/restorer.mjs";

const GRAMMAR = { nouns: { he: ["king"], she: ["queen"] }, verbs: ["left", "fell"] };

test("a sentence has one of two forms, and its pronoun fits its noun", () => {
    const fits = (/** @type {string} */ text) => isSentence(text.split(" "), GRAMMAR);
    assert.ok(fits("when she left , the queen fell ."));
    assert.ok(fits("the king fell , and he left ."));
    assert.ok(!fits("when he left , the queen fell ."));
    assert.ok(!fits("the king fell , and she left ."));
    assert.ok(!fits("when she left , the queen king ."));
    assert.ok(!fits("[MASK] she left , the queen fell ."));
});

test("the likeliest words come first, and the mask is no word", () => {
    assert.deepEqual(likeliest([0.1, 0.3, 0.1, 0.5], 2), [
        [1, 0.3],
        [0, 0.1],
    ]);
});

test("a word is drawn by its share, and never the mask", () => {
    const shares = [0.1, 0.3, 0.6];
    assert.equal(drawn(shares, 0), 0);
    assert.equal(drawn(shares, 0.24), 0);
    assert.equal(drawn(shares, 0.26), 1);
    assert.equal(drawn(shares, 0.999), 1);
});

test("an order is mixed unless it goes from left to right", () => {
    assert.ok(!mixed([]));
    assert.ok(!mixed([0, 1, 2]));
    assert.ok(mixed([0, 2, 1]));
});

test("half precision is read as it is written", () => {
    assert.equal(fromHalf(0x3c00), 1);
    assert.equal(fromHalf(0xc000), -2);
    assert.equal(fromHalf(0x0001), 2 ** -24);
    assert.deepEqual([...halves(btoa("\x00\x3c\x00\xc0"))], [1, -2]);
});

/** A machine without blocks, whose read-out is its normed embedding. */
function small() {
    /** @type {[string, number[]][]} */
    const tensors = [
        ["embedding.weight", [2, 2]],
        ["positions.weight", [2, 2]],
        ["norm.weight", [2]],
        ["norm.bias", [2]],
        ["read_out.weight", [2, 2]],
        ["read_out.bias", [2]],
    ];
    const bits = [
        ...[0x3c00, 0, 0, 0x3c00], // embedding: 1 0, 0 1
        ...[0, 0, 0, 0],
        ...[0x3c00, 0x3c00],
        ...[0, 0],
        ...[0x3c00, 0, 0, 0x3c00],
        ...[0, 0],
    ];
    const bytes = bits.flatMap((one) => [one & 0xff, one >> 8]);
    const weights = btoa(String.fromCharCode(...bytes));
    return new Restorer({ title: "", causal: false, weights }, tensors, 1);
}

test("a machine without blocks norms, reads out, and normalises", () => {
    const [first, second] = small().read([0, 1]);
    const expected = 1 / (1 + Math.exp(-2));
    assert.ok(Math.abs(first[0] - expected) < 1e-4);
    assert.ok(Math.abs(second[1] - expected) < 1e-4);
});
