// @ts-check
// The settings of a machine: their ranges, their conflicts, and settings without effect.

import { LONGEST } from "./positions.mjs";
import { TASKS } from "./tasks.mjs";

/**
 * @typedef {{ task: string, body: string, layers: number, heads: number, scale: boolean,
 *     causal: boolean, positions: string, residual: boolean, norm: boolean, feedForward: boolean,
 *     window: number, dilated: boolean, width: number, length: number, batch: number, rate: number,
 *     steps: number, seed: number }} Settings
 * @typedef {keyof Settings} Name
 * @typedef {{ usual: string | boolean, options: (string | boolean)[] }
 *     | { usual: number, from: number, to: number }} Range
 * @typedef {{ field: string, sentence: string }} Problem
 * @typedef {{ field: string, reason: string }} Idle
 */

const off = { usual: false, options: [true, false] };
const on = { ...off, usual: true };
const BODIES = ["mean", "gru", "convolution", "bare", "shared", "attention"];
const POSITIONS = ["none", "learned", "sinusoidal", "rotary"];

/**
 * The default and the range of each field, independent of the others. A rate is above 0, and the
 * other numbers are integers. The default length is that of the task.
 */
export const RANGES = /** @type {Record<Name, Range>} */ ({
    task: { usual: "far", options: Object.keys(TASKS) },
    body: { usual: "attention", options: BODIES },
    layers: { usual: 1, from: 1, to: 3 },
    heads: { usual: 1, from: 1, to: 8 },
    scale: on,
    causal: on,
    positions: { usual: "none", options: POSITIONS },
    residual: off,
    norm: off,
    feedForward: off,
    window: { usual: 5, from: 2, to: 16 },
    dilated: off,
    width: { usual: 32, from: 4, to: 128 },
    length: { usual: 32, from: 4, to: LONGEST },
    batch: { usual: 32, from: 1, to: 128 },
    rate: { usual: 0.01, from: 0, to: 1 },
    steps: { usual: 400, from: 1, to: 5000 },
    seed: { usual: 0, from: 0, to: 999999 },
});

/** The number of held-out sequences that a machine reads at once. */
export const AT_ONCE = 32;
/** The most numbers that a machine may keep, in millions; each takes 4 bytes. */
const MOST = 64;

/**
 * Return the settings with defaults for the missing fields.
 * @param {Partial<Settings>} settings
 * @returns {Settings}
 */
export function completed(settings) {
    const usual = Object.entries(RANGES).map(([field, { usual }]) => [field, usual]);
    const all = { ...Object.fromEntries(usual), ...settings };
    if (settings.length === undefined && Object.hasOwn(TASKS, all.task))
        all.length = TASKS[all.task].lengths[2];
    return all;
}

/** @param {string} body */
const attends = (body) => ["bare", "shared", "attention"].includes(body);

/**
 * Return the problems of single fields.
 * @param {Partial<Settings>} given
 * @returns {Problem[]}
 */
export const flaws = (given) =>
    Object.entries(given).flatMap(([field, value]) => {
        if (!Object.hasOwn(RANGES, field))
            return [{ field, sentence: `There is no setting “${field}”. Leave it out.` }];
        const must = wrong(/** @type {Name} */ (field), value);
        return must
            ? [{ field, sentence: `“${field}” is ${JSON.stringify(value)}; it must be ${must}.` }]
            : [];
    });

/**
 * Return the problems of single fields or, if there are none, the conflicts between fields.
 * @param {Partial<Settings>} given
 * @returns {Problem[]}
 */
export function problems(given) {
    const settings = completed(given);
    const single = flaws(settings);
    return single.length ? single : clashes(settings);
}

/**
 * Return what a value must be, or an empty text if it is valid.
 * @param {Name} field
 * @param {unknown} value
 */
function wrong(field, value) {
    const range = RANGES[field];
    if ("options" in range)
        return range.options.some((one) => one === value) ? "" : range.options.join(" or ");
    if (typeof value !== "number" || !(value >= range.from && value <= range.to))
        return `a number from ${range.from} to ${range.to}`;
    if (field === "rate") return value > 0 ? "" : "above 0";
    return Number.isInteger(value) ? "" : "a whole number";
}

