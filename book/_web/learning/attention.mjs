// @ts-check
// Scaled dot-product attention with several heads (Vaswani et al. 2017, "Attention is all you
// need", equation 1 and section 3.2.2): its three operations, and the layer. B sequences, h heads,
// n tokens with m queries, d features, d/h of them for each head.

import { lastPlace, linear } from "./linear.mjs";
import { transposed } from "./memory.mjs";
import { rotary } from "./positions.mjs";
import { gradient, matrix } from "./tape.mjs";

/**
 * @typedef {import("./settings.mjs").Settings} Settings
 * @typedef {import("./tape.mjs").Tape} Tape
 * @typedef {import("./tape.mjs").Tensor} Tensor
 * @typedef {import("./memory.mjs").Matrix} Matrix
 */

/**
 * Return parts of a tensor as matrices, and the same parts of its gradient.
 * @param {Tensor} X
 * @param {Parameters<typeof matrix>[1][]} parts
 * @returns {[Matrix[], Matrix[]]}
 */
const both = (X, parts) => [
    parts.map((part) => matrix(X, part)),
    parts.map((part) => gradient(X, part)),
];

/**
 * Return the features of each head in every sequence: B h matrices (n, d/h) of numbers and of
 * gradients.
 * @param {Tensor} X (B, n, d)
 * @param {number} heads
 */
function byHead(X, heads) {
    const [batch, rows, d] = X.shape;
    const columns = d / heads;
    const parts = Array.from({ length: batch * heads }, (_, at) => ({
        ...{ from: Math.floor(at / heads) * rows, rows, feature: (at % heads) * columns, columns },
    }));
    return both(X, parts);
}

/**
 * Return the table of each head in every sequence: B h matrices (m, n) of numbers and of gradients.
 * @param {Tensor} S scores or weights (B, h, m, n)
 */
function tables(S) {
    const [batch, heads, rows] = S.shape;
    return both(
        S,
        Array.from({ length: batch * heads }, (_, at) => ({ from: at * rows, rows })),
    );
}

/**
 * Q Kᵀ / √(d/h): how well each query matches each key.
 * @param {Tape} tape
 * @param {Tensor} Q (B, m, d)
 * @param {Tensor} K (B, n, d)
 * @param {number} heads
 * @param {boolean} scale whether to divide by the root
 * @returns {Tensor} (B, h, m, n)
 */
export function scores(tape, Q, K, heads, scale) {
    const S = tape.tensor(Q.shape[0], heads, Q.shape[1], K.shape[1]);
    const factor = scale ? 1 / Math.sqrt(Q.width / heads) : 1;
    const [q, dq] = byHead(Q, heads);
    const [k, dk] = byHead(K, heads);
    const [s, ds] = tables(S);
    tape.record(
        () => {
            S.data.fill(0);
            for (const at of s.keys()) {
                tape.addProduct(q[at], transposed(k[at]), s[at]);
            }
            for (let at = 0; at < S.size; at++) S.data[at] *= factor;
        },
        () => {
            for (let at = 0; at < S.size; at++) S.grad[at] *= factor;
            for (const at of s.keys()) {
                tape.addProduct(ds[at], k[at], dq[at]);
                tape.addProduct(transposed(ds[at]), q[at], dk[at]);
            }
        },
    );
    return S;
}

/**
 * Turn the scores from index `at` to `end` into weights at the same indices.
 * @param {Float32Array} S
 * @param {Float32Array} A receives the weights
 * @param {number} at
 * @param {number} end
 */
export function softmaxRow(S, A, at, end) {
    let largest = -Infinity;
    for (let j = at; j < end; j++) {
        if (S[j] > largest) largest = S[j];
    }
    let sum = 0;
    for (let j = at; j < end; j++) {
        sum += A[j] = Math.exp(S[j] - largest);
    }
    for (let j = at; j < end; j++) A[j] /= sum;
}

