// @ts-check
// Chapter 9's translator (Vaswani et al. 2017), with the norm before each part. The encoder reads
// all words at once; the decoder keeps the keys and values of the words it has written.

import { normalise } from "../learning/linear.mjs";
import { LONGEST, linear, lookUp, weightsOf } from "./steps.mjs";
import { Table } from "./weights.mjs";

/** @typedef {import("./weights.mjs").Weights} Weights */
/** @typedef {{ block: number, head: number }} Head of the decoder's look at the source */

/** The blocks in each stack, and the heads in each attention layer. */
export const [BLOCKS, HEADS] = [2, 4];

/** A layer norm, a linear map or a similar layer, with the names of a state dictionary. */
class Part {
    /** @param {Weights} weights @param {string} name */
    constructor(weights, name) {
        this.weight = weights.get(`${name}.weight`);
        this.bias = weights.get(`${name}.bias`);
    }

    /** X Wᵀ + b. @param {Table} X @param {Table} Y @param {Parameters<typeof linear>[4]} [part] */
    apply(X, Y, part) {
        linear(X, this.weight, this.bias, Y, part);
    }

    /** Normalise the first rows of X into Y. @param {Table} X @param {Table} Y @param {number} rows */
    norm(X, Y, rows) {
        const d = X.width;
        for (let at = 0; at < rows * d; at += d) {
            normalise(X.data, Y.data, at, d);
            for (let j = 0; j < d; j++)
                Y.data[at + j] = Y.data[at + j] * this.weight.data[j] + this.bias.data[j];
        }
    }
}

/** Attention with several heads, which keeps all keys and values that it was given. */
class Attention {
    /** @param {Weights} weights @param {string} name */
    constructor(weights, name) {
        const { memory } = weights;
        this.W_q = new Part(weights, `${name}.W_q`);
        this.W_k = new Part(weights, `${name}.W_k`);
        this.W_v = new Part(weights, `${name}.W_v`);
        this.W_o = new Part(weights, `${name}.W_o`);
        const d = this.W_q.weight.width;
        this.K = new Table(memory, LONGEST, d);
        this.V = new Table(memory, LONGEST, d);
        this.Q = new Table(memory, 1, d);
        this.found = new Table(memory, 1, d);
        this.width = d / HEADS;
    }

    /** Keep keys and values of some rows. @param {Table} X @param {{ rows: number, to: number }} to */
    keep(X, { rows, to }) {
        this.W_k.apply(X, this.K, { rows, from: 0, to });
        this.W_v.apply(X, this.V, { rows, from: 0, to });
    }

    /**
     * Attend from a row of X to the first n keys, and add the output to a row of Y.
     * @param {Table} X
     * @param {number} from
     * @param {Table} Y
     * @param {number} n
     * @param {{ hidden?: ReadonlySet<number>, off?: ReadonlySet<number> }} [changed] off: heads
     * @returns {Float32Array[]} the weights of each head
     */
    ask(X, from, Y, n, { hidden = new Set(), off = new Set() } = {}) {
        const { Q, K, V, found, width } = this;
        const d = Q.width;
        this.W_q.apply(X, Q, { from, to: 0 });
        const looks = Array.from({ length: HEADS }, (_, head) => {
            const scores = new Float32Array(n);
            for (let key = 0; key < n; key++) {
                let sum = 0;
                for (let j = head * width; j < (head + 1) * width; j++)
                    sum += Q.data[j] * K.data[key * d + j];
                scores[key] = sum / Math.sqrt(width);
            }
            return weightsOf(scores, hidden);
        });
        found.data.fill(0);
        for (const [head, weights] of looks.entries()) {
            if (off.has(head)) continue;
            for (const [key, weight] of weights.entries())
                for (let j = head * width; j < (head + 1) * width; j++)
                    found.data[j] += weight * V.data[key * d + j];
        }
        const { weight, bias } = this.W_o;
        for (let j = 0; j < d; j++) Y.data[from * d + j] += bias.data[j];
        linear(found, weight, null, Y, { from: 0, to: from });
        return looks;
    }
}

/** The feed-forward network: wider, ReLU, narrower. */
class FeedForward {
    /** @param {Weights} weights @param {string} name @param {number} rows */
    constructor(weights, name, rows) {
        this.W_1 = new Part(weights, `${name}.W_1`);
        this.W_2 = new Part(weights, `${name}.W_2`);
        this.wide = new Table(weights.memory, rows, this.W_1.weight.rows);
    }

    /** Add the output for the first rows of X to those of Y. */
    add(/** @type {Table} */ X, /** @type {Table} */ Y, /** @type {number} */ rows) {
        const { wide, W_1, W_2 } = this;
        W_1.apply(X, wide, { rows });
        for (let at = 0; at < rows * wide.width; at++) wide.data[at] = Math.max(0, wide.data[at]);
        for (let at = 0; at < rows * Y.width; at++) Y.data[at] += W_2.bias.data[at % Y.width];
        linear(wide, W_2.weight, null, Y, { rows });
    }
}

