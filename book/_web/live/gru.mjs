// @ts-check
// A gated recurrent unit with PyTorch's weights, step by step.

import { cell } from "../learning/recurrence.mjs";
import { LONGEST, linear } from "./steps.mjs";
import { Table } from "./weights.mjs";

/** @typedef {import("./weights.mjs").Weights} Weights */

/** A GRU. In each gate, the input's part comes before the state's part. */
export class Gru {
    /**
     * @param {Weights} weights
     * @param {string} name the prefix of each weight's name
     * @param {string} end the suffix of each weight's name
     */
    constructor(weights, name, end = "") {
        const get = (/** @type {string} */ one) => weights.get(`${name}.${one}${end}`);
        this.W_told = get("weight_ih");
        this.told_bias = get("bias_ih");
        this.W_heard = get("weight_hh");
        this.heard_bias = get("bias_hh");
        this.d = this.W_heard.width;
        this.told = new Table(weights.memory, LONGEST, 3 * this.d);
        this.heard = new Table(weights.memory, 1, 3 * this.d);
        this.states = new Table(weights.memory, LONGEST + 1, this.d); // row 0: initial state
        this.gates = new Float32Array(3 * this.d);
    }

    /** Take a step from state row `from` to row `to`, with the input's part in a row of `told`. */
    step(/** @type {number} */ row, /** @type {number} */ from, /** @type {number} */ to) {
        const { d, told, heard, states, gates } = this;
        linear(states, this.W_heard, this.heard_bias, heard, { from, to: 0 });
        const [t, before, after] = [3 * d * row, from * d, to * d];
        cell(d, told.data, t, heard.data, 0, states.data, before, after, gates, 0);
    }
}
