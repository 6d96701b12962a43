// @ts-check
// The cost of a stack of blocks at a length, and the formatting of such numbers. The formulas of
// `predicted` are those of solutions/drawing/calculator.py.

/**
 * A model and the tokens that it reads.
 * @typedef {{ n: number, d: number, heads: number, layers: number }} Model
 * @typedef {{ projections: number, meet: number, feedForward: number }} Flops
 * @typedef {{ table: number, blocks: number, cache: number }} Bytes
 */

/**
 * Return the operations and the bytes that a model needs.
 * @param {Model} model
 * @param {number} block number of keys in a block, for attention that never holds the whole table
 * @returns {{ flops: Flops, bytes: Bytes }}
 */
export function predicted({ n, d, heads, layers }, block) {
    const each = layers * n * d;
    return {
        flops: { projections: 8 * each * d, meet: 4 * each * n, feedForward: 16 * each * d },
        bytes: {
            table: 8 * heads * n * n,
            blocks: 8 * heads * n * Math.min(n, block),
            cache: 8 * each,
        },
    };
}

const UNITS = ["", " thousand", " million", " billion", " trillion", " quadrillion"];
const SIZES = [" bytes", " kB", " MB", " GB", " TB", " PB"];

/** @type {[number, string][]} */
const TIMES = [
    [31536000, "years"],
    [86400, "days"],
    [3600, "hours"],
    [60, "minutes"],
    [1, "s"],
];

/** @param {number} value */
const rounded = (value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(2));

/**
 * @param {number} value
 * @param {string[]} names of each power of a thousand
 */
function inWords(value, names) {
    const step = Math.max(0, Math.min(names.length - 1, Math.floor(Math.log10(value) / 3)));
    return rounded(value / 1000 ** step) + names[step];
}

/** @param {number} value */
export const asFlops = (value) => inWords(value, UNITS);

/** @param {number} value */
export const asBytes = (value) => inWords(value, SIZES);

/** @param {number} value */
export function asSeconds(value) {
    const [unit, name] = TIMES.find(([least]) => value >= least) ?? [0.001, "ms"];
    return `${rounded(value / unit)} ${name}`;
}

/**
 * Return the label of a power of ten at an axis.
 * @param {number} value
 */
export function atSeconds(value) {
    const power = Math.round(Math.log10(value));
    if (power > 3)
        return `10${power.toString().replace(/\d/g, (one) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(one)])} s`;
    return power < 0 ? `${Number((1000 * value).toPrecision(1))} ms` : `${10 ** power} s`;
}
