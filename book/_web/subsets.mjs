// @ts-check
// Subsets of heads, and what a layer reaches with each of them, for head_switches.mjs. A subset is a
// number: its bit h is 1 if head h is on (solutions/experiments/multi_head/switches.py).

import { twoDigits } from "./small_attention.mjs";

/**
 * @typedef {number[]} Row the accuracies of a subset, of which the first counts in the task
 */

export const ENOUGH = 0.95;

/**
 * Return the heads of a subset.
 * @param {number} subset
 */
export function headsOf(subset) {
    const heads = [];
    for (let head = 0; subset >> head; head += 1) if ((subset >> head) & 1) heads.push(head);
    return heads;
}

/**
 * Return a subset with one head switched.
 * @param {number} subset
 * @param {number} head
 */
export const switched = (subset, head) => subset ^ (1 << head);

/**
 * Return the rows of all subsets with so many heads.
 * @param {Row[]} accuracy
 * @param {number} count
 */
export const ofSize = (accuracy, count) =>
    accuracy.filter((_, subset) => headsOf(subset).length === count);

/**
 * Return the mean of some rows.
 * @param {Row[]} rows
 * @returns {Row}
 */
export const meanOf = (rows) =>
    rows[0].map((_, at) => rows.reduce((sum, row) => sum + row[at], 0) / rows.length);

/** Whether an accuracy is enough, with two digits as it is shown. @param {number} share */
const enough = (share) => Number(share.toFixed(2)) >= ENOUGH;

/**
 * Judge a subset in the task: enough of the first accuracy, with as few heads as possible.
 * @param {Row[]} accuracy
 * @param {number} subset
 */
export function judged(accuracy, subset) {
    const heads = headsOf(subset);
    const bests = headsOf(accuracy.length - 1).map((head) => best(accuracy, head + 1));
    const fewest = bests.findIndex(enough) + 1;
    const share = accuracy[subset][0];
    const holds = enough(share);
    return { heads, share, holds, bests, fewest, solved: holds && heads.length === fewest };
}

/** Return the highest first accuracy of so many heads. @param {Row[]} accuracy @param {number} count */
const best = (accuracy, count) => Math.max(...ofSize(accuracy, count).map(([first]) => first));

/**
 * Describe how far the task is solved.
 * @param {ReturnType<typeof judged>} result
 */
export function progress({ heads, share, holds, bests, fewest, solved }) {
    const n = heads.length;
    const right = `both numbers are right in ${twoDigits(share)} of the sequences`;
    if (n === 0) return `With no head on, the read-out always gives the same answer: ${right}.`;
    const now = `With ${n === bests.length ? `all ${some(n)}` : counted(heads)} ${right}`;
    if (solved) {
        const fewer = n > 1 ? `: the best choice of ${some(n - 1)} has ${of(bests, n - 1)}` : "";
        return `${now}. Solved with ${some(n)}. Fewer would not do${fewer}.`;
    }
    if (holds) return `${now}. That is enough, but fewer heads would do it.`;
    const others =
        n < fewest
            ? `No choice of ${some(n)} reaches it; the best has ${of(bests, n)}.`
            : `Another choice of ${some(n)} reaches it.`;
    return `${now}, which is below ${ENOUGH}. ${others}`;
}

/** @param {number[]} bests @param {number} count */
const of = (bests, count) => twoDigits(bests[count - 1]);

/** @param {number} count */
const some = (count) => (count === 1 ? "1 head" : `${count} heads`);

/** Return the heads as a list of words. @param {number[]} heads */
function counted(heads) {
    if (heads.length === 1) return `head ${heads[0]} alone`;
    return `heads ${heads.slice(0, -1).join(", ")} and ${heads.at(-1)}`;
}

/**
 * Describe a map for readers who do not see it.
 * @param {string[]} letters
 * @param {number[][]} weights
 */
export function described(letters, weights) {
    const most = weights.map((row, at) => {
        const largest = Math.max(...row);
        return `${letters[at]} at ${letters[row.indexOf(largest)]} (${twoDigits(largest)})`;
    });
    return `Each letter and the record it looks at most: ${most.join(", ")}.`;
}
