// @ts-check
// The tasks that a machine can learn. A sequence is a list of places. A place has one symbol or
// two, such as a letter and a number. A symbol is an index of the task's list of names.

import { LONGEST } from "./positions.mjs";

/**
 * @typedef {import("./random.mjs").Random} Random
 * @typedef {number[][]} Sequence
 * @typedef {{ answer: number, group: number }} Solved the answer to one question, and its group
 *
 * @typedef {object} Task
 * @property {string[]} symbols
 * @property {string[]} answers
 * @property {number} each the number of symbols in a place
 * @property {number} questions their number at each place that is read
 * @property {boolean} everywhere whether every place is read, and not only the last one
 * @property {[number, number, number]} lengths the shortest, the longest, and the default
 * @property {(length: number) => string[]} groups the names of the groups by which accuracy is
 * reported
 * @property {number} counted the number of first groups that count for the whole accuracy
 * @property {(random: Random, length: number) => Sequence} draw
 * @property {(sequence: Sequence) => (Solved | null)[]} solve the right answers, for each place
 * that is read and each of its questions; null if there is none
 */

/** @param {string} first @param {number} count */
const letters = (first, count) =>
    Array.from({ length: count }, (_, at) => String.fromCharCode(first.charCodeAt(0) + at));
const numbers = Array.from({ length: 16 }, (_, at) => `${at + 1}`);

/** The group of a distance; groups double: 1, 2, 3-4, 5-8, ... */
const groupOf = (/** @type {number} */ distance) => Math.ceil(Math.log2(distance));
const distances = (/** @type {number} */ length) =>
    Array.from({ length: groupOf(length - 1) + 1 }, (_, group) => {
        const [first, last] = [2 ** (group - 1) + 1, Math.min(2 ** group, length - 1)];
        return group === 0 ? "1" : first === last ? `${last}` : `${first}–${last}`;
    });

// A far token. Symbols: 8 payloads, 16 fillers, the probe.
const [PAYLOADS, PROBE] = [8, 24];
const payloads = {
    symbols: [...letters("A", PAYLOADS), ...letters("a", PROBE - PAYLOADS), "?"],
    answers: letters("A", PAYLOADS),
    ...{ each: 1, questions: 1, everywhere: false, groups: distances, counted: Infinity },
};

/**
 * Draw fillers, the probe, and payloads at distances before the probe.
 * @type {(random: Random, length: number, distances: number[]) => Sequence}
 */
function withPayloads(random, length, distances) {
    const fillers = Array.from({ length }, () => [PAYLOADS + random.whole(PROBE - PAYLOADS)]);
    const drawn = random.different(distances.length, PAYLOADS);
    for (const [at, distance] of distances.entries()) fillers[length - 1 - distance] = [drawn[at]];
    fillers[length - 1] = [PROBE];
    return fillers;
}

/**
 * Return the last payload of a sequence that has exactly `count` payloads.
 * @type {(count: number) => Task["solve"]}
 */
const lastPayload = (count) => (sequence) => {
    const places = [...sequence.keys()].filter((at) => sequence[at][0] < PAYLOADS);
    if (places.length !== count) return [null];
    const at = places[places.length - 1];
    const distance = sequence.length - 1 - at;
    return [distance ? { answer: sequence[at][0], group: groupOf(distance) } : null];
};
const NEAR = 8;

// Records. Symbols: letters, 16 numbers, a mark for the requested number, and the distances if the
// question is a distance.
/** @param {number} count of letters */
const recorded = (count) => ({
    symbols: [...letters("A", count), ...numbers, "?"],
    answers: numbers,
    ...{ each: 2, questions: 1, everywhere: false, groups: distances, counted: Infinity },
});
const [MANY, FEW, BACK] = [16, 8, 4];

/**
 * Draw records with distinct letters and numbers, including the requested letter and its partner.
 * @type {Task["draw"]}
 */
function pairs(random, length) {
    const asked = random.whole(MANY);
    const others = random.different(MANY, MANY).filter((letter) => letter >> 1 !== asked >> 1);
    const chosen = [asked, asked ^ 1, ...others].slice(0, length - 1);
    const order = random.different(chosen.length, chosen.length);
    const values = random.different(chosen.length, numbers.length);
    return [...order.map((one, at) => [chosen[one], MANY + values[at]]), [asked, MANY + 16]];
}

/** Draw records whose letters and numbers may recur. @type {Task["draw"]} */
const records = (random, length) =>
    Array.from({ length: length - 1 }, () => [random.whole(FEW), FEW + random.whole(16)]);

/**
 * Return the number of the latest record of a letter.
 * @type {(sequence: Sequence, letter: number, letters: number) => Solved | null}
 */
