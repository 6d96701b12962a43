// @ts-check
// A machine: an embedding, one to three blocks that mix the tokens, and a linear read-out.

import { attention, mean } from "./attention.mjs";
import { convolution } from "./convolution.mjs";
import { add, feedForward, lastPlace, layerNorm, linear } from "./linear.mjs";
import { crossEntropy } from "./loss.mjs";
import { addPositions, embedding } from "./positions.mjs";
import { gru } from "./recurrence.mjs";
import { Tape } from "./tape.mjs";
import { TASKS } from "./tasks.mjs";

/**
 * @typedef {import("./tape.mjs").Parameters} Parameters
 * @typedef {import("./tape.mjs").Tensor} Tensor
 * @typedef {import("./settings.mjs").Settings} Settings
 */

/**
 * Build the graph of a machine for one batch size and one length. Graphs of the same machine share
 * its parameters.
 * @param {Parameters} parameters
 * @param {Settings} settings
 * @param {number} batch B
 * @param {number} length n
 * @param {boolean} everywhere whether all places are read, so that m is n; otherwise only the last,
 * and m is 1
 */
export function graph(parameters, settings, batch, length, everywhere) {
    const { layers, norm, positions, width } = settings;
    const task = TASKS[settings.task];
    const tape = new Tape(parameters);
    const symbols = new Int32Array(batch * length * task.each);
    let X = embedding(tape, symbols, [batch, length, width], task.symbols.length); // (B, n, d)
    if (positions === "learned" || positions === "sinusoidal") X = addPositions(tape, X, positions);
    /** @type {Tensor[]} */
    const maps = [];
    for (let layer = 1; layer <= layers; layer++) {
        const last = layer === layers && !everywhere;
        const { Y, A } = block(tape, X, settings, layer, last);
        X = Y;
        if (A) maps.push(A); // (B, h, m or n, n)
    }
    const vectors = norm ? layerNorm(tape, X, "read-out.norm") : X; // (B, m, d)
    const classes = task.questions * task.answers.length;
    const logits = linear(tape, vectors, "read-out.W", classes, true); // (B, m, q c)
    const right = new Int32Array(logits.rows * task.questions);
    const { loss, probabilities } = crossEntropy(tape, logits, right);
    return { tape, symbols, right, maps, vectors, probabilities, loss };
}

/**
 * A sublayer that mixes the tokens, and the feed-forward sublayer if there is one. If the settings
 * ask for it, a sublayer reads the norm of its input (Xiong et al. 2020), and its output is added
 * to its input.
 * @param {Tape} tape
 * @param {Tensor} X (B, n, d)
 * @param {Settings} settings
 * @param {number} layer from 1
 * @param {boolean} last whether only the last place is computed
 * @returns {{ Y: Tensor, A: Tensor | null }} the output (B, m, d), and the weights (B, h, m, n) if
 * it has any
 */
function block(tape, X, settings, layer, last) {
    const { norm, residual } = settings;
    const name = `block ${layer}`;
    const mixed = mix(tape, norm ? layerNorm(tape, X, `${name}.norm_1`) : X, settings, layer, last);
    let { Y } = mixed;
    if (residual) Y = add(tape, last ? lastPlace(tape, X) : X, Y);
    if (settings.feedForward) {
        const bent = feedForward(tape, norm ? layerNorm(tape, Y, `${name}.norm_2`) : Y, name);
        Y = residual ? add(tape, Y, bent) : bent;
    }
    return { Y, A: mixed.A };
}

/** @type {typeof block} */
function mix(tape, X, settings, layer, last) {
    const { body, window, dilated, causal } = settings;
    const name = `block ${layer}`;
    if (body === "mean") return mean(tape, X, causal, last);
    if (body === "gru") {
        const states = gru(tape, X, name);
        return { Y: last ? lastPlace(tape, states) : states, A: null };
    }
    if (body === "convolution") {
        const gap = dilated ? 2 ** (layer - 1) : 1;
        return { Y: convolution(tape, X, name, window, gap, last), A: null };
    }
    return attention(tape, X, settings, name, last);
}
