// @ts-check
// Chapter 10's small encoder: from words with gaps to what may stand at each place. It computes what
// `Restorer` does (solutions/experiments/gpt_and_bert/restoring.py), for eight words at a time.

import { EncoderBlocks, linear } from "./encoder_blocks.mjs";
import { halves } from "./half.mjs";
import { softmax } from "./small_attention.mjs";

/** @typedef {import("./encoder_blocks.mjs").Table} Table */
/** @typedef {{ title: string, causal: boolean, weights: string }} Kept a machine in the page */

export class Restorer {
    /** @type {Map<string, Table>} */
    #tables = new Map();

    /**
     * @param {Kept} kept
     * @param {[string, number[]][]} tensors the names and shapes, in the order of the weights
     * @param {number} heads of each block
     */
    constructor({ causal, weights }, tensors, heads) {
        const numbers = halves(weights);
        let at = 0;
        for (const [name, shape] of tensors) {
            const rows = shape.length > 1 ? shape[0] : 1;
            const size = shape.reduce((a, b) => a * b, 1);
            this.#tables.set(name, {
                rows,
                width: size / rows,
                data: numbers.subarray(at, at + size),
            });
            at += size;
        }
        const blocks = tensors.filter(([name]) => name.endsWith("W_1.weight")).length;
        this.blocks = new EncoderBlocks((name) => this.#get(name), { blocks, heads, causal });
    }

    /** @param {string} name @returns {Table} */
    #get(name) {
        const table = this.#tables.get(name);
        if (!table) throw new Error(`the machine has no ${name}`);
        return table;
    }

    /**
     * Return the probability of each word at each place.
     * @param {number[]} tokens
     * @returns {number[][]}
     */
    read(tokens) {
        const { states } = this.blocks.read(tokens);
        const { width, data } = linear(
            states,
            this.#get("read_out.weight"),
            this.#get("read_out.bias"),
        );
        return tokens.map((_, row) => softmax([...data.subarray(row * width, (row + 1) * width)]));
    }
}
