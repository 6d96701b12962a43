// @ts-check
// The sequences that no training sees: accuracy is measured on them, and a page shows the first.

import { Random } from "./random.mjs";
import { TASKS } from "./tasks.mjs";

/** Sequences that no training sees. */
export const HELD_OUT = 256;
/** Their stream of a seed's random numbers; run.mjs has the others. */
const OF_HELD_OUT = 2;

/**
 * New sequences, the same for every machine that is given the same settings of them.
 * @param {Pick<import("./settings.mjs").Settings, "task" | "seed">} settings
 * @param {number} length
 */
export function heldOut({ task, seed }, length) {
    const random = new Random(seed, OF_HELD_OUT);
    return Array.from({ length: HELD_OUT }, () => TASKS[task].draw(random, length));
}
