// @ts-check
// Test the search on a few small sections.

import assert from "node:assert/strict";
import { test } from "node:test";

import { searcher, snippet } from "../../book/_web/searching.mjs";

/** @param {string} title @param {string[]} terms @param {string} text */
const section = (title, terms, text) => ({
    title,
    terms,
    text,
    chapter: "",
    address: "",
    places: {},
});
const ENTRIES = [
    section(
        "The loss",
        [],
        "The softmax gives the weights, and the softmax once more: softmax, softmax.",
    ),
    section("Weights that sum to one", ["softmax"], "This is called softmax."),
    section("Layer normalisation", [], "Subtract the mean of the features."),
    section("A (strange) title", [], "Costs a.b[c] and 100 %."),
].map((one, id) => ({ id, ...one }));
const search = searcher(ENTRIES);

/** @param {string} query */
const titles = (query) => search(query).map((hit) => hit.entry.title);

test("the section that defines a term comes before one that uses it more often", () => {
    assert.deepEqual(titles("softmax"), ["Weights that sum to one", "The loss"]);
    assert.equal(titles("Softmax ")[0], "Weights that sum to one");
});

test("the beginning of a word finds it, and so does a misspelt word", () => {
    assert.equal(titles("layer norm")[0], "Layer normalisation");
    assert.equal(titles("normalisaton")[0], "Layer normalisation");
});

test("a word that occurs nowhere has no results", () => {
    assert.deepEqual(titles("zebra"), []);
});

test("if no section has all words, sections with some of them are found", () => {
    assert.equal(titles("softmax zebra")[0], "Weights that sum to one");
});

test("hyphens and plurals do not matter, and stop words find nothing", () => {
    const keys = searcher([
        { id: 0, ...section("Keys", [], "A key-value cache is kept, and a key-value cache.") },
        { id: 1, ...section("Kept", ["key-value cache"], "") },
    ]);
    assert.equal(keys("key value caches")[0].entry.title, "Kept");
    assert.deepEqual(keys("the"), []);
});

test("a word is found by its American spelling, and marked as it is written", () => {
    const text = "The tokeniser's behaviour: a labelled colour at the centre, √d.";
    const entries = [{ id: 0, ...section("Spelling", [], text) }];
    for (const word of ["tokenizer", "behavior", "labeled", "color", "center", "sqrt"])
        assert.equal(searcher(entries)(word).length, 1, word);
    const [hit] = searcher(entries)("colors");
    const marked = snippet(text, hit.words).filter((one) => one.hit);
    assert.deepEqual(
        marked.map((one) => one.text),
        ["colour"],
    );
});

test("a term links to the paragraph that defines it, other words to the section", () => {
    const entry = { id: 0, ...section("A title", ["keys"], "Keys."), address: "page.html#a" };
    const find = searcher([{ ...entry, places: { keys: "page.html#term-keys" } }]);
    assert.equal(find("the key")[0].address, "page.html#term-keys");
    assert.equal(find("title")[0].address, "page.html#a");
});

test("a snippet marks only whole words", () => {
    const pieces = snippet("Masked: a Mask hides.", ["mask"]);
    assert.deepEqual(
        pieces.filter((one) => one.hit).map((one) => one.text),
        ["Mask"],
    );
    assert.equal(pieces.map((one) => one.text).join(""), "Masked: a Mask hides.");
});

test("a snippet of a long text has most of the words, and no cut word", () => {
    const words = Array.from({ length: 200 }, (_, at) => `word${at}`).join(" ");
    const shown = snippet(`A target. ${words} target here, target ${words}`, ["target"])
        .map((one) => one.text)
        .join("");
    assert.match(shown, /^… word\d+ .* target here, target .* word\d+ …$/);
    assert.ok(shown.length < 250);
});

test("the snippet of a text without the word is its beginning", () => {
    assert.deepEqual(snippet("A short text.", ["far"]), [{ text: "A short text.", hit: false }]);
});
