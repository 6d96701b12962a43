// @ts-check
// The score of a rotary head by distance, its false peaks, and the reader's tasks, for
// distance_curves.mjs. Positions are stretched as in solutions/positions.py and
// solutions/experiments/positions/longer_context.py.

import { softmax, twoDigits } from "./small_attention.mjs";

/** @typedef {{ name: string, amplitudes: number[], phases: number[] }} Head */
/** @typedef {{ heads: Head[], base: number, rates: number, trained_length: number }} Heads */
/** @typedef {{ head: number, asked: number, base: number, length: number, method: string }} State */
/** @typedef {ReturnType<typeof measured>} Measured */

/** A peak reaches this share of the score that the asked distance has in training. */
export const PEAK = 0.9;
/** The length that the tasks are about, as a multiple of the trained one. */
export const STRETCHED = 4;
/** In YaRN, a pair that makes so many turns within the trained length keeps its speed. */
const WHOLE = 2;

export const METHODS = ["none", "interpolation", "larger base", "YaRN"];

/**
 * Return how fast each pair turns, in radians a position.
 * @param {number} rates the number of pairs
 * @param {number} base
 */
export const speeds = (rates, base) =>
    Array.from({ length: rates }, (_, i) => base ** (-i / rates));

/** How many times as long as in training. @param {Heads} data @param {number} length */
const factorOf = (data, length) => Math.max(1, length / data.trained_length);

/**
 * Return the base with which the slowest pair is slower by the factor, and the fastest as before.
 * @param {Heads} data
 * @param {State} state
 */
const largerBase = (data, { base, length }) =>
    base * factorOf(data, length) ** (data.rates / (data.rates - 1));

/**
 * Return how fast each pair turns when the sequence is stretched by the chosen method.
 * @param {Heads} data
 * @param {State} state
 */
export function stretched(data, state) {
    const factor = factorOf(data, state.length);
    const usual = speeds(data.rates, state.base);
    if (state.method === "interpolation") return usual.map((speed) => speed / factor);
    if (state.method === "larger base") return speeds(data.rates, largerBase(data, state));
    if (state.method !== "YaRN") return usual;
    return usual.map((speed) => {
        const turns = (data.trained_length * speed) / (2 * Math.PI);
        const kept = Math.min(1, Math.max(0, (turns - 1) / (WHOLE - 1)));
        return kept * speed + ((1 - kept) * speed) / factor;
    });
}

/** By how much YaRN multiplies the scores. @param {Heads} data @param {State} state */
const temperature = (data, { method, length }) =>
    method === "YaRN" ? (0.1 * Math.log(factorOf(data, length)) + 1) ** 2 : 1;

/**
 * Return what each pair adds to the score of a distance.
 * @param {Head} head
 * @param {number[]} turning the speeds
 * @param {number} distance
 */
const added = ({ amplitudes, phases }, turning, distance) =>
    amplitudes.map((size, i) => size * Math.cos(turning[i] * distance + phases[i]));

/**
 * Return the score of a distance.
 * @param {Head} head
 * @param {number[]} turning
 * @param {number} distance
 */
export const scoreAt = (head, turning, distance) =>
    added(head, turning, distance).reduce((sum, part) => sum + part, 0);

/** Return the whole numbers from `first` to `last`. @param {number} first @param {number} last */
const range = (first, last) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

/** Return the place of the largest value. @param {number[]} values */
const largest = (values) => values.indexOf(Math.max(...values));

/**
 * Return the distance at which a head has its highest score in training.
 * @param {Heads} data
 * @param {number} head
 */
export function home(data, head) {
    const turning = speeds(data.rates, data.base);
    const distances = range(1, data.trained_length);
    return 1 + largest(distances.map((d) => scoreAt(data.heads[head], turning, d)));
}

/**
 * Return a head with its query turned, as it is in training, so that it asks for a distance.
 * @param {Heads} data
 * @param {State} state
 * @returns {Head}
 */
export function asking(data, { head, asked }) {
    const turning = speeds(data.rates, data.base);
    const by = asked - home(data, head);
    const { phases, ...rest } = data.heads[head];
    return { ...rest, phases: phases.map((phase, i) => phase - turning[i] * by) };
}

/**
 * Return everything that the figure shows of a head: its scores, its weights, and its peaks.
 * @param {Heads} data
 * @param {State} state
 */
