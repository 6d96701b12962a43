// @ts-check
// A reader of words from left to right that follows all choices. A caller takes one of several
// options, and gets every reading that fits. At the end of the words, each option that could have
// been taken is offered as a next word. So an option may only be tried if the sentence can be
// finished with it: a choice is made before its first word.

import { LONGEST } from "./language.mjs";

/**
 * @typedef {import("./language.mjs").Clause} Clause
 * @typedef {import("./language.mjs").Group} Group
 * @typedef {import("./language.mjs").Phrase} Phrase
 * @typedef {Partial<Clause>} Draft the known parts of a clause
 * @typedef {Iterable<[at: number, draft: Draft]>} Ways the end of each reading, and its clause
 * @typedef {(draft: Draft) => number} Least the fewest words that must follow, with the mark
 * @typedef {{ least: Least, read: (at: number, draft: Draft, rest: Least) => Ways }} Part a part of
 * a clause. least: its fewest words, given the known parts of the clause
 */

/**
 * @template T
 * @typedef {[word: string, group: Group, value: T]} Option
 */

/** An upper bound on the fewest words that can finish a sentence. */
const FINISH = 16;

/** @type {Record<string, Group>} */
const INSIDE = {
    ...{ in: "preposition", on: "preposition", at: "preposition" },
    ...{ the: "determiner", every: "determiner" },
};

export class Words {
    /** The words that may come next. @type {Map<string, Group>} */
    offered = new Map();

    /** @param {readonly string[]} words */
    constructor(words) {
        this.words = words;
    }

    /** Return whether a sentence with `length` words can be finished. */
    #fits(/** @type {number} */ length, /** @type {() => number} */ rest) {
        return length + FINISH <= LONGEST || length + rest() <= LONGEST;
    }

    /**
     * Take one of the options.
     * @template T
     * @param {number} at
     * @param {Iterable<Option<T>>} options
     * @param {(value: T) => number} rest the fewest words after it
     * @returns {Generator<[number, T]>}
     */
    *take(at, options, rest) {
        const next = this.words[at];
        for (const [word, group, value] of options) {
            if (next === undefined ? this.offered.has(word) : word !== next) continue;
            if (!this.#fits(at + 1, () => rest(value))) continue;
            if (next === undefined) this.offered.set(word, group);
            else yield [at + 1, value];
        }
    }

    /**
     * Take one of some fixed phrases.
     * @param {number} at
     * @param {readonly Phrase[]} phrases
     * @param {Group} group
     * @param {(phrase: Phrase) => number} rest
     * @returns {Generator<[number, Phrase]>}
     */
    *takePhrase(at, phrases, group, rest) {
        for (const phrase of phrases) {
            const { length } = phrase.english;
            const same = phrase.english.findIndex((word, index) => word !== this.words[at + index]);
            if (same < 0) {
                if (this.#fits(at + length, () => rest(phrase))) yield [at + length, phrase];
            } else if (at + same === this.words.length) {
                if (!this.#fits(at + length, () => rest(phrase))) continue;
                const word = phrase.english[same];
                const inside = INSIDE[word] ?? (group === "adverb" && same ? "noun" : group);
                if (!this.offered.has(word)) this.offered.set(word, inside);
            }
        }
    }

    /**
     * Read parts one after another.
     * @param {number} at
     * @param {Draft} draft
     * @param {readonly Part[]} parts
     * @param {Least} rest
     * @returns {Generator<[number, Draft]>}
     */
    *parts(at, draft, parts, rest) {
        const [first, ...others] = parts;
        if (!first) {
            yield [at, draft];
            return;
        }
        /** @type {Least} */
        const after = (grown) => others.reduce((sum, part) => sum + part.least(grown), rest(grown));
        for (const [next, grown] of first.read(at, draft, after))
            yield* this.parts(next, grown, others, rest);
    }

    /**
     * Return a part that is one word.
     * @param {string} word
     * @param {Group} group
     * @param {Draft} [says]
     * @returns {Part}
     */
    word(word, group, says = {}) {
        return {
            least: () => 1,
            read: (at, draft, rest) => this.take(at, [[word, group, { ...draft, ...says }]], rest),
        };
    }

    /**
     * Return a part that is an optional fixed phrase.
     * @param {"time" | "frequency" | "degree" | "place"} field
     * @param {readonly Phrase[]} phrases
     * @param {(draft: Draft) => boolean} [may] whether the phrase is possible
     * @param {Draft} [says]
     * @returns {Part}
     */
    phrase(field, phrases, may = () => true, says = {}) {
        const { takePhrase } = this;
        const take = takePhrase.bind(this);
        return {
            least: () => 0,
            *read(at, draft, rest) {
                yield [at, draft];
                if (!may(draft)) return;
                const grown = (/** @type {Phrase} */ phrase) => ({
                    ...{ ...draft, ...says, [field]: phrase },
                });
                for (const [next, phrase] of take(at, phrases, "adverb", (one) => rest(grown(one))))
                    yield [next, grown(phrase)];
            },
        };
    }
}
