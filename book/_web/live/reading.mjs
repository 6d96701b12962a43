// @ts-check
// English, read from left to right. A clause is a row of parts, a unit is a main clause with its
// subordinate clauses, and a sentence is units joined by "and" or "but".

import { complement, place, relativeOf } from "./complements.mjs";
import { MOST_CLAUSES, YES_OR_NO } from "./language.mjs";
import { base, frequency, isWant, subject, timeFirst, timeLast, verb } from "./parts.mjs";

/**
 * @typedef {import("./language.mjs").Clause} Clause
 * @typedef {import("./language.mjs").Phrase} Phrase
 * @typedef {import("./language.mjs").Segment} Segment
 * @typedef {import("./language.mjs").Sentence} Sentence
 * @typedef {import("./language.mjs").Verb} Verb
 * @typedef {import("./noun_phrases.mjs").Reader} Reader
 * @typedef {import("./words.mjs").Draft} Draft
 * @typedef {import("./words.mjs").Part} Part
 * @typedef {Generator<[at: number, clause: Clause]>} Clauses
 * @typedef {Generator<[at: number, segments: Segment[]]>} Units
 */

/** The fewest words of a clause ("I sleep"), and the number of final marks. */
const [CLAUSE, MARK] = [2, 1];

/**
 * @param {Reader} reader
 * @param {number} at
 * @param {Draft} draft
 * @param {Part[]} parts
 * @param {number} rest the fewest words after it
 */
const clause = (reader, at, draft, parts, rest) =>
    /** @type {Clauses} */ (reader.words.parts(at, draft, parts, () => rest));

/**
 * Read a statement.
 * @param {Reader} reader
 * @param {number} at
 * @param {number} rest
 * @param {{ free?: boolean, roomy?: boolean }} [may] whether it may begin with a time, and have a
 * relative clause
 * @returns {Clauses}
 */
function* statement(reader, at, rest, { free = false, roomy = false } = {}) {
    const { copula, active } = reader.language;
    const first = free ? [timeFirst(reader)] : [];
    const relative = roomy ? [relativeOf(reader, "subject")] : [];
    const last = timeLast(reader);
    // No "the small dog is big".
    const who = subject(reader, copula, { described: false, timely: true });
    const is = [verb(reader, copula, {}), frequency(reader), complement(reader)];
    yield* clause(reader, at, {}, [...first, who, ...relative, ...is, last], rest);
    const actor = subject(reader, active);
    const does = [verb(reader, active, { often: true, modals: true }), complement(reader, roomy)];
    const all = [...first, actor, ...relative, ...does, place(reader), last];
    yield* clause(reader, at, {}, all, rest);
}

/**
 * Read a question.
 * @param {Reader} reader
 * @param {number} at
 * @param {number} rest
 * @returns {Clauses}
 */
function* question(reader, at, rest) {
    const { words, language } = reader;
    const { be, copula, active, placeless, opinion, phrases } = language;
    const mayBe = (/** @type {string} */ word) => [word, undefined].includes(words.words[at]);
    const often = frequency(reader, false);
    const end = [complement(reader), timeLast(reader)];
    for (const question of [YES_OR_NO, ...phrases.question]) {
        const before = question.english.map((word) => words.word(word, "question word"));
        const [asking = ""] = question.english;
        if (asking && !mayBe(asking)) continue;
        const taste = asking === "how";
        if (!taste && asking !== "where")
            for (const is of new Set(be)) {
                if (!asking && !mayBe(is)) continue;
                const forms = (/** @type {number} */ form) => be[form] === is;
                const who = subject(reader, copula, { described: false, forms });
                const all = [...before, words.word(is, "verb"), who, often, ...end];
                yield* clause(reader, at, { question, verb: copula[0] }, all, rest);
            }
        const verbs = taste ? opinion : asking === "where" ? placeless : active;
        for (const [word, modal, forms] of helpers(taste ? [] : language.modals)) {
            if (!asking && !mayBe(word)) continue;
            const does = [words.word(word, "verb"), subject(reader, verbs, { forms })];
            if (!taste) does.push(often);
            const what = [base(reader, verbs, !taste), complement(reader)];
            if (asking !== "where") what.push(place(reader));
            const all = [...before, ...does, ...what, timeLast(reader)];
            yield* clause(reader, at, modal ? { question, modal } : { question }, all, rest);
        }
    }
}

/**
 * Return the verbs before the subject of a question, and the forms of the subject.
 * @param {Verb[]} modals
 * @returns {[string, Verb | undefined, (form: number) => boolean][]}
 */
