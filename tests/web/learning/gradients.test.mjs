// Test the derivative of every operation against finite differences. tests/book/test_learning.py
// compares layers and whole machines with PyTorch.

import assert from "node:assert/strict";
import { test } from "node:test";
import { blend, scores, softmax } from "../../../book/_web/learning/attention.mjs";
import { convolution } from "../../../book/_web/learning/convolution.mjs";
import { add, lastPlace, layerNorm, linear, relu } from "../../../book/_web/learning/linear.mjs";
import { crossEntropy } from "../../../book/_web/learning/loss.mjs";
import { Memory } from "../../../book/_web/learning/memory.mjs";
import { addPositions, embedding, rotary } from "../../../book/_web/learning/positions.mjs";
import { Random } from "../../../book/_web/learning/random.mjs";
import { gru } from "../../../book/_web/learning/recurrence.mjs";
import { Parameters, Tape } from "../../../book/_web/learning/tape.mjs";
import { BYTES } from "./engine.mjs";

/**
 * @typedef {import("../../../book/_web/learning/tape.mjs").Tensor} Tensor
 * @typedef {(name: string, ...shape: number[]) => Tensor} Input
 */

/** The step of a difference, and the tolerated error of a derivative relative to the largest. */
const [STEP, OFF] = [1e-2, 2e-3];

/** @param {number} number moved away from 0, so that no difference crosses the kink of a ReLU */
const offTheKink = (number) => number + 2 * STEP * Math.sign(number);

/** @type {Record<string, (tape: Tape, input: Input) => Tensor>} */
const OPERATIONS = {
    linear: (tape, input) => linear(tape, input("X", 2, 3, 4), "layer.W", 5, true),
    add: (tape, input) => add(tape, input("X", 2, 3), input("Y", 2, 3)),
    "add, of the same twice": (tape, input) => add(tape, input("X", 2, 3), input("X", 2, 3)),
    relu: (tape, input) => relu(tape, input("X", 3, 4)),
    layerNorm: (tape, input) => layerNorm(tape, input("X", 3, 8), "layer.norm"),
    lastPlace: (tape, input) => lastPlace(tape, input("X", 2, 3, 4)),
    scores: (tape, input) => scores(tape, input("Q", 2, 3, 4), input("K", 2, 5, 4), 2, true),
    "scores, not scaled": (tape, input) =>
        scores(tape, input("Q", 2, 3, 4), input("K", 2, 5, 4), 1, false),
    softmax: (tape, input) => softmax(tape, input("S", 2, 2, 3, 5), false),
    "softmax, causal": (tape, input) => softmax(tape, input("S", 2, 2, 3, 5), true),
    blend: (tape, input) => blend(tape, input("A", 2, 2, 3, 5), input("V", 2, 5, 4)),
    embedding: (tape) => embedding(tape, Int32Array.of(0, 1, 2, 2, 1, 2), [1, 3, 4], 3),
    addPositions: (tape, input) => addPositions(tape, input("X", 2, 3, 4), "learned"),
    rotary: (tape, input) => rotary(tape, input("X", 2, 3, 8), 2, 5),
    gru: (tape, input) => gru(tape, input("X", 2, 4, 3), "layer"),
    convolution: (tape, input) => convolution(tape, input("X", 2, 6, 3), "layer", 3, 1, false),
    "convolution, dilated, at the end": (tape, input) =>
        convolution(tape, input("X", 2, 6, 3), "layer", 3, 2, true),
    crossEntropy: (tape, input) =>
        crossEntropy(tape, input("X", 2, 3, 4), Int32Array.of(1, 0, -1, 3, 2, 2)).loss,
    "crossEntropy of two questions": (tape, input) =>
        crossEntropy(tape, input("X", 3, 1, 8), Int32Array.of(1, 0, 3, 2, 2, 0)).loss,
};

for (const [name, operation] of Object.entries(OPERATIONS))
    test(`the derivative of ${name} equals its finite differences`, () => {
        const random = new Random(1, 0);
        const parameters = new Parameters(new Memory(BYTES), random);
        const tape = new Tape(parameters);
        const Y = operation(tape, (letter, ...shape) =>
            parameters.get(`input.${letter}`, shape, () => offTheKink(random.normal())),
        );
        const shares = Float32Array.from(Y.data, () => random.normal());
        const weighted = () => Y.data.reduce((sum, value, at) => sum + value * shares[at], 0);
        const loss = tape.tensor(1);
        tape.record(
            () => {},
            () => Y.grad.set(shares),
        );
        tape.forward();
        tape.backward(loss);
        for (const [parameter, { data, grad }] of parameters.all) {
            const derivatives = grad.slice();
            const largest = derivatives.reduce((most, slope) => Math.max(most, Math.abs(slope)), 0);
            for (const [at, value] of data.entries()) {
                const [after, before] = [STEP, -STEP].map((step) => {
                    data[at] = value + step;
                    tape.forward();
                    return weighted();
                });
                data[at] = value;
                const expected = (after - before) / (2 * STEP);
                assert.ok(
                    Math.abs(derivatives[at] - expected) <= OFF * Math.max(1, largest),
                    `${parameter}, number ${at}: ${derivatives[at]}, and the difference is ${expected}`,
                );
            }
        }
    });
