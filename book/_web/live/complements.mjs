// @ts-check
// The words after the verb, read from left to right: its complement, a place, and relative clauses,
// which consist of parts themselves.

import { canBeDescribed, kindOf } from "./language.mjs";
import { nounPhrase } from "./noun_phrases.mjs";
import { asked, subject, verb } from "./parts.mjs";

/**
 * @typedef {import("./language.mjs").Noun} Noun
 * @typedef {import("./language.mjs").NounPhrase} NounPhrase
 * @typedef {import("./noun_phrases.mjs").Reader} Reader
 * @typedef {import("./noun_phrases.mjs").Wanted} Wanted
 * @typedef {import("./words.mjs").Draft} Draft
 * @typedef {import("./words.mjs").Group} Group
 * @typedef {import("./words.mjs").Least} Least
 * @typedef {import("./words.mjs").Part} Part
 */

/** Return the nouns without the subject. @param {Iterable<Noun>} nouns @param {Draft} draft */
const others = (nouns, { subject: who }) =>
    [...nouns].filter((noun) => !(who && "noun" in who && who.noun === noun));

/**
 * Return the part of a noun phrase.
 * @param {Reader} reader
 * @param {"object" | "recipient" | "place"} field
 * @param {Wanted} wanted
 * @returns {Part}
 */
const phrase = (reader, field, wanted) => ({
    least: () => 2,
    *read(at, draft, rest) {
        const after = (/** @type {NounPhrase} */ one) => rest({ ...draft, [field]: one });
        for (const [next, one] of nounPhrase(reader, at, wanted, after))
            yield [next, { ...draft, [field]: one }];
    },
});

/**
 * Return the part of a place with its preposition for "where".
 * @param {Reader} reader
 * @param {Iterable<Noun>} places
 * @returns {Part}
 */
const where = (reader, places) => ({
    least: () => 3,
    *read(at, draft, rest) {
        const all = [...places];
        for (const word of new Set(all.map(({ place }) => place[0])))
            yield* reader.words.parts(
                at,
                draft,
                [
                    reader.words.word(word, "preposition"),
                    phrase(reader, "place", {
                        nouns: all.filter(({ place }) => place[0] === word),
                    }),
                ],
                rest,
            );
    },
});

/**
 * Return the possible complements of the verb, each as a row of parts.
 * @param {Reader} reader
 * @param {Draft} draft
 * @param {boolean} roomy whether an object may have a relative clause
 * @returns {Part[][]}
 */
function rows(reader, draft, roomy) {
    const { words, language } = reader;
    if (!draft.verb) return [];
    const { frame, particle, objects, english } = draft.verb;
    const nouns = others(objects, draft);
    const object = phrase(reader, "object", { nouns });
    if (frame === "transitive") {
        const joined = particle ? [words.word(particle, "preposition")] : [];
        return [[...joined, object, ...(roomy ? [relativeOf(reader, "object")] : [])]];
    }
    if (frame === "ditransitive")
        return [[phrase(reader, "recipient", { nouns: language.persons }), object]];
    if (frame === "opinion") return [[phrase(reader, "object", { nouns, article: false })]];
    if (frame === "locative") return [[where(reader, nouns)]];
    if (frame === "motion")
        return (english[0] === "come" ? ["to", "from"] : ["to"]).map((preposition) => [
            words.word(preposition, "preposition", { preposition }),
            phrase(reader, "place", { nouns }),
        ]);
    if (frame === "copula")
        return [[words.phrase("degree", language.phrases.degree), adjective(reader)]];
    return [[]];
}

/** Return the part after "is". @param {Reader} reader @returns {Part} */
const adjective = ({ words, language }) => ({
    least: () => 1,
    read: (at, draft, rest) =>
        words.take(
            at,
            language
                .predicates(draft.subject ? kindOf(draft.subject) : "")
                .map((one) => [one.english, "adjective", { ...draft, adjective: one }]),
            rest,
        ),
});

/**
 * Return the part of the verb's complement.
 * @param {Reader} reader
 * @param {boolean} [roomy] whether an object may have a relative clause
 * @returns {Part}
 */
export const complement = (reader, roomy = false) => ({
    least: (draft) => (draft.verb ? asked(draft.verb) : 0),
    *read(at, draft, rest) {
        for (const row of rows(reader, draft, roomy))
            yield* reader.words.parts(at, draft, row, rest);
    },
});

/** Return the part of an optional place. @param {Reader} reader @returns {Part} */
export function place(reader) {
    const { words, language } = reader;
    const fixed = words.phrase("place", language.phrases.place);
    return {
        least: () => 0,
        *read(at, draft, rest) {
            const frame = draft.verb?.frame;
            const may =
                frame === "intransitive" || (frame === "transitive" && !draft.object?.relative);
            if (!may) {
                yield [at, draft];
                return;
            }
            yield* fixed.read(at, draft, rest);
            const meeting = frame === "transitive" ? language.meetingPlaces : undefined;
            yield* where(reader, meeting ?? draft.verb?.objects ?? []).read(at, draft, rest);
        },
    };
}

/**
 * Return the part of an optional relative clause on the subject or on the object.
 * @param {Reader} reader
 * @param {"subject" | "object"} field
 * @returns {Part}
 */
export const relativeOf = (reader, field) => ({
    least: () => 0,
    *read(at, draft, rest) {
        yield [at, draft];
        const head = draft[field];
        if (!head || !("noun" in head) || !canBeDescribed(head)) return;
        const { subject: who, modal } = draft;
        const taken = who && "noun" in who && who.relative;
        if (field === "object" && (taken || modal || draft.verb?.separable)) return;
        /** @type {(relative: any) => Draft} */
        const grown = (relative) => ({ ...draft, [field]: { ...head, relative } });
        for (const gap of /** @type {const} */ (["subject", "object"]))
            for (const [next, relative] of relatives(reader, at, head, gap, (one) =>
                rest(grown(one)),
            ))
                yield [next, grown(relative)];
    },
});

/**
 * Read relative clauses about a noun phrase.
 * @param {Reader} reader
 * @param {number} at
 * @param {NounPhrase} head
 * @param {"subject" | "object"} gap the role of the head in the clause
 * @param {Least} rest
 */
function* relatives(reader, at, head, gap, rest) {
    const { kind } = head.noun;
    if (gap === "subject" && kind !== "person" && kind !== "animal") return;
    const verbs = reader.language.verbsAbout(head.noun, gap);
    if (!verbs.length) return;
    const who = gap === "subject" ? "who" : "whom";
    const pronoun = reader.words.word(kind === "person" ? who : "that", "joining word");
    const said = verb(reader, verbs, { modals: true });
    yield* reader.words.parts(
        at,
        { [gap]: head, gap },
        gap === "subject"
            ? [pronoun, said, complement(reader)]
            : [pronoun, subject(reader, verbs, { but: head.noun }), said],
        rest,
    );
}