/**
 * Each row of scores becomes weights, which are above 0 and sum to 1.
 * @param {Tape} tape
 * @param {Tensor} S (B, h, m, n); the queries are the last m of n tokens
 * @param {boolean} causal whether what stands after the query gets weight 0
 * @returns {Tensor} (B, h, m, n)
 */
export function softmax(tape, S, causal) {
    const A = tape.tensor(...S.shape);
    const [m, n] = S.shape.slice(2);
    // The number of keys that each query sees.
    const seen = Array.from({ length: m }, (_, query) => {
        return causal ? n - m + query + 1 : n;
    });
    tape.record(
        () => {
            for (let row = 0, at = 0; row < S.rows; row++, at += n) {
                softmaxRow(S.data, A.data, at, at + seen[row % m]);
            }
        },
        () => {
            for (let row = 0, at = 0; row < S.rows; row++, at += n) {
                const end = at + seen[row % m];
                let mean = 0; // of the gradients, weighted by the weights
                for (let j = at; j < end; j++) {
                    mean += A.data[j] * A.grad[j];
                }
                for (let j = at; j < end; j++) {
                    S.grad[j] += A.data[j] * (A.grad[j] - mean);
                }
            }
        },
    );
    return A;
}

/**
 * A V: what each query finds, the features of the heads side by side.
 * @param {Tape} tape
 * @param {Tensor} A weights (B, h, m, n)
 * @param {Tensor} V (B, n, d)
 * @returns {Tensor} (B, m, d)
 */
export function blend(tape, A, V) {
    const [batch, heads, m] = A.shape;
    const Y = tape.tensor(batch, m, V.width);
    const [a, da] = tables(A);
    const [v, dv] = byHead(V, heads);
    const [y, dy] = byHead(Y, heads);
    tape.record(
        () => {
            Y.data.fill(0);
            for (const at of a.keys()) tape.addProduct(a[at], v[at], y[at]);
        },
        () => {
            for (const at of a.keys()) {
                tape.addProduct(dy[at], transposed(v[at]), da[at]);
                tape.addProduct(transposed(a[at]), dy[at], dv[at]);
            }
        },
    );
    return Y;
}

/**
 * The layer. Without parameters ("bare") a token is query, key and value as
 * it is; with one projection for queries and keys ("shared") scores are
 * symmetric; "attention" has all three.
 * @param {Tape} tape
 * @param {Tensor} X (B, n, d)
 * @param {Settings} settings
 * @param {string} name of the layer, which its parameters begin with
 * @param {boolean} last whether the last token alone asks: m is 1, else n
 * @returns {{ Y: Tensor, A: Tensor }} (B, m, d), and weights (B, h, m, n)
 */
export function attention(tape, X, settings, name, last) {
    const { body, heads, scale, causal, positions } = settings;
    const [n, d] = X.shape.slice(1);
    const learned = body !== "bare";
    let [Q, K, V] = [last ? lastPlace(tape, X) : X, X, X];
    if (learned) {
        const shared = body === "shared";
        Q = linear(tape, Q, `${name}.${shared ? "W_qk" : "W_q"}`, d);
        K = linear(tape, K, `${name}.${shared ? "W_qk" : "W_k"}`, d);
        V = linear(tape, V, `${name}.W_v`, d);
    }
    if (positions === "rotary") {
        Q = rotary(tape, Q, heads, n);
        K = rotary(tape, K, heads, n);
    }
    const A = softmax(tape, scores(tape, Q, K, heads, scale), causal);
    const found = blend(tape, A, V);
    const Y = learned ? linear(tape, found, `${name}.W_o`, d) : found;
    return { Y, A };
}

/**
 * The plain mean of the tokens: attention with all scores 0.
 * @param {Tape} tape
 * @param {Tensor} X (B, n, d)
 * @param {boolean} causal whether each mean includes only the tokens up to its own
 * @param {boolean} last
 * @returns {{ Y: Tensor, A: Tensor }}
 */
export function mean(tape, X, causal, last) {
    const [batch, n] = X.shape;
    const A = softmax(tape, tape.tensor(batch, 1, last ? 1 : n, n), causal);
    return { Y: blend(tape, A, X), A };
}
