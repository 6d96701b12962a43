// @ts-check
// Attention on a handful of tokens, for the figures that a reader can change. A matrix is an array
// of rows, as in the course's Python: solutions/self_attention.py, solutions/queries_keys_values.py.

/** @typedef {[number, number]} Point */
/** @typedef {number[][]} Matrix */

/**
 * Return the dot product of two vectors.
 * @param {number[]} a
 * @param {number[]} b
 */
export const dot = (a, b) => a.reduce((sum, value, at) => sum + value * b[at], 0);

/**
 * Return A B^T: the dot product of every row of A with every row of B.
 * @param {Matrix} A
 * @param {Matrix} B
 * @returns {Matrix}
 */
export const scoresOf = (A, B) => A.map((a) => B.map((b) => dot(a, b)));

/**
 * Return the product W V: for each row of W, the sum of the rows of V, each times its weight.
 * @param {Matrix} W
 * @param {Matrix} V
 * @returns {Matrix}
 */
export const blend = (W, V) => W.map((row) => V[0].map((_, at) => dot(row, column(V, at))));

/** @param {Matrix} V @param {number} at */
const column = (V, at) => V.map((row) => row[at]);

/**
 * Return the weights of one row of scores; a score of -Infinity gets the weight 0.
 * @param {number[]} scores of which at least one is finite
 */
export function softmax(scores) {
    const largest = Math.max(...scores);
    const raised = scores.map((score) => Math.exp(score - largest));
    const total = raised.reduce((sum, value) => sum + value, 0);
    return raised.map((value) => value / total);
}

/**
 * Return self-attention without parameters.
 * @param {Matrix} X tokens, one in each row
 * @param {boolean} equal whether every weight is the same, whatever the scores are
 */
export function selfAttention(X, equal) {
    const scores = scoresOf(X, X);
    const weights = equal ? X.map(() => X.map(() => 1 / X.length)) : scores.map(softmax);
    return { scores, weights, outputs: blend(weights, X) };
}

/**
 * Return the scores of one query step by step, its weights and its output.
 * @param {number[]} q
 * @param {Matrix} K
 * @param {Matrix} V
 * @param {{ divisor: number, last: number }} how the scores' divisor; keys after `last` are masked
 */
export function attend(q, K, V, { divisor, last }) {
    const scores = K.map((k) => dot(q, k));
    const divided = scores.map((score) => score / divisor);
    const weights = softmax(divided.map((score, at) => (at > last ? -Infinity : score)));
    return { scores, divided, weights, output: blend([weights], V)[0] };
}

/**
 * Return the distance between the two points that are furthest apart.
 * @param {Matrix} points
 */
export const widest = (points) =>
    Math.max(...points.flatMap((a) => points.map((b) => Math.hypot(...a.map((v, i) => v - b[i])))));

/**
 * Return a number as it is shown, with two digits and never as "-0.00".
 * @param {number} value
 */
export const twoDigits = (value) =>
    (Math.abs(value) < 0.005 ? 0 : value).toFixed(2).replace("-", "−");
