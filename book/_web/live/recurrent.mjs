// @ts-check
// The translators of chapters 1 and 2, step by step: an encoder with two readers, and a decoder
// that gets one vector (Cho et al. 2014) or looks at every encoder state (Bahdanau et al. 2015).

import { Gru } from "./gru.mjs";
import { blend, LONGEST, linear, lookUp, scoresOf, weightsOf } from "./steps.mjs";
import { Table } from "./weights.mjs";

/** @typedef {import("./weights.mjs").Weights} Weights */

/** The encoder: a reader from the left and one from the right. */
class Encoder {
    /** @param {Weights} weights */
    constructor(weights) {
        const { memory } = weights;
        this.embedding = weights.get("encoder.embedding.weight");
        this.readers = ["", "_reverse"].map((end) => new Gru(weights, "encoder.rnn", `_l0${end}`));
        const { d } = this.readers[0];
        this.words = new Table(memory, LONGEST, this.embedding.width);
        this.states = new Table(memory, LONGEST, 2 * d);
        this.context = new Table(memory, 1, 2 * d); // c: the last state of each reader
        this.n = 0;
    }

    /** @param {ArrayLike<number>} ids of the source, at most LONGEST */
    read(ids) {
        const n = ids.length;
        this.n = n;
        lookUp(this.embedding, ids, this.words);
        for (const [end, reader] of this.readers.entries()) {
            const { d, states } = reader;
            linear(this.words, reader.W_told, reader.told_bias, reader.told, { rows: n });
            states.data.fill(0, 0, d);
            for (let t = 0; t < n; t++) {
                const at = end ? n - 1 - t : t;
                reader.step(at, t, t + 1);
                const state = states.data.subarray((t + 1) * d, (t + 2) * d);
                this.states.data.set(state, at * 2 * d + end * d);
                if (t === n - 1) this.context.data.set(state, end * d);
            }
        }
    }
}

/** Logits of the next word, from the matrix that embeds it (Press and Wolf 2017). */
class ReadOut {
    /** @param {Weights} weights */
    constructor(weights) {
        this.W = weights.get("decoder.read_out.to_embedding.weight");
        this.bias = weights.get("decoder.read_out.to_embedding.bias");
        this.embedding = weights.get("decoder.embedding.weight");
        this.logits_bias = weights.get("decoder.read_out.to_logits.bias");
        this.features = new Table(weights.memory, 1, this.W.rows);
        this.logits = new Table(weights.memory, 1, this.embedding.rows);
    }

    /** @param {[Table, number][]} parts tables to concatenate, and the row of each */
    read(parts) {
        this.features.data.set(this.bias.data);
        let feature = 0;
        for (const [X, from] of parts) {
            linear(X, this.W, null, this.features, { from, to: 0, feature });
            feature += X.width;
        }
        linear(this.features, this.embedding, this.logits_bias, this.logits);
        return this.logits.data;
    }
}

/** The common base of both decoders. */
class Recurrent {
    /** @param {Weights} weights @param {string} end the suffix of the names of the decoder's GRU */
    constructor(weights, end) {
        this.about = weights.about;
        this.encoder = new Encoder(weights);
        this.to_state = weights.get("decoder.to_state.weight");
        this.to_state_bias = weights.get("decoder.to_state.bias");
        this.gru = new Gru(weights, "decoder.rnn", end);
        this.read_out = new ReadOut(weights);
        this.word = new Table(weights.memory, 1, this.encoder.embedding.width);
        this.written = 0;
    }

    /** @param {ArrayLike<number>} ids */
    begin(ids) {
        const { encoder, gru } = this;
        encoder.read(ids);
        linear(encoder.context, this.to_state, this.to_state_bias, gru.states);
        for (let j = 0; j < gru.d; j++) gru.states.data[j] = Math.tanh(gru.states.data[j]);
        this.written = 0;
    }
}

/** Chapter 1's translator: the decoder knows the source only through one vector. */
export class OneVector extends Recurrent {
    /** @param {Weights} weights */
    constructor(weights) {
        super(weights, "_l0");
        this.known = new Table(weights.memory, 1, 3 * this.gru.d); // the part of c in every step
    }

    /** Read a source. @param {ArrayLike<number>} ids */
    encode(ids) {
        this.begin(ids);
        const { gru, known } = this;
        const feature = this.word.width;
        linear(this.encoder.context, gru.W_told, gru.told_bias, known, { feature });
    }

    /**
     * Read the last word; return the logits of the next word, and no look.
     * @param {number} previous
     * @returns {{ logits: Float32Array, looks: Float32Array[] }}
     */
    step(previous) {
        const { gru, word, known, written } = this;
        lookUp(this.read_out.embedding, [previous], word);
        gru.told.data.set(known.data);
        linear(word, gru.W_told, null, gru.told);
        gru.step(0, written, written + 1);
        this.written++;
        const parts = [
            [gru.states, written + 1],
            [this.encoder.context, 0],
            [word, 0],
        ];
        return { logits: this.read_out.read(/** @type {[Table, number][]} */ (parts)), looks: [] };
    }
}

/** Chapter 2's translator: before each word the decoder looks at every state of the encoder. */
export class LooksBack extends Recurrent {
    /** @type {ReadonlySet<number>} */
    #hidden = new Set();

    /** @param {Weights} weights */
    constructor(weights) {
        super(weights, "");
        const { memory } = weights;
        const { d } = this.gru;
        this.W_s = weights.get("decoder.W_s.weight");
        this.W_h = weights.get("decoder.W_h.weight");
        this.v = weights.get("decoder.v.weight");
        this.nothing = new Table(memory, 1, d);
        this.keys = new Table(memory, LONGEST, d);
        this.asks = new Table(memory, 1, d);
        this.context = new Table(memory, 1, this.W_h.width);
    }

    /**
     * Read a source.
     * @param {ArrayLike<number>} ids
     * @param {ReadonlySet<number>} [hidden] positions that it may not look at
     */
    encode(ids, hidden = new Set()) {
        this.begin(ids);
        this.#hidden = hidden;
        linear(this.encoder.states, this.W_h, this.nothing, this.keys, { rows: ids.length });
    }

    /**
     * Read the last word; return the logits of the next word, and where it looked.
     * @param {number} previous
     * @returns {{ logits: Float32Array, looks: Float32Array[] }}
     */
    step(previous) {
        const { gru, word, asks, context, written, encoder } = this;
        lookUp(this.read_out.embedding, [previous], word);
        linear(gru.states, this.W_s, this.nothing, asks, { from: written, to: 0 });
        const scores = scoresOf(asks, this.keys, this.v, encoder.n);
        const weights = weightsOf(scores, this.#hidden);
        blend(weights, encoder.states, context);
        linear(word, gru.W_told, gru.told_bias, gru.told);
        linear(context, gru.W_told, null, gru.told, { feature: word.width });
        gru.step(0, written, written + 1);
        this.written++;
        const parts = [
            [gru.states, written + 1],
            [context, 0],
            [word, 0],
        ];
        const logits = this.read_out.read(/** @type {[Table, number][]} */ (parts));
        return { logits, looks: [weights] };
    }
}
