// @ts-check
// Chapter 10's GPT (solutions/gpt_and_bert.py): from a text to the logits of the next token, and
// what each head looked at. A text has 64 tokens at most, so each step reads it anew.

import { EncoderBlocks, linear } from "../encoder_blocks.mjs";
import { Memory } from "../learning/memory.mjs";
import { Tokens } from "./byte_pairs.mjs";
import { Weights } from "./weights.mjs";

/** @typedef {import("../encoder_blocks.mjs").Look} Look */
/** @typedef {{ logits: number[], looks: Look[] }} Reading looks: of the heads, block by block */

export class GPT {
    /** @param {Uint8Array<ArrayBuffer>} bytes of the weights, as two planes */
    constructor(bytes) {
        const weights = new Weights(new Memory(null), bytes);
        const { merges, blocks, heads } = /** @type {any} */ (weights.about);
        this.tokens = new Tokens(merges);
        this.embedding = weights.get("embedding.weight");
        this.longest = weights.get("positions.weight").rows;
        this.blocks = new EncoderBlocks((name) => weights.get(name), {
            blocks,
            heads,
            causal: true,
        });
    }

    /**
     * Read a text of 1 to `longest` tokens.
     * @param {number[]} ids
     * @param {ReadonlySet<number>} [even] the blocks whose heads look at all tokens evenly
     * @returns {Reading}
     */
    read(ids, even) {
        const { states, looks } = this.blocks.read(ids, even);
        const { width, data } = states;
        const last = { rows: 1, width, data: data.subarray((ids.length - 1) * width) };
        return { logits: [...linear(last, this.embedding).data], looks };
    }
}
