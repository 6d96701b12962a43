// @ts-check
// The names of a machine's settings, and the values that the page offers.

import { RANGES } from "../learning/settings.mjs";
import { TASKS } from "../learning/tasks.mjs";

/**
 * @typedef {import("../learning/settings.mjs").Settings} Settings
 * @typedef {keyof Settings} Name
 */

/** The settings that two competing machines share. @type {Name[]} */
export const SHARED = ["task", "length", "batch", "steps", "seed"];

/** The settings that may differ, in the order of the table. @type {Name[]} */
export const OWN = [
    ...["body", "layers", "heads", "scale", "positions", "causal", "residual", "norm"],
    ...["feedForward", "window", "dilated", "width", "rate"],
].map((name) => /** @type {Name} */ (name));

/** @type {Record<Name, string>} */
export const LABELS = {
    task: "Task",
    length: "Places in a sequence",
    batch: "Sequences in a step",
    steps: "Steps",
    seed: "Seed",
    body: "Body",
    layers: "Blocks",
    heads: "Heads",
    scale: "Scores divided by √d",
    positions: "Positions",
    causal: "Causal mask",
    residual: "Residual connections",
    norm: "Layer norm",
    feedForward: "Feed-forward network",
    window: "Window",
    dilated: "Dilated",
    width: "Width",
    rate: "Learning rate",
};

/** @type {Record<string, string>} */
const VALUES = {
    far: "a far token",
    later: "the later of two",
    own: "recall: the number of this letter",
    partner: "recall: the number of its partner",
    both: "recall: both numbers",
    before: "what came so many places before",
    last: "what came last with this letter",
    copying: "a row that begins again",
    mean: "mean",
    gru: "GRU",
    convolution: "convolution",
    bare: "attention without parameters",
    shared: "attention with Q = K",
    attention: "attention with Q, K, V",
    none: "none",
    learned: "learned",
    sinusoidal: "sinusoidal",
    rotary: "rotary",
    true: "on",
    false: "off",
};

/** The description of each task. @type {Record<string, string>} */
export const TOLD = {
    far: "One capital stands among small letters. At the question mark, the machine says which.",
    later: "Two different capitals stand among the small letters. Which of them came later?",
    own: "Each place holds a letter and a number. The last one asks for the number of its letter.",
    partner:
        "Letters are partners: A and B, C and D, and so on. The last place asks for the number of its letter's partner.",
    both: "The last place asks for two numbers at once: its own letter's and the partner's. Only both together count.",
    before: "The last place asks what number stood one, two, three or four places before it.",
    last: "Letters come back with other numbers. The last place asks for the latest number of its letter.",
    copying:
        "A row of letters begins again. At every place the machine says the next letter; in the first row nobody can know it.",
};

/** Return the name of a value; a number is unchanged. @param {unknown} value */
export const inWords = (value) => VALUES[String(value)] ?? String(value);

/** @type {Partial<Record<Name, number[]>>} */
const OFFERED = {
    window: [2, 3, 4, 5, 6, 8, 12, 16],
    width: [4, 8, 16, 32, 64, 128],
    length: [4, 5, 6, 8, 9, 10, 12, 13, 16, 17, 24, 32, 48, 64, 96, 128],
    batch: [1, 8, 16, 32, 64, 128],
    rate: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1],
    steps: [50, 100, 200, 400, 600, 800, 1600, 3200, 5000],
};

/**
 * Return the values of a setting that the page offers, including the current value.
 * @param {Name} name
 * @param {Settings} settings
 * @returns {(string | number | boolean)[]}
 */
export function offered(name, settings) {
    const range = RANGES[name];
    if ("options" in range) return range.options;
    const [shortest, longest] = name === "length" ? TASKS[settings.task].lengths : [0, Infinity];
    const whole = Array.from({ length: range.to - range.from + 1 }, (_, at) => range.from + at);
    const all = (OFFERED[name] ?? whole).filter((one) => one >= shortest && one <= longest);
    return [...new Set([...all, Number(settings[name])])].sort((a, b) => a - b);
}

/**
 * Return a name for each machine by its differences: “one head”, “two heads”.
 * @param {Settings[]} machines
 * @returns {string[]}
 */
export function names(machines) {
    if (machines.length < 2) return ["the machine"];
    const [first, second] = machines;
    const differ = OWN.filter((name) => first[name] !== second[name]);
    if (!differ.length) return ["the first machine", "the second machine"];
    return machines.map((one) => differ.map((name) => phrase(name, one[name])).join(", "));
}

/** @param {Name} name @param {unknown} value */
function phrase(name, value) {
    if (name === "body") return inWords(value);
    if (name === "positions") return value === "none" ? "no positions" : `${value} positions`;
    if (name === "heads" || name === "layers") {
        const unit = name === "heads" ? "head" : "block";
        return `${value} ${unit}${value === 1 ? "" : "s"}`;
    }
    const label = LABELS[name][0].toLowerCase() + LABELS[name].slice(1);
    return `${label} ${inWords(value)}`;
}
