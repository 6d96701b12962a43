// @ts-check
// A distribution over the next token, shaped by temperature, top-k and top-p, and draws from it.

import { softmax } from "./small_attention.mjs";

/**
 * Return the ids of all tokens, the likeliest first; of equal ones the lower id comes first.
 * @param {number[]} logits by id
 */
export const ranked = (logits) => [...logits.keys()].sort((a, b) => logits[b] - logits[a] || a - b);

/**
 * Return the probabilities of the tokens that remain. As in the course's `sample_next`, the
 * temperature is applied first, then top-k, then top-p.
 * @param {number[]} logits from the largest to the smallest
 * @param {number} temperature
 * @param {number} topK
 * @param {number} topP
 */
export function shaped(logits, temperature, topK, topP) {
    const weights = logits.slice(0, topK).map((one) => Math.exp((one - logits[0]) / temperature));
    const sum = weights.reduce((total, one) => total + one, 0);
    let before = 0;
    let kept = 0;
    while (kept < weights.length && before < topP) before += weights[kept++] / sum;
    return weights.slice(0, kept).map((one) => one / sum / before);
}

/**
 * Return the index of the token on which a random number falls.
 * @param {number} number from 0 to 1
 * @param {number[]} shares of the tokens, which sum to 1 except for rounding
 */
export function drawnBy(number, shares) {
    let end = 0;
    for (const [at, share] of shares.entries()) {
        end += share;
        if (number < end) return at;
    }
    return shares.length - 1;
}

/**
 * Count how often each of `size` tokens was drawn.
 * @param {number[]} draws
 * @param {number} size
 */
export function counted(draws, size) {
    const counts = Array.from({ length: size }, () => 0);
    for (const at of draws) counts[at]++;
    return counts;
}

/** @param {number[]} numbers */
export const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);

/**
 * Return the number of equally likely tokens with the same entropy: the exponential of the entropy.
 * @param {number[]} shares
 */
export const openness = (shares) =>
    Math.exp(shares.reduce((sum, one) => (one ? sum - one * Math.log(one) : sum), 0));

/**
 * Return the share of the probability that moves from one distribution to another.
 * @param {number[]} before logits
 * @param {number[]} after logits of the same tokens
 */
export function moved(before, after) {
    const [p, q] = [softmax(before), softmax(after)];
    return sum(p.map((share, at) => Math.abs(share - q[at]))) / 2;
}
