// @ts-check
// What every translator does in a step: look words up, multiply rows by a weight as PyTorch keeps
// it (out, in), and look at the rows of a memory.

import { softmaxRow } from "../learning/attention.mjs";
import { transposed } from "../learning/memory.mjs";

/** @typedef {import("./weights.mjs").Table} Table */

/** The most tokens that a translator reads or writes. */
export const LONGEST = 80;

/** Ids that every vocabulary has. */
export const [PAD, START, STOP, UNKNOWN] = [0, 1, 2, 3];

/**
 * Y = X Wᵀ + b, on some rows and some features.
 * @param {Table} X
 * @param {Table} W (out, in)
 * @param {Table | null} b (1, out); null: Y is added to
 * @param {Table} Y
 * @param {{ from?: number, rows?: number, to?: number, feature?: number, reads?: number }} [part]
 * from: the first row of X. rows: how many. to: the first row of Y. feature: the first column of W.
 * reads: how many columns, all of X by default.
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
 * Copy the rows of words.
 * @param {Table} table an embedding
 * @param {ArrayLike<number>} ids
 * @param {Table} X
 * @param {number} [to] the first row to be written
 */
export function lookUp(table, ids, X, to = 0) {
    const d = table.width;
    for (let at = 0; at < ids.length; at++)
        X.data.set(table.data.subarray(ids[at] * d, (ids[at] + 1) * d), (to + at) * d);
}

/**
 * Scores to weights, but for what is hidden, which gets 0.
 * @param {Float32Array} scores n of them, changed
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
 * The blend of the first rows of a memory.
 * @param {Float32Array} weights
 * @param {Table} memory
 * @param {Table} Y its first row is written
 */
export function blend(weights, memory, Y) {
    const d = memory.width;
    Y.data.fill(0, 0, d);
    for (const [row, weight] of weights.entries())
        for (let j = 0; j < d; j++) Y.data[j] += weight * memory.data[row * d + j];
}
