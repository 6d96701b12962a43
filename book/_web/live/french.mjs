// @ts-check
// French: agreement, adjectives before and after the noun, contraction and elision. The rules are
// those of solutions/data/translation/french.py.

import { asks } from "./english.mjs";
import { formOf } from "./language.mjs";

/**
 * @typedef {import("./language.mjs").Adjective} Adjective
 * @typedef {import("./language.mjs").Clause} Clause
 * @typedef {import("./language.mjs").NounPhrase} NounPhrase
 * @typedef {import("./language.mjs").Phrase} Phrase
 * @typedef {import("./language.mjs").Segment} Segment
 * @typedef {import("./language.mjs").Sentence} Sentence
 * @typedef {{ word: string, sure: string[], possible: string[] }} Word a French word, with the keys
 * of its sure and its possible English words
 */

/**
 * Return whether a word begins with a vowel sound; none of the nouns has an aspirated h.
 * @param {string} word
 */
const vowel = (word) => /^[aeiouâàéèêëîïôûœh]/i.test(word);
/** @type {Record<string, string>} */
const BEFORE_VOWEL = { le: "l'", la: "l'", ce: "cet", ma: "mon", sa: "son" };
/** @type {Record<string, string>} */
const CONTRACTIONS = { "de le": "du", "de les": "des", "à le": "au", "à les": "aux" };
/** @type {Record<string, string>} */
const ELISIONS = { je: "j'", ne: "n'", que: "qu'", de: "d'" };

/** @param {string} word @param {string[]} [sure] @param {string[]} [possible] @returns {Word} */
const said = (word, sure = [], possible = []) => ({ word, sure, possible });

/** Return the French words of a sentence. @param {Sentence} sentence */
export function french(sentence) {
    const words = sentence.flatMap((segment, at) => segmentWords(segment, String(at)));
    words.push(said(asks(sentence) ? "?" : ".", ["end"]));
    for (const [at, one] of words.slice(0, -1).entries()) {
        const after = words[at + 1].word;
        if (Object.hasOwn(ELISIONS, one.word) && vowel(after)) one.word = ELISIONS[one.word];
        else if (one.word === "si" && (after === "il" || after === "ils")) one.word = "s'";
    }
    return words;
}

/** @param {Segment} segment @param {string} at */
function segmentWords({ clause, coordinator, subordinator, fronted }, at) {
    const words = coordinator ? [said(",", [`${at},`])] : [];
    words.push(...linked(coordinator, `${at}+`), ...linked(subordinator, `${at}c`));
    words.push(...clauseWords(clause, at));
    return fronted ? [...words, said(",", [`${at};`])] : words;
}

/** Return the words of a fixed phrase. @param {Phrase | undefined} phrase @param {string} at */
const linked = (phrase, at) =>
    (phrase?.french ?? []).map(([word, sure = [], possible = []]) =>
        said(
            word,
            sure.map((index) => `${at}${index}`),
            possible.map((index) => `${at}${index}`),
        ),
    );

/**
 * Return the form of an adjective that agrees with its noun.
 * @param {Adjective} adjective
 * @param {boolean} feminine
 * @param {boolean} plural
 * @param {boolean} [before] whether a vowel follows
 */
function agreeing({ french: [masculine, female, beforeVowel] }, feminine, plural, before = false) {
    if (feminine) return plural ? `${female}s` : female;
    if (!plural) return before ? beforeVowel : masculine;
    if (/[sx]$/.test(masculine)) return masculine;
    if (masculine.endsWith("eau")) return `${masculine}x`;
    return masculine.endsWith("al") ? `${masculine.slice(0, -1)}ux` : `${masculine}s`;
}

/** @param {NounPhrase} phrase @param {string} at @returns {Word[]} */
function nounPhraseWords({ noun, determiner, adjectives, plural, relative }, at) {
    const { feminine } = noun;
    const words = [said(noun.french[Number(plural)], [`${at}n`])];
    // From the last adjective to the first, because adjectives after the noun are in reverse order.
    for (let index = adjectives.length - 1; index >= 0; index--) {
        const before = adjectives[index].group === "before";
        const form = agreeing(adjectives[index], feminine, plural, before && vowel(words[0].word));
        const word = said(form, [`${at}a${index}`]);
        if (before) words.unshift(word);
        else words.push(word);
    }
    const article = determiner.french[plural ? 2 : Number(feminine)];
    const elided = vowel(words[0].word) ? BEFORE_VOWEL[article] : undefined;
    words.unshift(said(elided ?? article, [`${at}d`]));
    if (!relative) return words;
    const who = said(relative.gap === "subject" ? "qui" : "que", [`${at}w`]);
    return [...words, who, ...clauseWords(relative, `${at}-`)];
}

