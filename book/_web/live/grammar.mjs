// @ts-check
// The English of the translation data, for a reader who composes a sentence word by word: which
// words can come next, what a finished sentence says, and its right French.

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
 * the places of the English words that it surely and possibly translates
 */

export class Grammar {
    #vocabulary;

    /** @param {Tables} tables */
    constructor(tables) {
        this.language = new Language(tables);
        this.#vocabulary = vocabulary(this.language);
    }

    /**
     * What a complete sentence says; null if it is none.
     * @param {readonly string[]} words
     * @returns {Sentence | null}
     */
    read(words) {
        const [sentence] = sentences({ words: new Words(words), language: this.language });
        return sentence ?? null;
    }

    /**
     * The words that may come next, each with its group: all of them, and none that leads nowhere.
     * @param {readonly string[]} words
     * @returns {Offered[]}
     */
    next(words) {
        const reader = { words: new Words(words), language: this.language };
        for (const _ of sentences(reader));
        return [...reader.words.offered].map(([word, group]) => ({ word, group }));
    }

    /** The English words of a sentence. @param {Sentence} sentence */
    english(sentence) {
        return english(sentence, this.language.be).map(([word]) => word);
    }

    /** The French words of a sentence. @param {Sentence} sentence @returns {Translated[]} */
    french(sentence) {
        const keyed = english(sentence, this.language.be);
        const places = new Map(keyed.map(([, key], place) => [key, place]));
        const placesOf = (/** @type {string[]} */ keys) => keys.map((key) => places.get(key) ?? -1);
        return french(sentence).map(({ word, sure, possible }) => ({
            ...{ word, sure: placesOf(sure), possible: placesOf(possible) },
        }));
    }

    /**
     * Why a word cannot follow others; nothing if it can.
     * @param {readonly string[]} words
     * @param {string} word
     */
    refusal(words, word) {
        const offered = this.next(words);
        if (offered.some((one) => one.word === word)) return "";
        return refusal(this.#vocabulary, words, word, offered, this.read(words) !== null);
    }

    /**
     * The words of a random sentence, drawn as those of the translation data are.
     * @param {() => number} random from 0 to 1, without 1
     * @param {number} clauses from 1 to 8
     */
    shuffle(random, clauses) {
        return this.english(shuffled(this.language, random, clauses));
    }

    /**
     * The words of the same sentence with one clause more; null if it would be too long.
     * @param {readonly string[]} words
     * @param {() => number} random
     */
    longer(words, random) {
        const sentence = this.read(words);
        const more = sentence && longer(this.language, random, sentence);
        return more && this.english(more);
    }
}
