// @ts-check
// Tokens and their positions: the embedding, positions that are added to it, and rotary positions.

import { add } from "./linear.mjs";

/**
 * @typedef {import("./tape.mjs").Tape} Tape
 * @typedef {import("./tape.mjs").Tensor} Tensor
 * @typedef {import("./random.mjs").Random} Random
 */

/** The initial standard deviation of the embedding. */
const START = 0.5;
/** The number of places in the longest test sequence. */
export const LONGEST = 128;

/** @param {Random} random */
const draw = (random) => START * random.normal();

/**
 * Return for each place the sum of its symbols' rows.
 * @param {Tape} tape
 * @param {Int32Array} symbols (B, n, each), each below `count`; read again in every step
 * @param {[number, number, number]} shape B, n, d
 * @param {number} count the number of rows in the table
 * @returns {Tensor} (B, n, d)
 */
export function embedding(tape, symbols, shape, count) {
    const d = shape[2];
    const X = tape.tensor(...shape);
    const table = tape.parameters.get("embedding.symbols", [count, d], draw);
    const each = symbols.length / X.rows;
    tape.record(
        () => {
            X.data.fill(0);
            for (const [at, symbol] of symbols.entries()) {
                const row = Math.floor(at / each) * d;
                for (let j = 0; j < d; j++) X.data[row + j] += table.data[symbol * d + j];
            }
        },
        () => {
            for (const [at, symbol] of symbols.entries()) {
                const row = Math.floor(at / each) * d;
                for (let j = 0; j < d; j++) table.grad[symbol * d + j] += X.grad[row + j];
            }
        },
    );
    return X;
}

/** The angle of pair i of d features at a position (Vaswani et al. 2017, section 3.5). */
const angle = (/** @type {number} */ position, /** @type {number} */ i, /** @type {number} */ d) =>
    position / 10000 ** ((2 * i) / d);

/**
 * Add to each token the row of its position: learned (Gehring et al. 2017) or sinusoidal (Vaswani
 * et al. 2017, section 3.5).
 * @param {Tape} tape
 * @param {Tensor} X (B, n, d)
 * @param {string} kind "learned" or "sinusoidal"
 */
export function addPositions(tape, X, kind) {
    const [batch, n, d] = X.shape;
    const rows = tape.tensor(...X.shape);
    if (kind === "learned") {
        const table = tape.parameters.get("embedding.positions", [LONGEST, d], draw);
        tape.record(
            () => {
                for (let b = 0; b < batch; b++)
                    rows.data.set(table.data.subarray(0, n * d), b * n * d);
            },
            () => {
                for (let at = 0; at < rows.size; at++) table.grad[at % (n * d)] += rows.grad[at];
            },
        );
    } else
        for (let at = 0; at < rows.size; at++) {
            const wave = angle(Math.floor(at / d) % n, Math.floor((at % d) / 2), d);
            rows.data[at] = START * (at % 2 ? Math.cos(wave) : Math.sin(wave));
        }
    return add(tape, X, rows);
}

/**
 * Turn pairs of features of every head by an angle proportional to the token's position (Su et al.
 * 2021, section 3.2), so that a score depends on the distance between query and key.
 * @param {Tape} tape
 * @param {Tensor} X queries or keys (B, m, d)
 * @param {number} heads
 * @param {number} n the number of places of the sequence; X has the last m of them
 * @returns {Tensor} (B, m, d)
 */
export function rotary(tape, X, heads, n) {
    const [, m, d] = X.shape;
    const Y = tape.tensor(...X.shape);
    const [cosine, sine] = [Math.cos, Math.sin].map((wave) =>
        Float32Array.from({ length: (m * d) / 2 }, (_, at) => {
            const [row, pair] = [Math.floor((2 * at) / d), at % (d / heads / 2)];
            return wave(angle(n - m + row, pair, d / heads));
        }),
    );
    tape.record(
        () => {
            for (let at = 0; at < Y.size; at += 2) {
                const pair = (at / 2) % cosine.length;
                const [x, y, c, s] = [X.data[at], X.data[at + 1], cosine[pair], sine[pair]];
                Y.data[at] = x * c - y * s;
                Y.data[at + 1] = x * s + y * c;
            }
        },
        () => {
            for (let at = 0; at < Y.size; at += 2) {
                const pair = (at / 2) % cosine.length;
                const [x, y, c, s] = [Y.grad[at], Y.grad[at + 1], cosine[pair], sine[pair]];
                X.grad[at] += x * c + y * s; // turned back
                X.grad[at + 1] += y * c - x * s;
            }
        },
    );
    return Y;
}