/** A stack's embedding, with sinusoids (Vaswani et al. 2017, section 3.5). */
class Embedding {
    /** @param {Weights} weights @param {string} name */
    constructor(weights, name) {
        this.table = weights.get(`${name}.embedding.weight`);
    }

    /** @param {ArrayLike<number>} ids @param {Table} X @param {number} position of the first */
    read(ids, X, position) {
        const d = X.width;
        lookUp(this.table, ids, X);
        for (let row = 0; row < ids.length; row++)
            for (let j = 0; j < d; j++) {
                const angle = (position + row) / 10000 ** ((2 * Math.floor(j / 2)) / d);
                const wave = j % 2 ? Math.cos(angle) : Math.sin(angle);
                X.data[row * d + j] = X.data[row * d + j] * Math.sqrt(d) + wave;
            }
    }
}

export class Transformer {
    /** @type {ReadonlySet<number>} */
    #hidden = new Set();
    /** @type {Head | null} */
    #off = null;
    #moved = 0;
    #written = 0;
    #n = 0;

    /** @param {Weights} weights */
    constructor(weights) {
        this.about = weights.about;
        const { memory } = weights;
        this.reads = new Embedding(weights, "encoder.stack");
        this.writes = new Embedding(weights, "decoder.stack");
        const d = this.reads.table.width;
        this.readers = Array.from({ length: BLOCKS }, (_, layer) => {
            const name = `encoder.stack.blocks.${layer}`;
            return {
                attention: new Attention(weights, `${name}.attention`),
                forward: new FeedForward(weights, `${name}.feed_forward`, LONGEST),
                norms: [1, 2].map((one) => new Part(weights, `${name}.norm_${one}`)),
            };
        });
        this.writers = Array.from({ length: BLOCKS }, (_, layer) => {
            const name = `decoder.stack.blocks.${layer}`;
            return {
                own: new Attention(weights, `${name}.self_attention`),
                cross: new Attention(weights, `${name}.cross_attention`),
                forward: new FeedForward(weights, `${name}.feed_forward`, 1),
                norms: [1, 2, 3].map((one) => new Part(weights, `${name}.norm_${one}`)),
            };
        });
        this.read_norm = new Part(weights, "encoder.stack.norm");
        this.write_norm = new Part(weights, "decoder.stack.norm");
        this.to_logits = new Part(weights, "decoder.stack.to_logits");
        this.X = new Table(memory, LONGEST, d);
        this.normed = new Table(memory, LONGEST, d);
        this.x = new Table(memory, 1, d);
        this.one = new Table(memory, 1, d);
        this.logits = new Table(memory, 1, this.to_logits.weight.rows);
    }

    /**
     * Read a source.
     * @param {ArrayLike<number>} ids
     * @param {ReadonlySet<number>} [hidden] positions that the decoder may not look at
     * @param {{ moved?: number, off?: Head | null }} [changed] moved: added to all positions. off:
     * a head of the cross-attention that is switched off
     */
    encode(ids, hidden = new Set(), { moved = 0, off = null } = {}) {
        const { X, normed } = this;
        const n = ids.length;
        this.#hidden = hidden;
        this.#off = off;
        this.#moved = moved;
        this.#n = n;
        this.#written = 0;
        this.reads.read(ids, X, moved);
        for (const { attention, forward, norms } of this.readers) {
            norms[0].norm(X, normed, n);
            attention.keep(normed, { rows: n, to: 0 });
            for (let row = 0; row < n; row++) attention.ask(normed, row, X, n);
            norms[1].norm(X, normed, n);
            forward.add(normed, X, n);
        }
        this.read_norm.norm(X, normed, n);
        for (const { cross } of this.writers) cross.keep(normed, { rows: n, to: 0 });
    }

    /**
     * Read the last word; return the logits of the next word, and the look of each head at the
     * source, block by block.
     * @param {number} previous
     * @returns {{ logits: Float32Array, looks: Float32Array[] }}
     */
    step(previous) {
        const { x, one } = this;
        const looks = [];
        this.writes.read([previous], x, this.#moved + this.#written);
        for (const [block, { own, cross, forward, norms }] of this.writers.entries()) {
            norms[0].norm(x, one, 1);
            own.keep(one, { rows: 1, to: this.#written });
            own.ask(one, 0, x, this.#written + 1);
            norms[1].norm(x, one, 1);
            const off = new Set(this.#off?.block === block ? [this.#off.head] : []);
            looks.push(...cross.ask(one, 0, x, this.#n, { hidden: this.#hidden, off }));
            norms[2].norm(x, one, 1);
            forward.add(one, x, 1);
        }
        this.#written++;
        this.write_norm.norm(x, one, 1);
        this.to_logits.apply(one, this.logits);
        return { logits: this.logits.data, looks };
    }
}
