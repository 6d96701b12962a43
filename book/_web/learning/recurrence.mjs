// @ts-check
// A gated recurrent unit (Cho et al. 2014), in PyTorch's form. While the tokens are read from left
// to right, each feature of the state is kept or replaced.

import { linear, startsIn } from "./linear.mjs";
import { transposed } from "./memory.mjs";
import { gradient, matrix } from "./tape.mjs";

/**
 * @typedef {import("./tape.mjs").Tape} Tape
 * @typedef {import("./tape.mjs").Tensor} Tensor
 */

/** @param {number} x */
const sigmoid = (x) => 1 / (1 + Math.exp(-x));

/**
 * One step of the cell: the gates are r = σ(told_r + heard_r) and z = σ(told_z + heard_z), the
 * candidate c = tanh(told_c + r heard_c), the new state (1 - z) c + z h. Each position is the index
 * of the first number.
 * @param {number} d features of the state
 * @param {Float32Array} told the token's part of the gates and the candidate, 3 d numbers
 * @param {number} t its position
 * @param {Float32Array} heard the previous state's part, 3 d numbers
 * @param {number} s its position
 * @param {Float32Array} H states
 * @param {number} before position of the previous state; if negative, that state is 0
 * @param {number} to position of the new state
 * @param {Float32Array} gates receives r, z and c
 * @param {number} g their position
 */
export function cell(d, told, t, heard, s, H, before, to, gates, g) {
    for (let j = 0; j < d; j++) {
        const reset = sigmoid(told[t + j] + heard[s + j]);
        const keep = sigmoid(told[t + d + j] + heard[s + d + j]);
        const candidate = Math.tanh(told[t + 2 * d + j] + reset * heard[s + 2 * d + j]);
        gates[g + j] = reset;
        gates[g + d + j] = keep;
        gates[g + 2 * d + j] = candidate;
        H[to + j] = (1 - keep) * candidate + keep * (before < 0 ? 0 : H[before + j]);
    }
}

/**
 * A layer of cells with told = x W_x + b_x and heard = h W_h + b_h.
 * @param {Tape} tape
 * @param {Tensor} X (B, n, d)
 * @param {string} name of the layer
 * @returns {Tensor} the states (B, n, d); before the first token the state is 0
 */
export function gru(tape, X, name) {
    const [batch, n, d] = X.shape;
    const G = linear(tape, X, `${name}.W_x`, 3 * d, true); // (B, n, 3 d)
    const W = tape.parameters.get(`${name}.W_h`, [d, 3 * d], startsIn(d));
    const bias = tape.parameters.get(`${name}.W_h.bias`, [3 * d], startsIn(d));
    const R = tape.tensor(batch, n, 3 * d);
    const H = tape.tensor(batch, n, d);
    const gates = new Float32Array(R.size); // r, z and c of every token
    /** The rows of one place in all sequences: (B, d) or (B, 3 d). @param {number} from */
    const place = (from) => ({ from, rows: batch, step: n });

    /** @param {number} t */
    function step(t) {
        for (let b = 0; b < batch; b++) R.data.set(bias.data, (b * n + t) * 3 * d);
        if (t > 0) tape.addProduct(matrix(H, place(t - 1)), matrix(W), matrix(R, place(t)));
        for (let b = 0; b < batch; b++) {
            const to = (b * n + t) * d;
            const g = 3 * to;
            cell(d, G.data, g, R.data, g, H.data, t > 0 ? to - d : -1, to, gates, g);
        }
    }

    /** @param {number} t */
    function back(t) {
        for (let b = 0; b < batch; b++) {
            const to = (b * n + t) * d;
            for (let j = 0, g = 3 * to; j < d; j++, g++) {
                const [reset, keep, candidate] = [gates[g], gates[g + d], gates[g + 2 * d]];
                const one = H.grad[to + j];
                const before = t > 0 ? H.data[to - d + j] : 0;
                const bent = one * (1 - keep) * (1 - candidate * candidate);
                R.grad[g] = bent * R.data[g + 2 * d] * reset * (1 - reset);
                R.grad[g + d] = one * (before - candidate) * keep * (1 - keep);
                R.grad[g + 2 * d] = bent * reset;
                G.grad[g] += R.grad[g];
                G.grad[g + d] += R.grad[g + d];
                G.grad[g + 2 * d] += bent;
                for (let part = g; part < g + 3 * d; part += d)
                    bias.grad[part - 3 * to] += R.grad[part];
                if (t > 0) H.grad[to - d + j] += one * keep;
            }
        }
        if (t === 0) return;
        const [before, now] = [place(t - 1), place(t)];
        tape.addProduct(gradient(R, now), transposed(matrix(W)), gradient(H, before));
        tape.addProduct(transposed(matrix(H, before)), gradient(R, now), gradient(W));
    }

    tape.record(
        () => {
            for (let t = 0; t < n; t++) step(t);
        },
        () => {
            for (let t = n - 1; t >= 0; t--) back(t);
        },
    );
    return H;
}
