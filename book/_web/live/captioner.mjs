// @ts-check
// The captioner of chapter 3 (Xu et al. 2015). A CNN turns a picture into a grid of annotations,
// and a GRU looks at them before each word. The GRU receives where it looked, or all that it saw.

import { Memory } from "../learning/memory.mjs";
import { Layer } from "./cnn.mjs";
import { Gru } from "./gru.mjs";
import { blend, likeliest, linear, lookUp, START, STOP, scoresOf, weightsOf } from "./steps.mjs";
import { Table, Weights } from "./weights.mjs";

/**
 * @typedef {{ word: string, shares: Float32Array }} Said a word, and the shares with which places
 * were seen for it
 * @typedef {{ at: number, places: ReadonlySet<number> }} Forced the index of a word, and the only
 * places visible for it
 */

/** The pixels in a side of a picture, and the places in a side of the grid. */
export const [SIDE, GRID] = [48, 8];

/** The pixels that a place sees around its own cell. */
export const BEYOND = 4;

/** The number of features of an annotation for its position: row and column, from -1 to 1. */
const PLACE = 2;

/** The largest number of words in a caption. */
const LONGEST = 16;

export class Captioner {
    /**
     * @param {Uint8Array<ArrayBuffer>} bytes of the weights, as two planes
     * @param {Uint8Array<ArrayBuffer> | null} product of the matrix product in WebAssembly
     * @param {boolean} hard whether it sees only the place with the largest weight
     */
    constructor(bytes, product, hard) {
        const weights = new Weights(new Memory(product), bytes);
        const { memory } = weights;
        const get = (/** @type {string} */ name) => weights.get(name);
        this.words = weights.about.vocabularies[0];
        this.hard = hard;
        const [first, last] = [get("cnn.0.weight").rows, get("cnn.3.weight").rows];
        this.layers = [
            new Layer(weights, 0, { reads: 3, side: SIDE, filter: 5, stride: 3, padding: 1 }),
            new Layer(weights, 3, { reads: first, side: 16, filter: 4, stride: 2, padding: 1 }),
            new Layer(weights, 6, { reads: last, side: GRID, filter: 1, stride: 1, padding: 0 }),
        ];
        this.embedding = get("embedding.weight");
        this.gru = new Gru(weights, "rnn");
        this.W_s = get("W_s.weight");
        this.W_s_bias = get("W_s.bias");
        this.W_a = get("W_a.weight");
        this.v = get("v.weight");
        this.W_1 = get("read_out.0.weight");
        this.W_1_bias = get("read_out.0.bias");
        this.W_2 = get("read_out.2.weight");
        this.W_2_bias = get("read_out.2.bias");
        this.annotations = new Table(memory, GRID ** 2, last + PLACE);
        this.keys = new Table(memory, GRID ** 2, this.v.width);
        this.nothing = new Table(memory, 1, this.v.width);
        this.asks = new Table(memory, 1, this.v.width);
        this.word = new Table(memory, 1, this.embedding.width);
        this.context = new Table(memory, 1, last + PLACE);
        // What the GRU receives of the last context: its last features, which are the place, or all.
        this.told = new Table(memory, 1, this.gru.W_told.width - this.word.width);
        this.features = new Table(memory, 1, this.W_1.rows);
        this.logits = new Table(memory, 1, this.W_2.rows);
        this.written = 0;
    }

    /**
     * Encode a picture, before the first word.
     * @param {Float32Array} image (SIDE, SIDE, 3), 0 to 1
     */
    encode(image) {
        const { annotations, keys, W_a, nothing, gru, told } = this;
        let X = image;
        for (const layer of this.layers) X = layer.apply(X).data;
        const [all, d] = [annotations.width, annotations.width - PLACE];
        for (let at = 0; at < GRID ** 2; at++) {
            annotations.data.set(X.subarray(at * d, (at + 1) * d), at * all);
            annotations.data[at * all + d] = along(Math.floor(at / GRID));
            annotations.data[at * all + d + 1] = along(at % GRID);
        }
        linear(annotations, W_a, nothing, keys, { rows: GRID ** 2 });
        gru.states.data.fill(0, 0, gru.d);
        told.data.fill(0);
        this.written = 0;
    }

    /**
     * Read the last word.
     * @param {number} previous
     * @param {ReadonlySet<number>} [hidden] places that are hidden in this step
     * @returns {{ logits: Float32Array, shares: Float32Array }} the logits of the next word, and
     * the shares with which places were seen for it
     */
    step(previous, hidden = new Set()) {
        const { gru, word, told, asks, annotations, context, features, written } = this;
        lookUp(this.embedding, [previous], word);
        linear(word, gru.W_told, gru.told_bias, gru.told);
        linear(told, gru.W_told, null, gru.told, { feature: word.width });
        gru.step(0, written, written + 1);
        this.written++;
        const now = { from: written + 1, to: 0 };
        linear(gru.states, this.W_s, this.W_s_bias, asks, now);
        const weights = weightsOf(scoresOf(asks, this.keys, this.v, GRID ** 2), hidden);
        const shares = this.hard ? strongest(weights) : weights;
        blend(shares, annotations, context);
        told.data.set(context.data.subarray(-told.width));
        linear(context, this.W_1, this.W_1_bias, features);
        linear(gru.states, this.W_1, null, features, { ...now, feature: context.width });
        for (let j = 0; j < features.size; j++) features.data[j] = Math.tanh(features.data[j]);
        linear(features, this.W_2, this.W_2_bias, this.logits);
        return { logits: this.logits.data, shares };
    }

    /**
     * Caption a picture greedily.
     * @param {Float32Array} image (SIDE, SIDE, 3), 0 to 1
     * @param {Forced | null} [forced]
     * @returns {Said[]}
     */
    caption(image, forced = null) {
        this.encode(image);
        /** @type {Said[]} */
        const said = [];
        let previous = START;
        while (said.length < LONGEST) {
            const here = said.length === forced?.at;
            const { logits, shares } = this.step(
                previous,
                here ? others(forced.places) : new Set(),
            );
            previous = likeliest(logits);
            if (previous === STOP) break;
            said.push({ word: this.words[previous], shares });
        }
        return said;
    }
}

/** Return the coordinate of a row or a column, from -1 to 1. @param {number} at */
const along = (at) => (2 * at) / (GRID - 1) - 1;

/** Return shares that see only the place with the largest weight. @param {Float32Array} weights */
function strongest(weights) {
    const shares = new Float32Array(weights.length);
    shares[likeliest(weights)] = 1;
    return shares;
}

/** Return all places except these. @param {ReadonlySet<number>} places */
export const others = (places) =>
    new Set(Array.from({ length: GRID ** 2 }, (_, at) => at).filter((at) => !places.has(at)));