/**
 * Join a preposition with a noun phrase; "de" and "le" become "du".
 * @param {string} preposition
 * @param {string[]} keys
 * @param {Word[]} phrase
 */
function withPreposition(preposition, keys, phrase) {
    const [article, ...rest] = phrase;
    const contracted = CONTRACTIONS[`${preposition} ${article.word}`];
    if (!contracted) return [said(preposition, keys), ...phrase];
    return [said(contracted, [...keys, ...article.sure]), ...rest];
}

/** @param {Clause} clause @param {string} at */
function subjectWords({ subject, gap }, at) {
    if (gap === "subject") return [];
    return "noun" in subject
        ? nounPhraseWords(subject, `${at}s`)
        : [said(subject.french, [`${at}sn`])];
}

/** @param {Clause} clause @param {string} at @returns {Word[]} */
function clauseWords(clause, at) {
    const { subject, recipient, adjective, timeFirst, question } = clause;
    const time = linked(clause.time, `${at}t`);
    const words = timeFirst ? time : [];
    const [finite, infinitive] = verbWords(clause, at);
    words.push(...linked(question, `${at}?`));
    if (question) words.push(...questionWords(clause, finite, at));
    else words.push(...subjectWords(clause, at), ...finite);
    words.push(...linked(clause.frequency, `${at}q`), ...infinitive, ...objectWords(clause, at));
    if (recipient) words.push(...withPreposition("à", [], nounPhraseWords(recipient, `${at}r`)));
    words.push(...linked(clause.degree, `${at}g`));
    if (adjective) {
        const { feminine } = "noun" in subject ? subject.noun : subject;
        words.push(said(agreeing(adjective, feminine, subject.plural), [`${at}a`]));
    }
    words.push(...placeWords(clause, at));
    return timeFirst ? words : [...words, ...time];
}

/**
 * Return the finite verb, after "ne" if the clause says "never", and the infinitive.
 * @param {Clause} clause
 * @param {string} at
 * @returns {[finite: Word[], infinitive: Word[]]}
 */
function verbWords({ verb, modal, subject, frequency }, at) {
    const form = formOf(subject);
    const extra = verb.particle && !verb.preposition ? [`${at}p`] : [];
    const finite = frequency?.english[0] === "never" ? [said("ne", [], [`${at}q0`])] : [];
    if (!modal) return [[...finite, said(verb.french[form], [`${at}v`], extra)], []];
    const helpers = modal.english[0] === "want" ? [`${at}to`] : [];
    finite.push(said(modal.french[form], [`${at}m`], helpers));
    return [finite, [said(verb.infinitive, [`${at}v`], extra)]];
}

/**
 * Put the verb before "vous"; ask with "est-ce que" for any other subject.
 * @param {Clause} clause
 * @param {Word[]} finite
 * @param {string} at
 */
function questionWords(clause, finite, at) {
    const { subject, verb, modal } = clause;
    if ("form" in subject && subject.french === "vous")
        return [...finite, said("-vous", [`${at}sn`])];
    const does = verb.frame !== "copula" && (!modal || modal.english[0] === "want");
    const helper = does ? [`${at}do`] : [];
    return [
        said("est-ce", [], helper),
        said("que", [], helper),
        ...subjectWords(clause, at),
        ...finite,
    ];
}

/** @param {Clause} clause @param {string} at @returns {Word[]} */
function objectWords({ object, gap, verb }, at) {
    if (!object || gap === "object") return [];
    const phrase = nounPhraseWords(object, `${at}o`);
    if (!verb.preposition) return phrase;
    return withPreposition(verb.preposition, verb.particle ? [`${at}p`] : [], phrase);
}

/** @param {Clause} clause @param {string} at @returns {Word[]} */
function placeWords({ place, preposition = "at" }, at) {
    if (!place) return [];
    if (!("noun" in place)) return linked(place, `${at}l`);
    const [, where, to] = place.noun.place;
    const word = { at: where, to, from: "de" }[preposition] ?? "";
    return withPreposition(word, [`${at}lp`], nounPhraseWords(place, `${at}l`));
}
