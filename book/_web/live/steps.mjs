// @ts-check
// The operations of every machine's step: look up words, multiply rows by a weight in PyTorch's
// layout (out, in), look at the rows of a memory, and take the likeliest word.

import { softmaxRow } from "../learning/attention.mjs";
import { transposed } from "../learning/memory.mjs";

/** @typedef {import("./weights.mjs").Table} Table */

/**
 * The largest number of tokens that a machine reads or writes. It exceeds the 60 of a sentence
 * (language.mjs), because French sentences are longer than English ones, and because a machine may
 * fail to stop.
 */
export const LONGEST = 80;

/** The first ids of every vocabulary. */
export const [PAD, START, STOP, UNKNOWN] = [0, 1, 2, 3];

/**
 * Y = X Wᵀ + b, on some rows and some features.
 * @param {Table} X
 * @param {Table} W (out, in)
 * @param {Table | null} b (1, out); if null, the product is added to Y
 * @param {Table} Y
 * @param {{ from?: number, rows?: number, to?: number, feature?: number, reads?: number }} [part]
 * from: the first row of X. rows: the number of rows. to: the first row of Y. feature: the first
 * column of W. reads: the number of columns, by default all columns of X.
 */
export function linear(X, W, b, Y, part = {}) {
    const { from = 0, rows = 1, to = from, feature = 0, reads = X.width } = part;
    if (b) for (let row = to; row < to + rows; row++) Y.data.set(b.data, row * Y.width);
    X.memory.addProduct(
        X.part({ from, rows, columns: reads }),
        transposed(W.part({ feature, columns: reads })),
        Y.part({ from: to, rows }),
    );
}

/**
 * Copy the rows of words from an embedding.
 * @param {Table} table an embedding
 * @param {ArrayLike<number>} ids
 * @param {Table} X
 * @param {number} [to] the first row of X to write
 */
export function lookUp(table, ids, X, to = 0) {
    const d = table.width;
    for (let at = 0; at < ids.length; at++)
        X.data.set(table.data.subarray(ids[at] * d, (ids[at] + 1) * d), (to + at) * d);
}

/**
 * Return v · tanh(asks + key) for each of the first n keys (Bahdanau et al. 2015).
 * @param {Table} asks (1, d)
 * @param {Table} keys
 * @param {Table} v (1, d)
 * @param {number} n
 * @returns {Float32Array} (n,)
 */
export function scoresOf(asks, keys, v, n) {
    const d = v.width;
    const scores = new Float32Array(n);
    for (let at = 0; at < n; at++)
        for (let j = 0; j < d; j++)
            scores[at] += v.data[j] * Math.tanh(asks.data[j] + keys.data[at * d + j]);
    return scores;
}

/**
 * Turn scores into weights; hidden positions get 0.
 * @param {Float32Array} scores n scores, which are overwritten
 * @param {ReadonlySet<number>} hidden
 * @returns {Float32Array} (n,)
 */
export function weightsOf(scores, hidden) {
    for (const at of hidden) if (at < scores.length) scores[at] = Number.NEGATIVE_INFINITY;
    const weights = new Float32Array(scores.length);
    softmaxRow(scores, weights, 0, scores.length);
    return weights;
}

/**
 * Compute the weighted sum of the first rows of a memory.
 * @param {Float32Array} weights
 * @param {Table} memory
 * @param {Table} Y receives the result in its first row
 */
export function blend(weights, memory, Y) {
    const d = memory.width;
    Y.data.fill(0, 0, d);
    for (const [row, weight] of weights.entries())
        for (let j = 0; j < d; j++) Y.data[j] += weight * memory.data[row * d + j];
}

/** Return the index of the largest number. @param {Float32Array} numbers */
export function likeliest(numbers) {
    let best = 0;
    for (let at = 1; at < numbers.length; at++) if (numbers[at] > numbers[best]) best = at;
    return best;
}
