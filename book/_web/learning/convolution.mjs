// @ts-check
// A convolution over time: a matrix for each place of a window that ends at the token itself, so
// that no later token is read. A dilated window (van den Oord et al. 2016, "WaveNet") has gaps.

import { relu, startsIn } from "./linear.mjs";
import { transposed } from "./memory.mjs";
import { gradient, matrix } from "./tape.mjs";

/**
 * @typedef {import("./tape.mjs").Tape} Tape
 * @typedef {import("./tape.mjs").Tensor} Tensor
 */

/**
 * Return ReLU(b + the sum over the window's places of the token times the W of the place). Places
 * before the first token count as 0.
 * @param {Tape} tape
 * @param {Tensor} X (B, n, d)
 * @param {string} name of the layer
 * @param {number} window the number of places that it reads
 * @param {number} gap the distance between these places
 * @param {boolean} last whether to compute only the last token's output, so that m is 1; otherwise
 * m is n
 * @returns {Tensor} (B, m, d)
 */
export function convolution(tape, X, name, window, gap, last) {
    const [batch, n, d] = X.shape;
    const draw = startsIn(window * d);
    const W = tape.parameters.get(`${name}.W`, [window, d, d], draw); // the last is the token's own
    const bias = tape.parameters.get(`${name}.W.bias`, [d], draw);
    const m = last ? 1 : n;
    const Y = tape.tensor(batch, m, d);
    /** @type {Record<"x" | "w" | "y", object>[]} */
    const products = []; // for each output and each place of its window, in all sequences
    for (let t = 0; t < m; t++)
        for (let k = 0; k < window; k++) {
            const from = n - m + t - (window - 1 - k) * gap;
            if (from < 0) continue;
            products.push({
                x: { from, rows: batch, step: n }, // (B, d)
                w: { from: k * d, rows: d }, // (d, d)
                y: { from: t, rows: batch, step: m }, // (B, d)
            });
        }
    tape.record(
        () => {
            for (let at = 0; at < Y.size; at += d) Y.data.set(bias.data, at);
            for (const { x, w, y } of products)
                tape.addProduct(matrix(X, x), matrix(W, w), matrix(Y, y));
        },
        () => {
            for (let at = 0; at < Y.size; at++) bias.grad[at % d] += Y.grad[at];
            for (const { x, w, y } of products) {
                tape.addProduct(gradient(Y, y), transposed(matrix(W, w)), gradient(X, x));
                tape.addProduct(transposed(matrix(X, x)), gradient(Y, y), gradient(W, w));
            }
        },
    );
    return relu(tape, Y);
}
