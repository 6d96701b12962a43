// @ts-check
// A trained translator, from bytes to sentences; it takes the likeliest word at each step.

import { Memory } from "../learning/memory.mjs";
import { LooksBack, OneVector } from "./recurrent.mjs";
import { LONGEST, likeliest, START, STOP, UNKNOWN } from "./steps.mjs";
import { Transformer } from "./transformer.mjs";
import { Weights } from "./weights.mjs";

/**
 * @typedef {{ word: string, looks: Float32Array[] }} Written a word, and the weights of each look
 * @typedef {import("./transformer.mjs").Head} Head
 * @typedef {{ hidden?: ReadonlySet<number>, moved?: number, off?: Head | null }} Changed positions
 * that are hidden; a number that is added to all positions; a head that is switched off
 */

/** @type {Record<string, new (weights: Weights) => OneVector | LooksBack | Transformer>} */
const MACHINES = { bottleneck: OneVector, attention: LooksBack, transformer: Transformer };

export class Translator {
    /**
     * @param {Uint8Array<ArrayBuffer>} bytes of the weights, as two planes
     * @param {Uint8Array<ArrayBuffer> | null} product of the matrix product in WebAssembly
     */
    constructor(bytes, product) {
        const weights = new Weights(new Memory(product), bytes);
        const { name, vocabularies } = weights.about;
        this.machine = new MACHINES[name](weights);
        this.words = vocabularies[1];
        this.ids = new Map(vocabularies[0].map((word, id) => [word, id]));
    }

    /** Return the ids of a source. @param {string[]} words at most LONGEST */
    read(words) {
        if (words.length > LONGEST)
            throw new RangeError(`${words.length} words, and the machine reads ${LONGEST} at most`);
        return words.map((word) => this.ids.get(word) ?? UNKNOWN);
    }

    /**
     * Write the translation; the generator yields one word at a time.
     * @param {string[]} source
     * @param {Changed} [changed]
     * @returns {Generator<Written>}
     */
    *write(source, { hidden, ...changed } = {}) {
        this.machine.encode(this.read(source), hidden, changed);
        let previous = START;
        for (let at = 0; at < LONGEST; at++) {
            const { logits, looks } = this.machine.step(previous);
            previous = likeliest(logits);
            if (previous === STOP) return;
            yield { word: this.words[previous], looks };
        }
    }
}
