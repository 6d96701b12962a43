// @ts-check
// Test the tokens of chapter 10's GPT, and what is said of its heads. tests/book/test_live_writer.py
// compares the model and the tokens with the course's own.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Tokens } from "../../../book/_web/live/byte_pairs.mjs";
import { distance, headName, most } from "../../../book/_web/live/head_looks.mjs";
import { ranked } from "../../../book/_web/sampling.mjs";

/** @type {[string, string][]} */
const MERGES = [
    ["h", "e"],
    ["t", "he"],
    [" ", "the"],
];

test("merges are made in their order, within a word and the space before it", () => {
    const tokens = new Tokens(MERGES);
    assert.deepEqual(tokens.encode("the the he"), [257, 258, 32, 256]);
    assert.equal(tokens.decode([257, 258, 32, 256]), "the the he");
});

test("any text can be encoded, by its bytes", () => {
    const tokens = new Tokens(MERGES);
    for (const text of ["", "é", "three of 25_6!", "😀 naïve\n"])
        assert.equal(tokens.decode(tokens.encode(text)), text);
    assert.deepEqual(tokens.encode("é"), [0xc3, 0xa9]);
});

test("half a character is shown by the sign for what cannot be read", () => {
    assert.equal(new Tokens(MERGES).decode([0xc3]), "\ufffd");
});

test("heads are numbered block by block", () => {
    assert.equal(headName(0, 4), "Block 1, head 1");
    assert.equal(headName(6, 4), "Block 2, head 3");
});

test("the largest weights come first, and of equal ones the nearer token", () => {
    assert.deepEqual(most([0.1, 0.6, 0.1, 0.2], 3), [
        { at: 1, weight: 0.6 },
        { at: 3, weight: 0.2 },
        { at: 2, weight: 0.1 },
    ]);
    assert.equal(most([1], 2).length, 1);
});

test("a token is told by how far it stands before", () => {
    assert.deepEqual([0, 1, 2].map(distance), ["itself", "1 before", "2 before"]);
});

test("tokens are ranked by their logits, and equal ones by their ids", () => {
    assert.deepEqual(ranked([0, 2, 1, 2]), [1, 3, 2, 0]);
});
