// @ts-check
// A gated recurrent unit as PyTorch keeps it, step by step.

import { cell } from "../learning/recurrence.mjs";
import { LONGEST, linear } from "./steps.mjs";
import { Table } from "./weights.mjs";

/** @typedef {import("./weights.mjs").Weights} Weights */

/** What it is told comes first, and the state after it. */
export class Gru {
    /**
     * @param {Weights} weights
     * @param {string} name before each weight's own
     * @param {string} end behind it
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
        this.states = new Table(weights.memory, LONGEST + 1, this.d); // the first is the start
        this.gates = new Float32Array(3 * this.d);
    }

    /** Take one step, from state row `from` to row `to`, with what stands in a row of `told`. */
    step(/** @type {number} */ row, /** @type {number} */ from, /** @type {number} */ to) {
        const { d, told, heard, states, gates } = this;
        linear(states, this.W_heard, this.heard_bias, heard, { from, to: 0 });
        const [t, before, after] = [3 * d * row, from * d, to * d];
        cell(d, told.data, t, heard.data, 0, states.data, before, after, gates, 0);
    }
}
