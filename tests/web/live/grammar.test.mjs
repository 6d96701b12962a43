// Test the sentences that can be composed word by word, on hand-made cases.
// tests/book/test_live_grammar.py compares many sentences with the Python grammar.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../../book/_web/learning/random.mjs";
import { grammar } from "./tables.mjs";

const split = (/** @type {string} */ text) => (text ? text.split(" ") : []);
const next = (/** @type {string} */ text) => grammar.next(split(text)).map(({ word }) => word);
const groups = (/** @type {string} */ text) =>
    new Set(grammar.next(split(text)).map(({ group }) => group));

/** @param {string} text */
function read(text) {
    const sentence = grammar.read(split(text));
    assert.ok(sentence, text);
    return sentence;
}

/** @param {string} text */
const french = (text) =>
    grammar
        .french(read(text))
        .map(({ word }) => word)
        .join(" ");

/** @param {number} seed */
function randomOf(seed) {
    const draws = new Random(seed, 1);
    return () => draws.uniform();
}

test("each word is offered once, with its group", () => {
    const offered = grammar.next([]);
    assert.equal(new Set(offered.map(({ word }) => word)).size, offered.length);
    const of = Object.fromEntries(offered.map(({ word, group }) => [word, group]));
    assert.equal(of.the, "determiner");
    assert.equal(of.she, "pronoun");
    assert.equal(of.does, "verb");
    assert.equal(of.why, "question word");
    assert.equal(of.because, "joining word");
    assert.equal(of.on, "preposition");
    assert.equal(of.today, "adverb");
    assert.deepEqual(groups("the old"), new Set(["noun", "adjective"]));
    assert.deepEqual(groups("he sleeps ,"), new Set(["joining word"]));
});

test("a sentence is complete only after its mark", () => {
    assert.deepEqual(next("he sleeps ."), []);
    for (const text of ["", "he", "he sleeps", "he sleeps . .", "sleeps he .", "he sleeps ?"])
        assert.equal(grammar.read(split(text)), null);
    assert.ok(next("he sleeps").includes("."));
    assert.ok(!next("he sleeps").includes("?"));
    assert.ok(next("does he sleep").includes("?"));
    assert.ok(!next("does he sleep").includes(","));
});

for (const [text, not, but] of [
    ["he goes to", "her", "the"],
    ["he sleeps in", "my", "this"],
    ["he drinks", "ten", "the"],
    ["he drinks", "a", "the"],
    ["he sees an", "black", "old"],
    ["he sees an", "dog", "engineer"],
    ["he sees a", "old", "black"],
    ["he sees a", "men", "man"],
    ["he sees this", "men", "man"],
    ["he sees these", "man", "men"],
    ["am", "two", "I"],
    ["is", "two", "the"],
    ["are the", "soup", "shoes"],
    ["where", "is", "does"],
    ["where does he", "go", "sleep"],
    ["where does he sleep", "here", "today"],
    ["can the", "soup", "dog"],
    ["the big", "soup", "dog"],
    ["the big dog", "is", "sleeps"],
    ["the soup", "sleeps", "is"],
    ["the soup is", "tired", "delicious"],
    ["the man helps the", "man", "woman"],
    ["the man is", "can", "always"],
    ["the man can", "be", "sleep"],
    ["my friend", "who", "sleeps"],
    ["the man", "that", "whom"],
    ["the soup", "who", "that"],
    ["the soup that", "is", "he"],
    ["today he sleeps", "tonight", "."],
    ["he always sleeps", "tonight", "here"],
    ["the soup is good", "today", "."],
    ["the weather", "sleeps", "is"],
    ["how do you like", "a", "this"],
    ["how do you", "sleep", "like"],
    ["does he", "never", "often"],
    ["he reads the good", "old", "book"],
    ["he sees the heavy", "red", "box"],
    ["he sees the old clever", "tired", "bear"],
    ["he works at an", "university", "old"],
    ["he often", "can", "wants"],
    ["he looks at the bird", "that", "."],
    ["he must see the bird", "that", "."],
    ["the man who sleeps sees the bird", "that", "."],
])
    test(`after “${text}” comes “${but}”, not “${not}”`, () => {
        const offered = next(text);
        assert.ok(!offered.includes(not), not);
        assert.ok(offered.includes(but), but);
    });

test("names are written with capitals, word by word", () => {
    assert.deepEqual(next("the European Economic"), ["Area"]);
    const offered = next("he supports the European");
    for (const word of ["Economic", "economic", "Union", "law"]) assert.ok(offered.includes(word));
    assert.ok(next("the").includes("French"));
});

