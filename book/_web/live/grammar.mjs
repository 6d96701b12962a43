// @ts-check
// The English of the translation data, for a reader who composes a sentence word by word: the
// possible next words, the structure of a finished sentence, and its right French translation.

import { longer, shuffled } from "./composing.mjs";
import { english } from "./english.mjs";
import { french } from "./french.mjs";
import { Language } from "./language.mjs";
import { sentences } from "./reading.mjs";
import { refusal, vocabulary } from "./refusing.mjs";
import { Words } from "./words.mjs";

/**
 * @typedef {import("./language.mjs").Sentence} Sentence
 * @typedef {import("./language.mjs").Tables} Tables
 * @typedef {import("./refusing.mjs").Offered} Offered
 * @typedef {{ word: string, sure: number[], possible: number[] }} Translated a French word, with
 * the positions of its sure and its possible English words
 */

export class Grammar {
    #vocabulary;

    /** @param {Tables} tables */
    constructor(tables) {
        this.language = new Language(tables);
        this.#vocabulary = vocabulary(this.language);
    }

    /**
     * Return the structure of a complete sentence, or null if the words are not a sentence.
     * @param {readonly string[]} words
     * @returns {Sentence | null}
     */
    read(words) {
        const [sentence] = sentences({ words: new Words(words), language: this.language });
        return sentence ?? null;
    }

    /**
     * Return exactly the words from which a sentence can still be completed, each with its group.
     * @param {readonly string[]} words
     * @returns {Offered[]}
     */
    next(words) {
        const reader = { words: new Words(words), language: this.language };
        for (const _ of sentences(reader));
        return [...reader.words.offered].map(([word, group]) => ({ word, group }));
    }

    /** Return the English words of a sentence. @param {Sentence} sentence */
    english(sentence) {
        return english(sentence, this.language.be).map(([word]) => word);
    }

    /** Return the French words of a sentence. @param {Sentence} sentence @returns {Translated[]} */
    french(sentence) {
        const keyed = english(sentence, this.language.be);
        const places = new Map(keyed.map(([, key], place) => [key, place]));
        const placesOf = (/** @type {string[]} */ keys) => keys.map((key) => places.get(key) ?? -1);
        return french(sentence).map(({ word, sure, possible }) => ({
            ...{ word, sure: placesOf(sure), possible: placesOf(possible) },
        }));
    }

    /**
     * Return why a word cannot follow others, or an empty text if it can.
     * @param {readonly string[]} words
     * @param {string} word
     */
    refusal(words, word) {
        const offered = this.next(words);
        if (offered.some((one) => one.word === word)) return "";
        return refusal(this.#vocabulary, words, word, offered, this.read(words) !== null);
    }

    /**
     * Return the words of a random sentence, drawn as in the translation data.
     * @param {() => number} random from 0 to 1, excluding 1
     * @param {number} clauses from 1 to 8
     */
    shuffle(random, clauses) {
        return this.english(shuffled(this.language, random, clauses));
    }

    /**
     * Return the words of the sentence with another clause, or null if it would be too long.
     * @param {readonly string[]} words
     * @param {() => number} random
     */
    longer(words, random) {
        const sentence = this.read(words);
        const more = sentence && longer(this.language, random, sentence);
        return more && this.english(more);
    }
}
