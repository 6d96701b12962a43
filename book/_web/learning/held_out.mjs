// @ts-check
// The held-out sequences, which are never trained on. Accuracy is measured on them, and a page
// shows the first.

import { Random } from "./random.mjs";
import { TASKS } from "./tasks.mjs";

/** The number of held-out sequences. */
export const HELD_OUT = 256;
/** Their stream of a seed's random numbers; run.mjs has the other streams. */
const OF_HELD_OUT = 2;

/**
 * Draw the held-out sequences, the same for every machine with the same task, seed and length.
 * @param {Pick<import("./settings.mjs").Settings, "task" | "seed">} settings
 * @param {number} length
 */
export function heldOut({ task, seed }, length) {
    const random = new Random(seed, OF_HELD_OUT);
    return Array.from({ length: HELD_OUT }, () => TASKS[task].draw(random, length));
}