test("the French agrees, contracts and elides", () => {
    for (const [text, right] of [
        [
            "the old engineer gives the woman a white flower .",
            "le vieil ingénieur donne une fleur blanche à la femme .",
        ],
        ["do you never want to go to the market ?", ""],
        ["I must look at two beautiful birds .", "je dois regarder deux beaux oiseaux ."],
        ["if he comes from the park , I wait .", "s' il vient du parc , j' attends ."],
        ["how do you like this soup ?", "comment trouvez -vous cette soupe ?"],
        ["is she tired ?", "est-ce qu' elle est fatiguée ?"],
        ["he never sleeps .", "il ne dort jamais ."],
        ["the cat that I see is black .", "le chat que je vois est noir ."],
    ])
        if (right) assert.equal(french(text), right);
        else assert.equal(grammar.read(split(text)), null);
});

test("each French word is linked to the words that it translates", () => {
    assert.deepEqual(grammar.french(read("he never comes from the park .")), [
        { word: "il", sure: [0], possible: [] },
        { word: "ne", sure: [], possible: [1] },
        { word: "vient", sure: [2], possible: [] },
        { word: "jamais", sure: [1], possible: [] },
        { word: "du", sure: [3, 4], possible: [] },
        { word: "parc", sure: [5], possible: [] },
        { word: ".", sure: [6], possible: [] },
    ]);
});

test("a word that does not fit is reported with the words that do", () => {
    const refusal = (/** @type {string} */ text, /** @type {string} */ word) =>
        grammar.refusal(split(text), word);
    assert.equal(refusal("the old", "man"), "");
    assert.equal(refusal("the old", "zebra"), "“zebra” is not among the words of this language.");
    assert.equal(refusal("the old", "sleeps"), "After “the old” comes an adjective or a noun.");
    assert.equal(
        refusal("he eats a", "bread"),
        "After “eats a” comes an adjective or a noun: “pear” would fit, “bread” does not.",
    );
    assert.equal(
        refusal("he often sleeps", "man"),
        "After “often sleeps” comes an adverb, a preposition, a joining word, “.” or “,”.",
    );
    assert.match(refusal("", "man"), /^A sentence begins with a determiner, a pronoun, a verb, /);
    assert.equal(refusal("he .", "he"), "No sentence of this language begins with “he .”.");
    assert.equal(
        refusal("he sleeps .", "he"),
        "The sentence is complete: nothing comes after its mark.",
    );
});

test("a sentence has at most eight clauses and sixty words", () => {
    const eight = Array(8).fill("he sleeps").join(" , and ");
    assert.ok(grammar.read(split(`${eight} .`)));
    assert.ok(!next(eight).includes(","));
    assert.ok(!next(eight).includes("because"));
    assert.equal(grammar.read(split(`${eight} , and he sleeps .`)), null);
    const clause = "the old teacher gives the young doctor a white flower";
    const long = Array(5).fill(clause).join(" , and ");
    assert.equal(split(long).length, 58);
    assert.deepEqual(next(long).sort(), [".", "now", "today", "tonight"]);
});

for (const clauses of [1, 2, 3, 4, 5, 6, 7, 8])
    test(`a random sentence of ${clauses} clauses can be read and extended`, () => {
        const random = randomOf(clauses);
        for (let times = 0; times < 20; times++) {
            const words = grammar.shuffle(random, clauses);
            assert.ok(grammar.read(words), words.join(" "));
            const more = grammar.longer(words, random);
            if (clauses === 8) assert.equal(more, null);
            else if (more) {
                assert.ok(more.length > words.length && more.length <= 60);
                assert.ok(grammar.read(more), more.join(" "));
            }
        }
    });

test("a seed always draws the same sentence, and an impossible number of clauses is refused", () => {
    assert.deepEqual(grammar.shuffle(randomOf(7), 4), grammar.shuffle(randomOf(7), 4));
    for (const clauses of [0, 9, 1.5]) assert.throws(() => grammar.shuffle(Math.random, clauses));
});

test("a question mark stays at the end of an extended sentence; an incomplete one is not extended", () => {
    const more = grammar.longer(split("does he sleep ?"), randomOf(3));
    assert.match(more?.join(" ") ?? "", / , (and|but) does he sleep \?$/);
    assert.equal(grammar.longer(split("does he"), randomOf(3)), null);
});
