// @ts-check
// Where the heads of a GPT look from one token of a text, in words.

/** @typedef {{ at: number, weight: number }} Seen a token and its weight */

/** A head's name. @param {number} number from 0, block by block @param {number} heads of each block */
export const headName = (number, heads) =>
    `Block ${Math.floor(number / heads) + 1}, head ${(number % heads) + 1}`;

/**
 * Return the tokens with the largest weights, the largest first.
 * @param {number[]} weights
 * @param {number} count
 * @returns {Seen[]}
 */
export const most = (weights, count) =>
    weights
        .map((weight, at) => ({ at, weight }))
        .sort((a, b) => b.weight - a.weight || b.at - a.at)
        .slice(0, count);

/** How far a token stands before the one that looks, in words. @param {number} back */
export const distance = (back) =>
    back === 0 ? "itself" : back === 1 ? "1 before" : `${back} before`;
