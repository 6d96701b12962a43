// @ts-check
// Operations on each token separately: a linear map, a sum, ReLU, the feed-forward network, layer
// norm. R is the number of rows (tokens of all sequences), d the number of features.

import { transposed } from "./memory.mjs";
import { gradient, matrix } from "./tape.mjs";

/**
 * @typedef {import("./tape.mjs").Tape} Tape
 * @typedef {import("./tape.mjs").Tensor} Tensor
 * @typedef {import("./random.mjs").Random} Random
 */

/**
 * Return the initial distribution of a matrix: uniform, with a variance that keeps outputs as large
 * as inputs (LeCun et al. 1998, "Efficient backprop", section 4.6).
 * @param {number} inputs the number of input features
 */
export function startsIn(inputs) {
    const reach = Math.sqrt(3 / inputs);
    /** @param {Random} random */
    return (random) => reach * (2 * random.uniform() - 1);
}

/**
 * X W + b.
 * @param {Tape} tape
 * @param {Tensor} X (..., d)
 * @param {string} name of W (d, width), and with `.bias` of b (width)
 * @param {number} width
 * @param {boolean} biased whether there is a b
 * @returns {Tensor} (..., width)
 */
export function linear(tape, X, name, width, biased = false) {
    const draw = startsIn(X.width);
    const { parameters } = tape;
    const W = parameters.get(name, [X.width, width], draw);
    const b = biased ? parameters.get(`${name}.bias`, [width], draw) : null;
    const Y = tape.tensor(...X.shape.slice(0, -1), width);
    tape.record(
        () => {
            for (let at = 0; at < Y.size; at += width)
                if (b) Y.data.set(b.data, at);
                else Y.data.fill(0, at, at + width);
            tape.addProduct(matrix(X), matrix(W), matrix(Y));
        },
        () => {
            const dY = gradient(Y);
            tape.addProduct(dY, transposed(matrix(W)), gradient(X));
            tape.addProduct(transposed(matrix(X)), dY, gradient(W));
            if (!b) return;
            for (let at = 0; at < Y.size; at++) {
                b.grad[at % width] += Y.grad[at];
            }
        },
    );
    return Y;
}

/**
 * X + Y, for the residual connection around a sublayer (He et al. 2016).
 * @param {Tape} tape
 * @param {Tensor} X (..., d)
 * @param {Tensor} Y of the same shape
 */
export function add(tape, X, Y) {
    const Z = tape.tensor(...X.shape);
    tape.record(
        () => {
            for (let at = 0; at < Z.size; at++) Z.data[at] = X.data[at] + Y.data[at];
        },
        () => {
            for (let at = 0; at < Z.size; at++) {
                X.grad[at] += Z.grad[at];
                Y.grad[at] += Z.grad[at];
            }
        },
    );
    return Z;
}

/**
 * max(X, 0).
 * @param {Tape} tape
 * @param {Tensor} X
 */
export function relu(tape, X) {
    const Y = tape.tensor(...X.shape);
    tape.record(
        () => {
            for (let at = 0; at < Y.size; at++) Y.data[at] = Math.max(X.data[at], 0);
        },
        () => {
            for (let at = 0; at < Y.size; at++) if (X.data[at] > 0) X.grad[at] += Y.grad[at];
        },
    );
    return Y;
}

/**
 * Widen each token by a factor of four, apply ReLU, and narrow it again (Vaswani et al. 2017,
 * equation 2).
 * @param {Tape} tape
 * @param {Tensor} X (..., d)
 * @param {string} name of the sublayer
 */
export function feedForward(tape, X, name) {
    const wide = relu(tape, linear(tape, X, `${name}.W_1`, 4 * X.width, true)); // (..., 4 d)
    return linear(tape, wide, `${name}.W_2`, X.width, true);
}

/**
 * Normalise a row of d numbers from index `at` on: subtract its mean, and divide by its standard
 * deviation.
 * @param {Float32Array} X
 * @param {Float32Array} Y receives the row, at the same indices
 * @param {number} at
 * @param {number} d
 * @returns {number} the standard deviation
 */
export function normalise(X, Y, at, d) {
    let [sum, squares] = [0, 0];
    for (let j = at; j < at + d; j++) sum += X[j];
    for (let j = at; j < at + d; j++) squares += (X[j] - sum / d) ** 2;
    const spread = Math.sqrt(squares / d + 1e-5);
    for (let j = at; j < at + d; j++) Y[j] = (X[j] - sum / d) / spread;
    return spread;
}

/**
 * Give every token's features mean 0 and variance 1, then a learned scale and shift (Ba, Kiros and
 * Hinton 2016, equation 4).
 * @param {Tape} tape
 * @param {Tensor} X (..., d)
 * @param {string} name
 */
export function layerNorm(tape, X, name) {
    const d = X.width;
    const scale = tape.parameters.get(`${name}.scale`, [d], () => 1);
    const shift = tape.parameters.get(`${name}.shift`, [d], () => 0);
    const Y = tape.tensor(...X.shape);
    const normal = new Float32Array(X.size); // before scale and shift
    const spread = new Float32Array(X.rows); // standard deviation of each row
    tape.record(
        () => {
            for (let row = 0, at = 0; row < X.rows; row++, at += d) {
                spread[row] = normalise(X.data, normal, at, d);
                for (let j = 0; j < d; j++)
                    Y.data[at + j] = normal[at + j] * scale.data[j] + shift.data[j];
            }
        },
        () => {
            for (let row = 0, at = 0; row < X.rows; row++, at += d) {
                let [sum, along] = [0, 0]; // of the gradient of `normal`, and times `normal`
                for (let j = 0; j < d; j++) {
                    const one = Y.grad[at + j] * scale.data[j];
                    sum += one;
                    along += one * normal[at + j];
                    scale.grad[j] += Y.grad[at + j] * normal[at + j];
                    shift.grad[j] += Y.grad[at + j];
                }
                for (let j = 0; j < d; j++) {
                    const one = Y.grad[at + j] * scale.data[j];
                    X.grad[at + j] += (one - (sum + normal[at + j] * along) / d) / spread[row];
                }
            }
        },
    );
    return Y;
}

/**
 * Return the last token of each sequence.
 * @param {Tape} tape
 * @param {Tensor} X (B, n, d)
 * @returns {Tensor} (B, 1, d)
 */
export function lastPlace(tape, X) {
    const [batch, n, d] = X.shape;
    const Y = tape.tensor(batch, 1, d);
    tape.record(
        () => {
            for (let b = 0; b < batch; b++) {
                const from = ((b + 1) * n - 1) * d;
                Y.data.set(X.data.subarray(from, from + d), b * d);
            }
        },
        () => {
            for (let b = 0; b < batch; b++)
                for (let j = 0; j < d; j++) X.grad[((b + 1) * n - 1) * d + j] += Y.grad[b * d + j];
        },
    );
    return Y;
}
