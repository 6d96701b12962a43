// @ts-check
// The parts of a clause, read from left to right: its subject and its verb.

import { formOf, kindOf } from "./language.mjs";
import { nounPhrase } from "./noun_phrases.mjs";

/**
 * @typedef {import("./language.mjs").Noun} Noun
 * @typedef {import("./language.mjs").NounPhrase} NounPhrase
 * @typedef {import("./language.mjs").Pronoun} Pronoun
 * @typedef {import("./language.mjs").Verb} Verb
 * @typedef {import("./noun_phrases.mjs").Reader} Reader
 * @typedef {import("./words.mjs").Draft} Draft
 * @typedef {import("./words.mjs").Group} Group
 * @typedef {import("./words.mjs").Part} Part
 */

/** The fewest words of a verb's complement, by its frame. @type {Record<string, number>} */
const ASKED = {
    ...{ intransitive: 0, transitive: 2, ditransitive: 4, motion: 3, locative: 3 },
    ...{ copula: 1, matrix: 0, opinion: 2 },
};

/** Return the fewest words that must follow a verb. @param {Verb} verb */
export const asked = ({ frame, particle }) => ASKED[frame] + (particle ? 1 : 0);

/**
 * Return whether a verb may have the subject of the clause.
 * @param {Draft} draft
 * @param {Verb} verb
 */
const suits = ({ subject }, verb) =>
    !subject || ("noun" in subject ? verb.subjects.has(subject.noun) : verb.personal);

/**
 * Return the fewest words of one of the verbs with its complement, unless a relative pronoun is its
 * complement.
 * @param {Draft} draft
 * @param {Verb[]} verbs
 */
function fewest(draft, verbs) {
    let least = Number.POSITIVE_INFINITY;
    for (const verb of verbs)
        if (suits(draft, verb))
            least = Math.min(least, 1 + (draft.gap === "object" ? 0 : asked(verb)));
    return least;
}

const byItself = (/** @type {Verb} */ { frame }) => frame !== "copula";

/**
 * Return the part of a subject for one of the verbs.
 * @param {Reader} reader
 * @param {Verb[]} verbs
 * @param {{ described?: boolean, forms?: (form: number) => boolean, but?: Noun,
 *     timely?: boolean }} [may] whether it may have adjectives; the
 * verb forms that it may have; a noun that it may not be; whether it must be the weather after a
 * time
 * @returns {Part}
 */
export function subject(reader, verbs, may = {}) {
    const { words, language } = reader;
    const { described = true, forms = () => true, but, timely = false } = may;
    const pronouns = verbs.some((verb) => verb.personal)
        ? language.pronouns.filter(({ form }) => forms(form))
        : [];
    return {
        least: (draft) => (pronouns.length && !(timely && draft.time) ? 1 : 2),
        *read(at, draft, rest) {
            const weather = timely && draft.time;
            const nouns = language.actors(verbs);
            const after = (/** @type {NounPhrase | Pronoun} */ one) =>
                rest({ ...draft, subject: one });
            const options = (weather ? [] : pronouns).map(
                (one) => /** @type {[string, Group, Pronoun]} */ ([one.english, "pronoun", one]),
            );
            for (const [next, one] of words.take(at, options, after))
                yield [next, { ...draft, subject: one }];
            const wanted = {
                ...{ described, singular: forms(1), plural: forms(4) },
                nouns: weather ? language.weather : nouns.filter((noun) => noun !== but),
            };
            for (const [next, one] of nounPhrase(reader, at, wanted, after))
                yield [next, { ...draft, subject: one }];
        },
    };
}

/**
 * Return the part of the verb after a modal or after "does".
 * @param {Reader} reader
 * @param {Verb[]} verbs
 * @param {boolean} [wants] whether it may be "want to" with a verb, if there is no other modal
 * @returns {Part}
 */
export function base({ words, language }, verbs, wants = false) {
    const bases = verbs.filter(byItself);
    /** @type {Part} */
    const plain = {
        least: (draft) => fewest(draft, bases),
        read: (at, draft, rest) =>
            words.take(
                at,
                bases
                    .filter((verb) => suits(draft, verb))
                    .map((verb) => [verb.english[0], "verb", { ...draft, verb }]),
                rest,
            ),
    };
    const [modal] = language.modals.filter(isWant);
    const wanting = [words.word("want", "verb", { modal }), words.word("to", "preposition"), plain];
    return {
        ...plain,
        *read(at, draft, rest) {
            yield* plain.read(at, draft, rest);
            if (wants && !draft.modal) yield* words.parts(at, draft, wanting, rest);
        },
    };
}

/**
 * Return whether a modal is "want", which is conjugated and followed by "to".
 * @param {Verb} modal
 */
export const isWant = (modal) => modal.english[0] === "want";

/**
 * Return the part of a statement's verb, with its modal and the adverb of frequency at its
 * position.
 * @param {Reader} reader
 * @param {Verb[]} verbs
 * @param {{ often?: boolean, modals?: boolean }} may whether it may have an adverb, and a modal
 * @returns {Part}
 */
export function verb(reader, verbs, { often = false, modals = false }) {
    const { words, language } = reader;
    const infinitive = base(reader, verbs);
    const adverb = often ? [frequency(reader)] : [];
    /** @type {Part} */
    const finite = {
        least: (draft) => fewest(draft, verbs),
        *read(at, draft, rest) {
            const form = draft.subject ? formOf(draft.subject) : 0;
            const third = Number(form === 1);
            const fitting = verbs.filter((one) => suits(draft, one));
            /** @type {(one: Verb) => [string, Group, Draft]} */
            const option = (one) => {
                const word = byItself(one) ? one.english[third] : language.be[form];
                return [word, "verb", { ...draft, verb: one }];
            };
            yield* words.take(at, fitting.map(option), rest);
            if (!modals || !fitting.some(byItself)) return;
            for (const modal of language.modals) {
                // "Often wants to", but "can often".
                if (!isWant(modal) && draft.frequency) continue;
                const between = isWant(modal) ? [words.word("to", "preposition")] : adverb;
                const said = words.word(modal.english[third], "verb", { modal });
                yield* words.parts(at, draft, [said, ...between, infinitive], rest);
            }
        },
    };
    return {
        least: finite.least,
        read: (at, draft, rest) => words.parts(at, draft, [...adverb, finite], rest),
    };
}

/**
 * Return the part of an adverb of frequency, if the clause has no time yet.
 * @param {Reader} reader
 * @param {boolean} [never] whether it may be "never"
 */
export function frequency({ words, language }, never = true) {
    const adverbs = language.phrases.frequency.filter((one) => never || one !== language.never);
    return words.phrase("frequency", adverbs, ({ time }) => !time);
}

/** Return the part of a time at the beginning. @param {Reader} reader */
export const timeFirst = ({ words, language }) =>
    words.phrase("time", language.phrases.time, undefined, { timeFirst: true });

/**
 * Return the part of a time at the end, unless the clause has another time.
 * @param {Reader} reader
 */
export const timeLast = ({ words, language }) =>
    words.phrase("time", language.phrases.time, (draft) => {
        const { time, frequency: often, object, question, subject: who } = draft;
        if (time || often || object?.relative || question?.english[0] === "when") return false;
        return draft.verb?.frame !== "copula" || (!!who && kindOf(who) === "weather");
    });