const helpers = (modals) => [
    ["do", undefined, (form) => form !== 1],
    ["does", undefined, (form) => form === 1],
    .../** @type {[string, Verb, () => boolean][]} */ (
        modals.filter((one) => !isWant(one)).map((one) => [one.english[0], one, () => true])
    ),
];

/**
 * Read clauses that each (except the last) say, know or hope the next.
 * @param {Reader} reader
 * @param {number} at
 * @param {number} left the largest number of clauses
 * @param {Phrase} [subordinator] before the first
 * @returns {Units}
 */
function* reported(reader, at, left, subordinator) {
    const { matrix, that } = reader.language;
    const row = [subject(reader, matrix), verb(reader, matrix, { often: true })];
    for (const [said, main] of clause(reader, at, {}, row, 1 + CLAUSE + MARK)) {
        const first = subordinator ? { clause: main, subordinator } : { clause: main };
        const joined = reader.words.takePhrase(said, [that], "joining word", () => CLAUSE + MARK);
        for (const [next] of joined) {
            for (const [end, one] of statement(reader, next, MARK))
                yield [end, [first, { clause: one, subordinator: that }]];
            if (left === 2) continue;
            for (const [end, more] of reported(reader, next, left - 1, that))
                yield [end, [first, ...more]];
        }
    }
}

/**
 * Read a main clause with its subordinate clauses.
 * @param {Reader} reader
 * @param {number} at
 * @param {number} left the largest number of clauses
 * @returns {Units}
 */
function* unit(reader, at, left) {
    const { words } = reader;
    const { subordinator: conjunctions } = reader.language.phrases;
    for (const [end, one] of question(reader, at, MARK)) yield [end, [{ clause: one }]];
    for (const [end, one] of statement(reader, at, MARK, { free: true, roomy: left > 1 })) {
        yield [end, [{ clause: one }]];
        if (left === 1 || count([{ clause: one }]) > 1) continue;
        const joined = words.takePhrase(end, conjunctions, "joining word", () => CLAUSE + MARK);
        for (const [next, subordinator] of joined)
            for (const [last, two] of statement(reader, next, MARK))
                yield [last, [{ clause: one }, { clause: two, subordinator }]];
    }
    if (left === 1) return;
    const fewest = CLAUSE + 1 + CLAUSE + MARK;
    for (const [next, subordinator] of words.takePhrase(
        ...[at, conjunctions, /** @type {const} */ ("joining word"), () => fewest],
    ))
        for (const [end, one] of statement(reader, next, 1 + CLAUSE + MARK))
            for (const [main] of words.take(end, [[",", "mark", 0]], () => CLAUSE + MARK))
                for (const [last, two] of statement(reader, main, MARK))
                    yield [last, [{ clause: one, subordinator, fronted: true }, { clause: two }]];
    yield* reported(reader, at, left);
}

/**
 * Return the number of clauses in a sentence, including relative clauses.
 * @param {Sentence} sentence
 */
export const count = (sentence) =>
    sentence.reduce((sum, { clause: { subject: who, object } }) => {
        const relative = object?.relative || ("noun" in who && who.relative);
        return sum + (relative ? 2 : 1);
    }, 0);

/**
 * Yield all readings up to the final mark.
 * @param {Reader} reader
 * @param {number} [at]
 * @param {Sentence} [before] the sentence so far
 * @returns {Generator<Sentence>}
 */
export function* sentences(reader, at = 0, before = []) {
    const { words, language } = reader;
    const left = MOST_CLAUSES - count(before);
    const seen = new Set();
    for (const [end, [first, ...more]] of unit(reader, at, left)) {
        const coordinator = before.length ? coordinatorAt(reader, at) : undefined;
        const sentence = [...before, coordinator ? { ...first, coordinator } : first, ...more];
        const asks = !!first.clause.question;
        // Of two readings that end at the same position, one is enough.
        const key = `${end} ${count(sentence)} ${asks}`;
        if (seen.has(key)) continue;
        seen.add(key);
        for (const [last] of words.take(end, [[asks ? "?" : ".", "mark", 0]], () => 0))
            if (last === words.words.length) yield sentence;
        if (asks || count(sentence) === MOST_CLAUSES) continue;
        for (const [and] of words.take(end, [[",", "mark", 0]], () => 1 + CLAUSE + MARK))
            for (const [next] of words.takePhrase(
                ...[and, language.phrases.coordinator, /** @type {const} */ ("joining word")],
                () => CLAUSE + MARK,
            ))
                yield* sentences(reader, next, sentence);
    }
}

/** Return the coordinator before a unit. @param {Reader} reader @param {number} at */
const coordinatorAt = ({ words, language }, at) =>
    language.phrases.coordinator.filter(({ english }) => english[0] === words.words[at - 1])[0];