function latest(sequence, letter, letters) {
    for (let at = sequence.length - 2; at >= 0; at--)
        if (sequence[at][0] === letter) return numberAt(sequence, at, letters);
    return null;
}

/** @type {(sequence: Sequence, at: number, letters: number) => Solved | null} */
function numberAt(sequence, at, letters) {
    const answer = sequence[at][1] - letters;
    if (answer < 0 || answer >= numbers.length) return null;
    return { answer, group: groupOf(sequence.length - 1 - at) };
}

/** @param {Sequence} sequence */
const question = (sequence) => sequence[sequence.length - 1][0];

/** @type {(relation: (letter: number) => number) => Task} */
const recall = (relation) => ({
    ...recorded(MANY),
    lengths: [5, 17, 9],
    draw: pairs,
    solve: (sequence) => [latest(sequence, relation(question(sequence)), MANY)],
});
const own = (/** @type {number} */ letter) => letter;
const partner = (/** @type {number} */ letter) => (letter < MANY ? letter ^ 1 : letter);

const ALPHABET = 26;

/** @type {Record<string, Task>} */
export const TASKS = {
    far: {
        ...payloads,
        lengths: [4, 128, 32],
        draw: (random, length) => withPayloads(random, length, [1 + random.whole(length - 1)]),
        solve: lastPayload(1),
    },
    later: {
        ...payloads,
        lengths: [10, 128, 32],
        groups: () => distances(NEAR),
        draw: (random, length) =>
            withPayloads(
                random,
                length,
                random.different(2, NEAR).map((at) => at + 1),
            ),
        solve: lastPayload(2),
    },
    own: recall(own),
    partner: recall(partner),
    both: {
        ...recall(own),
        questions: 2,
        groups: () => ["own", "partner"],
        solve: (sequence) =>
            [own, partner].map((relation, group) => {
                const solved = latest(sequence, relation(question(sequence)), MANY);
                return solved && { ...solved, group };
            }),
    },
    before: {
        ...recorded(FEW),
        symbols: [...recorded(FEW).symbols, ...numbers.slice(0, BACK).map((one) => `${one} back`)],
        lengths: [6, 128, 13],
        groups: () => numbers.slice(0, BACK),
        draw: (random, length) => [
            ...records(random, length),
            [FEW + 17 + random.whole(BACK), FEW + 16],
        ],
        solve: (sequence) => {
            const back = question(sequence) - (FEW + 16);
            if (back < 1 || back >= sequence.length) return [null];
            const solved = numberAt(sequence, sequence.length - 1 - back, FEW);
            return [solved && { ...solved, group: back - 1 }];
        },
    },
    last: {
        ...recorded(FEW),
        lengths: [6, 128, 13],
        draw: (random, length) => {
            const all = records(random, length);
            return [...all, [all[random.whole(all.length)][0], FEW + 16]];
        },
        solve: (sequence) => [latest(sequence, question(sequence), FEW)],
    },
    copying: {
        symbols: letters("A", ALPHABET),
        answers: letters("A", ALPHABET),
        ...{ each: 1, questions: 1, everywhere: true, lengths: [12, 48, 24], counted: 1 },
        groups: () => ["known", "unknown"],
        draw: (random, length) => {
            const shortest = Math.ceil(length / 4);
            const period = shortest + random.whole(Math.floor(length / 2) - shortest + 1);
            const row = random.different(period, ALPHABET);
            return Array.from({ length }, (_, at) => [row[at % period]]);
        },
        // The first repeated letter reveals the length of the row, but only after it has been read.
        solve: (sequence) => {
            const row = sequence.map(([letter]) => letter);
            const again = row.findIndex((letter, at) => row.indexOf(letter) < at);
            const period = again - row.indexOf(row[again]);
            return row.map((_, at) => {
                const answer = row[at + 1] ?? (again > 0 ? row[at + 1 - period] : -1);
                return answer < 0 ? null : { answer, group: again > 0 && at >= again ? 0 : 1 };
            });
        },
    },
};

/**
 * Return why a machine of the task cannot read a sequence, or an empty text if it can.
 * @param {Task} task
 * @param {unknown} sequence
 */
export function unreadable({ symbols, each }, sequence) {
    if (!Array.isArray(sequence) || sequence.length < 2 || sequence.length > LONGEST)
        return `A sequence is a list of 2 to ${LONGEST} places.`;
    const at = sequence.findIndex(
        (place) =>
            place?.length !== each || !place.every((/** @type {number} */ one) => symbols[one]),
    );
    return at < 0
        ? ""
        : `Place ${at + 1} holds ${JSON.stringify(sequence[at])}; it must hold ${each} of the ${symbols.length} symbols, each by its number from 0.`;
}

/**
 * Return the accuracy of a guess that does not depend on the sequence.
 * @param {Task} task
 */
export const chance = ({ answers, questions }) => answers.length ** -questions;