export function measured(data, state) {
    const { asked, length } = state;
    const head = asking(data, state);
    const usual = speeds(data.rates, data.base);
    const turning = stretched(data, state);
    const trainedScore = scoreAt(head, usual, asked);
    const scores = range(0, length + 1).map((d) => scoreAt(head, turning, d));
    const scale = temperature(data, state);
    // The question itself, at distance 0, is no record.
    const weights = [0, ...softmax(scores.slice(1, -1).map((score) => score * scale))];
    const peaks = range(1, length).filter(
        (d) =>
            scores[d] > scores[d - 1] &&
            scores[d] >= scores[d + 1] &&
            scores[d] >= PEAK * trainedScore,
    );
    const wrong = peaks.filter((d) => d !== asked);
    const compared = wrong[0] ?? asked;
    return {
        head,
        turning,
        trainedScore,
        scores: scores.slice(0, -1),
        weights,
        peaks,
        wrong,
        highest: largest(weights),
        compared,
        turns: turning.map((speed, i) => (speed * compared - usual[i] * asked) / (2 * Math.PI)),
        adds: added(head, turning, compared),
    };
}

/**
 * Judge the two tasks.
 * @param {Heads} data
 * @param {State} state
 * @param {Measured} result
 */
export function judged(data, state, { peaks, wrong }) {
    const long = state.length >= STRETCHED * data.trained_length;
    const { wrong: usual } = measured(data, { ...state, base: data.base, method: "none" });
    const first = (/** @type {number[]} */ distances) => distances[0] ?? Number.POSITIVE_INFINITY;
    return {
        farther:
            long &&
            state.method === "none" &&
            peaks.includes(state.asked) &&
            first(wrong) > first(usual),
        single: long && peaks.length === 1,
    };
}

/**
 * Describe where the head looks.
 * @param {State} state
 * @param {Measured} result
 */
export function described({ asked }, { highest, weights, wrong }) {
    const most = `Asked for ${asked}, the head looks most at ${highest} (weight ${twoDigits(weights[highest])}).`;
    if (wrong.length === 0) return `${most} It has no false peak.`;
    if (wrong.length === 1) return `${most} It has one false peak, at ${wrong[0]}.`;
    if (wrong.length > 6)
        return `${most} It has ${wrong.length} false peaks, the first at ${wrong[0]} and the last at ${wrong.at(-1)}.`;
    return `${most} It has ${wrong.length} false peaks, at ${wrong.slice(0, -1).join(", ")} and ${wrong.at(-1)}.`;
}

/**
 * Say what the method changes.
 * @param {Heads} data
 * @param {State} state
 */
export function explained(data, state) {
    const factor = factorOf(data, state.length);
    const times = String(Number(factor.toFixed(2)));
    if (state.method === "none")
        return `Nothing is stretched. At each position, pair i turns by the base to the power −i/${data.rates}, in radians.`;
    if (factor === 1) return "Nothing to stretch: the sequence is as long as in training.";
    if (state.method === "interpolation") return `All positions are divided by ${times}.`;
    if (state.method === "larger base")
        return `The base is ${grouped(largerBase(data, state))}, so that the slowest pair is ${times} times slower and the fastest as before.`;
    const { trained_length: trained } = data;
    return `Pairs with a period up to ${trained / WHOLE} keep it, those above ${trained} get ${times} times theirs, and all scores are multiplied by ${twoDigits(temperature(data, state))} before the softmax.`;
}

/**
 * Say what the table of the pairs compares.
 * @param {State} state
 * @param {Measured} result
 */
export const pairsCaption = ({ asked }, { compared }) =>
    `How far each pair has turned at ${compared}, against ${asked} in training, and what it adds to the score`;

/**
 * Say what was found, if a task is solved.
 * @param {State} state
 * @param {Measured} result
 * @param {ReturnType<typeof judged>} tasks
 */
export function verdict({ asked }, { peaks, wrong }, { farther, single }) {
    if (single && peaks[0] !== asked)
        return `Found: one peak is left. It is at ${peaks[0]}, and you asked for ${asked}.`;
    if (single) return `Found: one peak is left, at ${asked}, where you asked.`;
    if (farther) return `Found: the first false peak has moved to ${wrong[0]}, but it is not gone.`;
    return "";
}

/** Return a number with three digits that count, in groups of three. @param {number} value */
export const grouped = (value) => Number(value.toPrecision(3)).toLocaleString("en-GB");

/** Return a score as it is shown, with one digit after the point. @param {number} value */
export const oneDigit = (value) =>
    (Math.abs(value) < 0.05 ? 0 : value).toFixed(1).replace("-", "−");
