// @ts-check
// Random sentences, drawn as in generator.py of solutions/data/translation.

import { Drawing } from "./drawing.mjs";
import { english } from "./english.mjs";
import { LONGEST, MOST_CLAUSES } from "./language.mjs";
import { count } from "./reading.mjs";

/**
 * @typedef {import("./language.mjs").Language} Language
 * @typedef {import("./language.mjs").Segment} Segment
 * @typedef {import("./language.mjs").Sentence} Sentence
 */

/** The number of attempts to draw an additional clause, until the sentence is short enough. */
const TRIES = 500;

/** @param {Language} language @param {Sentence} sentence */
const isShort = ({ be }, sentence) => english(sentence, be).length <= LONGEST;

/**
 * Draw a random sentence.
 * @param {Language} language
 * @param {() => number} random
 * @param {number} clauses from 1 to 8
 * @returns {Sentence}
 */
export function shuffled(language, random, clauses) {
    if (!(Number.isInteger(clauses) && clauses >= 1 && clauses <= MOST_CLAUSES))
        throw new RangeError(`a sentence has 1 to ${MOST_CLAUSES} clauses, not ${clauses}`);
    const drawing = new Drawing(language, random);
    for (;;) {
        /** @type {Sentence} */
        const sentence = [];
        for (let left = clauses; left; left = clauses - count(sentence)) {
            const [first, ...more] = unit(drawing, left);
            sentence.push(sentence.length ? joined(drawing, first) : first, ...more);
        }
        if (isShort(language, sentence)) return sentence;
    }
}

/**
 * Return the segment with "and" or "but" before it.
 * @param {Drawing} drawing
 * @param {Segment} segment
 */
const joined = (drawing, segment) => ({
    ...segment,
    coordinator: drawing.choice(drawing.language.phrases.coordinator),
});

/**
 * Draw a main clause with its subordinate clauses. Only the last clause of a sentence asks a
 * question.
 * @param {Drawing} drawing
 * @param {number} left the largest number of clauses
 * @returns {Segment[]}
 */
function unit(drawing, left) {
    const kind = drawing.random();
    if (left === 1 && drawing.chance(0.25)) return [{ clause: drawing.question() }];
    if (left === 1 || kind < 0.3) return [{ clause: drawing.statement(true) }];
    if (kind < 0.5) return [{ clause: drawing.described(drawing.statement(true)) }];
    if (kind < 0.7) return reported(drawing, left);
    const subordinator = drawing.choice(drawing.language.phrases.subordinator);
    if (kind < 0.85)
        return [
            { clause: drawing.statement(), subordinator, fronted: true },
            { clause: drawing.statement() },
        ];
    return [{ clause: drawing.statement(true) }, { clause: drawing.statement(), subordinator }];
}

/** Draw "A says that B". @param {Drawing} drawing @param {number} left @returns {Segment[]} */
function reported(drawing, left) {
    const { that } = drawing.language;
    /** @type {Segment[]} */
    const segments = [{ clause: drawing.matrix() }];
    while (segments.length < left - 1 && drawing.chance(0.2))
        segments.push({ clause: drawing.matrix(), subordinator: that });
    return [...segments, { clause: drawing.statement(), subordinator: that }];
}

/**
 * Return the sentence with another clause, or null if that is too long. A question stays last.
 * @param {Language} language
 * @param {() => number} random
 * @param {Sentence} sentence
 * @returns {Sentence | null}
 */
export function longer(language, random, sentence) {
    if (count(sentence) >= MOST_CLAUSES) return null;
    const drawing = new Drawing(language, random);
    for (let tries = 0; tries < TRIES; tries++) {
        const more = oneMore(drawing, sentence);
        if (isShort(language, more)) return more;
    }
    return null;
}

/** @param {Drawing} drawing @param {Sentence} sentence @returns {Sentence} */
function oneMore(drawing, sentence) {
    const last = sentence[sentence.length - 1];
    const before = sentence.slice(0, -1);
    if (last.clause.question) {
        const clause = drawing.statement(true);
        return before.length
            ? [...before, joined(drawing, { clause }), last]
            : [{ clause }, joined(drawing, last)];
    }
    // A clause without subordinate clauses, which is not subordinate itself.
    const alone = !last.subordinator && !before.at(-1)?.fronted && count([last]) === 1;
    if (!alone || drawing.chance(0.5))
        return [...sentence, joined(drawing, { clause: drawing.statement(true) })];
    const subordinator = drawing.choice(drawing.language.phrases.subordinator);
    return [...sentence, { clause: drawing.statement(), subordinator }];
}
