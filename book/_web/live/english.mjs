// @ts-check
// English: the source side. Each word has the key that the French words refer to, such as "0sn":
// clause 0, subject, noun. The rules are those of solutions/data/translation/english.py.

import { formOf } from "./language.mjs";

/**
 * @typedef {import("./language.mjs").Clause} Clause
 * @typedef {import("./language.mjs").NounPhrase} NounPhrase
 * @typedef {import("./language.mjs").Phrase} Phrase
 * @typedef {import("./language.mjs").Segment} Segment
 * @typedef {import("./language.mjs").Sentence} Sentence
 * @typedef {[word: string, key: string]} Keyed
 */

/** Words that begin with a vowel letter but without a vowel sound. */
const NOT_AN = ["European", "university"];

/** Return whether a word takes "an". @param {string} word */
export const takesAn = (word) => /^[aeiouAE]/.test(word) && !NOT_AN.includes(word);

/** Return a word with an initial capital. @param {string} word */
export const capital = (word) => word[0].toUpperCase() + word.slice(1);

/** Return whether a sentence ends with a question mark. @param {Sentence} sentence */
export const asks = (sentence) => sentence.some(({ clause }) => clause.question);

/**
 * Return the words of a sentence, each with its key.
 * @param {Sentence} sentence
 * @param {string[]} be the forms of "be"
 * @returns {Keyed[]}
 */
export function english(sentence, be) {
    const words = sentence.flatMap((one, at) => segmentWords(one, String(at), be));
    return [...words, [asks(sentence) ? "?" : ".", "end"]];
}

/** @param {Segment} segment @param {string} at @param {string[]} be @returns {Keyed[]} */
function segmentWords({ clause, coordinator, subordinator, fronted }, at, be) {
    /** @type {Keyed[]} */
    const words = coordinator ? [[",", `${at},`], ...phraseWords(coordinator, `${at}+`)] : [];
    words.push(...phraseWords(subordinator, `${at}c`), ...clauseWords(clause, at, be));
    return fronted ? [...words, [",", `${at};`]] : words;
}

/** @param {Phrase | undefined} phrase @param {string} at @returns {Keyed[]} */
const phraseWords = (phrase, at) =>
    phrase ? phrase.english.map((word, index) => [word, `${at}${index}`]) : [];

/** @param {NounPhrase} phrase @param {string} at @param {string[]} be @returns {Keyed[]} */
function nounPhraseWords({ determiner, noun, adjectives, plural, relative }, at, be) {
    const named = noun.kind === "name";
    /** @type {Keyed[]} */
    const words = adjectives.map((one, index) => [
        named ? capital(one.english) : one.english,
        `${at}a${index}`,
    ]);
    words.push([noun.english[Number(plural)], `${at}n`]);
    const said = determiner.english[Number(plural)];
    words.unshift([said === "a" && takesAn(words[0][0]) ? "an" : said, `${at}d`]);
    if (!relative) return words;
    const who = relative.gap === "subject" ? "who" : "whom";
    words.push([noun.kind === "person" ? who : "that", `${at}w`]);
    return [...words, ...clauseWords(relative, `${at}-`, be)];
}

/** @param {Clause} clause @param {string} at @param {string[]} be @returns {Keyed[]} */
function clauseWords(clause, at, be) {
    const { time, timeFirst, question, verb, recipient, object, degree, adjective, gap } = clause;
    const words = timeFirst ? phraseWords(time, `${at}t`) : [];
    words.push(...phraseWords(question, `${at}?`));
    words.push(...verbWords(clause, at, subjectWords(clause, at, be), be));
    if (verb.particle) words.push([verb.particle, `${at}p`]);
    if (recipient) words.push(...nounPhraseWords(recipient, `${at}r`, be));
    if (object && gap !== "object") words.push(...nounPhraseWords(object, `${at}o`, be));
    words.push(...phraseWords(degree, `${at}g`));
    if (adjective) words.push([adjective.english, `${at}a`]);
    words.push(...placeWords(clause, at, be));
    return timeFirst ? words : [...words, ...phraseWords(time, `${at}t`)];
}

/** @param {Clause} clause @param {string} at @param {string[]} be @returns {Keyed[]} */
function subjectWords({ subject, gap }, at, be) {
    if (gap === "subject") return [];
    return "noun" in subject
        ? nounPhraseWords(subject, `${at}s`, be)
        : [[subject.english, `${at}sn`]];
}

/**
 * Return the subject with the verb, its modal, and the adverb of frequency at its position.
 * @param {Clause} clause
 * @param {string} at
 * @param {Keyed[]} subject
 * @param {string[]} be
 * @returns {Keyed[]}
 */
function verbWords(clause, at, subject, be) {
    const form = formOf(clause.subject);
    const third = Number(form === 1);
    const often = phraseWords(clause.frequency, `${at}q`);
    const [base] = clause.verb.english;
    const wants = clause.modal?.english[0] === "want";
    if (!clause.modal && clause.verb.frame === "copula") {
        /** @type {Keyed} */
        const is = [be[form], `${at}v`];
        return clause.question ? [is, ...subject, ...often] : [...subject, is, ...often];
    }
    if (!clause.question) {
        if (!clause.modal) return [...subject, ...often, [clause.verb.english[third], `${at}v`]];
        /** @type {Keyed} */
        const modal = [clause.modal.english[third], `${at}m`];
        return wants
            ? [...subject, ...often, modal, ["to", `${at}to`], [base, `${at}v`]]
            : [...subject, modal, ...often, [base, `${at}v`]];
    }
    /** @type {Keyed} */
    const first =
        clause.modal && !wants
            ? [clause.modal.english[0], `${at}m`]
            : [third ? "does" : "do", `${at}do`];
    /** @type {Keyed[]} */
    const second = wants
        ? [
              ["want", `${at}m`],
              ["to", `${at}to`],
          ]
        : [];
    return [first, ...subject, ...often, ...second, [base, `${at}v`]];
}

/** @param {Clause} clause @param {string} at @param {string[]} be @returns {Keyed[]} */
function placeWords({ place, preposition = "at" }, at, be) {
    if (!place) return [];
    if (!("noun" in place)) return phraseWords(place, `${at}l`);
    const word = preposition === "at" ? place.noun.place[0] : preposition;
    return [[word, `${at}lp`], ...nounPhraseWords(place, `${at}l`, be)];
}
