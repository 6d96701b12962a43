// Print what tests/book/test_live_grammar.py compares with the Python grammar: the analysis of each
// source, its French, and the prefixes after which its next word is not offered; random walks over
// offered words, which end with a mark or where no word is offered (some begin with a given start,
// and take a mark only if no other word is offered); and drawn sentences.

import { readFileSync } from "node:fs";
import { Random } from "../../../book/_web/learning/random.mjs";
import { grammar } from "./tables.mjs";

const { sources, starts, walks, seed, drawn } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const draws = new Random(seed, 1);
const random = () => draws.uniform();
const words = (/** @type {string[]} */ all) => all.join(" ");

/**
 * Replace rows of the tables by their numbers or their English.
 * @param {string} key
 * @param {any} value
 */
function named(key, value) {
    if (key === "noun" || key === "verb" || key === "modal") return value.number;
    if (key === "adjectives") return value.map((/** @type {any} */ one) => one.english);
    if (!value?.french) return value;
    return Array.isArray(value.english) ? words(value.english) : value.english;
}

/** @param {string[]} source */
function report(source) {
    const says = grammar.read(source);
    return {
        says: says && JSON.parse(JSON.stringify(says, named)),
        english: says && grammar.english(says),
        french: says && grammar.french(says),
    };
}

/** @type {Map<string, Set<string>>} */
const known = new Map();
/** @param {string[]} before */
function offered(before) {
    const key = words(before);
    const all = known.get(key) ?? new Set(grammar.next(before).map(({ word }) => word));
    known.set(key, all);
    return all;
}

/** @param {string[]} source */
const missing = (source) =>
    source
        .map((_, at) => source.slice(0, at + 1))
        .filter((one) => !offered(one.slice(0, -1)).has(one[one.length - 1]));

/** @param {string[]} start */
function walked(start) {
    const source = [...start];
    for (;;) {
        const next = grammar.next(source).map(({ word }) => word);
        if (!next.length) return source;
        const on = next.filter((word) => word !== "." && word !== "?");
        const from = start.length && on.length ? on : next;
        source.push(from[draws.whole(from.length)]);
    }
}

/** @param {number} clauses */
function composed(clauses) {
    const source = grammar.shuffle(random, clauses);
    return { source, longer: grammar.longer(source, random) };
}

console.log(
    JSON.stringify({
        sources: sources.map((/** @type {string[]} */ one) => ({
            ...report(one),
            missing: missing(one),
        })),
        walks: [...Array(walks).fill([]), ...starts]
            .map(walked)
            .map((source) => ({ source, ...report(source) })),
        drawn: drawn.map(composed).map((/** @type {any} */ { source, longer }) => ({
            source: { source, ...report(source) },
            longer: longer && { source: longer, ...report(longer) },
        })),
    }),
);
