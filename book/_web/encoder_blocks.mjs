// @ts-check
// The course's encoder blocks with the norm before each part (solutions/transformer_block.py), in
// the page: from the ids of a text to what comes out of the blocks, and what each head looked at.

import { softmax } from "./small_attention.mjs";

/** @typedef {{ rows: number, width: number, data: Float32Array }} Table */
/** @typedef {(name: string) => Table} Weights by the names of the state dictionary */
/** @typedef {number[][]} Look the weights of a head: for each token, of the tokens it may see */

/** PyTorch's and the course's, in a layer norm. */
const EPS = 1e-5;

/**
 * X Wᵀ + b, for rows of X.
 * @param {Table} X
 * @param {Table} W
 * @param {Table} [b]
 * @returns {Table}
 */
export function linear(X, W, b) {
    const Y = { rows: X.rows, width: W.rows, data: new Float32Array(X.rows * W.rows) };
    for (let row = 0; row < X.rows; row++)
        for (let out = 0; out < W.rows; out++) {
            let sum = b ? b.data[out] : 0;
            for (let j = 0; j < W.width; j++)
                sum += X.data[row * X.width + j] * W.data[out * W.width + j];
            Y.data[row * W.rows + out] = sum;
        }
    return Y;
}

export class EncoderBlocks {
    #weights;

    /**
     * @param {Weights} weights
     * @param {{ blocks: number, heads: number, causal: boolean }} form heads: of each block
     */
    constructor(weights, { blocks, heads, causal }) {
        this.#weights = weights;
        this.blocks = blocks;
        this.heads = heads;
        this.causal = causal;
    }

    /** @param {Table} X @param {string} name */
    #linear(X, name) {
        return linear(X, this.#weights(`${name}.weight`), this.#weights(`${name}.bias`));
    }

    /** @param {Table} X @param {string} name @returns {Table} */
    #norm(X, name) {
        const [g, b] = [this.#weights(`${name}.weight`).data, this.#weights(`${name}.bias`).data];
        const d = X.width;
        const data = new Float32Array(X.data.length);
        for (let row = 0; row < X.rows; row++) {
            const x = X.data.subarray(row * d, (row + 1) * d);
            const mean = x.reduce((sum, one) => sum + one, 0) / d;
            const variance = x.reduce((sum, one) => sum + (one - mean) ** 2, 0) / d;
            for (let j = 0; j < d; j++)
                data[row * d + j] = ((x[j] - mean) / Math.sqrt(variance + EPS)) * g[j] + b[j];
        }
        return { ...X, data };
    }

    /**
     * @param {Table} X
     * @param {string} name
     * @param {Look[]} looks gets one for each head
     * @param {boolean} even whether all weights of a row are the same, whatever the scores are
     */
    #attention(X, name, looks, even) {
        const [Q, K, V] = ["W_q", "W_k", "W_v"].map((one) => this.#linear(X, `${name}.${one}`));
        const found = { ...Q, data: new Float32Array(Q.data.length) };
        const [d, width] = [Q.width, Q.width / this.heads];
        for (let first = 0; first < d; first += width) {
            /** @type {Look} */
            const look = [];
            for (let row = 0; row < X.rows; row++) {
                const scores = [];
                for (let key = 0; key < (this.causal ? row + 1 : X.rows); key++) {
                    let sum = 0;
                    for (let j = first; j < first + width; j++)
                        sum += Q.data[row * d + j] * K.data[key * d + j];
                    scores.push(sum / Math.sqrt(width));
                }
                look.push(even ? scores.map(() => 1 / scores.length) : softmax(scores));
                for (const [key, weight] of look[row].entries())
                    for (let j = first; j < first + width; j++)
                        found.data[row * d + j] += weight * V.data[key * d + j];
            }
            looks.push(look);
        }
        return this.#linear(found, `${name}.W_o`);
    }

    /**
     * Read a text. Returns what comes out of the last norm, one row for each token, and the looks
     * of all heads, block by block.
     * @param {ArrayLike<number>} tokens
     * @param {ReadonlySet<number>} [even] the blocks whose heads look at all tokens evenly
     * @returns {{ states: Table, looks: Look[] }}
     */
    read(tokens, even = new Set()) {
        const words = this.#weights("embedding.weight");
        const places = this.#weights("positions.weight");
        const [n, d] = [tokens.length, words.width];
        /** @type {Table} */
        let X = { rows: n, width: d, data: new Float32Array(n * d) };
        for (let row = 0; row < n; row++)
            for (let j = 0; j < d; j++)
                X.data[row * d + j] = words.data[tokens[row] * d + j] + places.data[row * d + j];
        const added = (/** @type {Table} */ Y) => ({
            ...X,
            data: X.data.map((one, at) => one + Y.data[at]),
        });
        /** @type {Look[]} */
        const looks = [];
        for (let block = 0; block < this.blocks; block++) {
            const name = `blocks.${block}`;
            const asked = this.#norm(X, `${name}.norm_1`);
            X = added(this.#attention(asked, `${name}.attention`, looks, even.has(block)));
            const wide = this.#linear(this.#norm(X, `${name}.norm_2`), `${name}.feed_forward.W_1`);
            wide.data = wide.data.map((one) => Math.max(0, one));
            X = added(this.#linear(wide, `${name}.feed_forward.W_2`));
        }
        return { states: this.#norm(X, "norm"), looks };
    }
}
