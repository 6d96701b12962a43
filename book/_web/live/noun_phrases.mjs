// @ts-check
// Noun phrases, read from left to right: the possible determiners, adjectives and nouns.

import { capital, takesAn } from "./english.mjs";
import { goesWith } from "./language.mjs";

/**
 * @typedef {import("./language.mjs").Adjective} Adjective
 * @typedef {import("./language.mjs").Language} Language
 * @typedef {import("./language.mjs").Noun} Noun
 * @typedef {import("./language.mjs").NounPhrase} NounPhrase
 * @typedef {import("./language.mjs").Determiner} Determiner
 * @typedef {{ words: import("./words.mjs").Words, language: Language }} Reader
 *
 * @typedef {{ nouns: readonly Noun[], described?: boolean, article?: boolean,
 *     singular?: boolean, plural?: boolean }} Wanted the possible nouns;
 * whether the phrase may have adjectives or "a", be singular, be plural
 * @typedef {{ determiner: Determiner, plural: boolean, described: boolean, nouns: readonly Noun[],
 *     sound: (word: string) => boolean, adjectives: Adjective[], name?: Noun }} Begun a phrase
 * without its noun. sound: whether a word may follow the determiner. name: the name that has begun.
 * @typedef {import("./words.mjs").Option<Begun | NounPhrase>} Next
 */

/**
 * Return whether a noun can have an additional adjective.
 * @param {Noun} noun
 * @param {Adjective} one
 * @param {Adjective[]} before
 */
function describes({ kind }, one, before) {
    const [first] = before;
    if (before.length > 1 || kind === "weather" || kind === "name" || !one.kinds.includes(kind))
        return false;
    if (kind === "politics")
        return first
            ? first.group === "origin" && one.group === "field"
            : one.group === "origin" || one.group === "field";
    return first ? first.fact && (one.group === "after" || one.group === "origin") : true;
}

/**
 * Yield the words that may follow.
 * @param {Language} language
 * @param {Begun} begun
 * @param {string} [only] the word that follows, if it is known
 * @returns {Generator<Next>}
 */
function* following(language, begun, only) {
    const { determiner, plural, nouns, adjectives, name, sound, described } = begun;
    const fits = (/** @type {string} */ word) =>
        (only === undefined || word === only) && (adjectives.length > 0 || sound(word));
    for (const noun of name ? [name] : nouns) {
        const named = noun.kind === "name";
        const next = named && noun.adjectives[adjectives.length];
        if (named && !name && adjectives.length) continue;
        const word = next ? capital(next.english) : noun.english[Number(plural)];
        if (!fits(word)) continue;
        if (next)
            yield [word, "adjective", { ...begun, name: noun, adjectives: [...adjectives, next] }];
        else yield [word, "noun", { determiner, noun, adjectives, plural }];
    }
    if (!described || name) return;
    for (const one of language.adjectives) {
        if (!fits(one.english)) continue;
        const left = nouns.filter((noun) => describes(noun, one, adjectives));
        if (!left.length) continue;
        const grown = { ...begun, nouns: left, adjectives: [...adjectives, one] };
        yield [one.english, "adjective", grown];
    }
}

/**
 * Yield the possible beginnings of a phrase.
 * @param {Language} language
 * @param {Wanted} wanted
 * @param {string} [only] its first word, if it is known
 * @returns {Generator<Next>}
 */
function* beginnings(language, wanted, only) {
    const { described = true, article = true, singular = true, plural = true } = wanted;
    for (const determiner of language.determiners)
        for (const many of [false, true]) {
            const said = determiner.english[Number(many)];
            if (!said || !(many ? plural : singular) || (said === "a" && !article)) continue;
            for (const word of said === "a" ? ["a", "an"] : [said]) {
                if (only !== undefined && only !== word) continue;
                const nouns = wanted.nouns.filter((noun) => goesWith(noun, determiner, many));
                const sound = (/** @type {string} */ next) =>
                    said !== "a" || takesAn(next) === (word === "an");
                const begun = { determiner, plural: many, described, nouns, sound, adjectives: [] };
                if (!following(language, begun).next().done) yield [word, "determiner", begun];
            }
        }
}

/**
 * Return the fewest words after a word of a phrase; optional adjectives are not counted.
 * @param {Language} language
 * @param {Begun | NounPhrase} phrase
 * @param {(phrase: NounPhrase) => number} rest
 * @returns {number}
 */
function least(language, phrase, rest) {
    if ("noun" in phrase) return rest(phrase);
    const { determiner, plural, adjectives, nouns, name, sound } = phrase;
    let fewest = Number.POSITIVE_INFINITY;
    for (const noun of name ? [name] : nouns) {
        const named = noun.adjectives.length - (name ? adjectives.length : 0);
        if (named || adjectives.length || sound(noun.english[Number(plural)]))
            fewest = Math.min(fewest, named + 1 + rest({ determiner, noun, adjectives, plural }));
    }
    if (fewest < Number.POSITIVE_INFINITY) return fewest;
    for (const [, , next] of following(language, phrase))
        fewest = Math.min(fewest, 1 + least(language, next, rest));
    return fewest;
}

/**
 * Read a noun phrase.
 * @param {Reader} reader
 * @param {number} at
 * @param {Wanted} wanted
 * @param {(phrase: NounPhrase) => number} rest the fewest words after it
 * @returns {Generator<[number, NounPhrase]>}
 */
export function* nounPhrase({ words, language }, at, wanted, rest) {
    // The words that must follow depend only on its noun.
    /** @type {Map<Noun, number>} */
    const known = new Map();
    const after = (/** @type {NounPhrase} */ phrase) => {
        const fewest = known.get(phrase.noun) ?? rest(phrase);
        known.set(phrase.noun, fewest);
        return fewest;
    };
    const left = (/** @type {Begun | NounPhrase} */ one) => least(language, one, after);
    /** @type {[number, Begun | NounPhrase][]} */
    const open = [...words.take(at, beginnings(language, wanted, words.words[at]), left)];
    for (const [end, phrase] of open)
        if ("noun" in phrase) yield [end, phrase];
        else open.push(...words.take(end, following(language, phrase, words.words[end]), left));
}