/** @param {Settings} settings @returns {Problem[]} */
function clashes(settings) {
    const { task, body, heads, positions, width, length, window } = settings;
    const [shortest, longest] = TASKS[task].lengths;
    const head = width / heads;
    /** @type {[boolean, Name, string][]} */
    const rules = [
        [
            length < shortest || length > longest,
            "length",
            `A sequence of this task has ${shortest} to ${longest} places, not ${length}.`,
        ],
        [
            attends(body) && width % heads > 0,
            "heads",
            `${width} features cannot be shared out equally to ${heads} heads. Take a number of heads that divides ${width}, or another width.`,
        ],
        [
            body === "convolution" && window > length,
            "window",
            `A window of ${window} places is longer than the sequence of ${length}. Take a smaller window, or a longer sequence.`,
        ],
        [
            positions === "rotary" && !attends(body),
            "positions",
            `Rotary positions turn queries and keys, and this body has none. Take learned or sinusoidal positions, or a body that attends.`,
        ],
        [
            positions === "rotary" && attends(body) && head % 2 === 1,
            "positions",
            `Rotary positions turn pairs of features, and each head has ${head}. Take a width that gives every head an even number.`,
        ],
        [
            positions === "sinusoidal" && width % 2 > 0,
            "positions",
            `Sinusoidal positions fill pairs of features, and there are ${width}. Take an even width.`,
        ],
        [
            millions(settings) > MOST,
            "batch",
            `This machine would keep ${Math.round(4 * millions(settings))} MB of numbers, and a page should stay below ${4 * MOST} MB. Take a smaller batch, a shorter sequence, or less width, heads or layers.`,
        ],
    ];
    return rules.flatMap(([broken, field, sentence]) => (broken ? [{ field, sentence }] : []));
}

/**
 * Estimate how many millions of numbers a machine keeps, including gradients, for a batch and for
 * the sequences of a test. If only the last place is read, the last block has no table.
 * @param {Settings} settings
 */
function millions({ task, body, layers, heads, batch, length, width, feedForward }) {
    const features = length * width * (feedForward ? 20 : 10);
    const tables = attends(body) ? layers - (TASKS[task].everywhere ? 0 : 1) : 0;
    const scores = 2 * heads * length * length;
    return (2 * (batch + AT_ONCE) * (layers * features + tables * scores)) / 1e6;
}

/**
 * Return the reasons why two machines cannot be trained on the same draws.
 * @param {Settings} first
 * @param {Settings} second
 * @returns {Problem[]}
 */
export function differences(first, second) {
    const shared = /** @type {Name[]} */ (["task", "length", "batch", "steps", "seed"]);
    return shared
        .filter((field) => first[field] !== second[field])
        .map((field) => ({
            field,
            sentence: `Two machines that are compared see the same sequences: “${field}” is ${first[field]} in the first and ${second[field]} in the second. Make it the same.`,
        }));
}

/**
 * Return the settings without effect here: with any other value the run is the same.
 * @param {Settings} settings without problems
 * @returns {Idle[]}
 */
export function idle({ task, body, layers }) {
    /** @type {[boolean, Name[], string][]} */
    const rules = [
        [
            body === "gru" || body === "convolution",
            ["causal"],
            "This body reads from left to right, so nothing that comes later could be seen.",
        ],
        [
            (attends(body) || body === "mean") && layers === 1 && !TASKS[task].everywhere,
            ["causal"],
            "The one layer is read at the last place, which sees every place with the mask or without it.",
        ],
        [!attends(body), ["heads"], "Only attention has heads."],
        [!attends(body), ["scale"], "Only attention has scores to scale."],
        [body !== "convolution", ["window", "dilated"], "Only a convolution has a window."],
        [
            body === "convolution" && layers === 1,
            ["dilated"],
            "The gaps begin in the second layer, and there is one.",
        ],
    ];
    return rules.flatMap(([holds, fields, reason]) =>
        holds ? fields.map((field) => ({ field, reason })) : [],
    );
}
