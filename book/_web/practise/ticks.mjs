// @ts-check
// The ticks of the exercises, which the chapter's assignment and the front page show. Checks set
// ticks, and only remove ticks that a check has set, never those that the reader has set by hand.

import { get, keys, remove, set } from "../storage.mjs";

const CHECKED = "checked";

/** @param {string} assignment @param {string} exercise */
const keyOf = (assignment, exercise) => `exercise:${assignment}/${exercise}`;

/** @param {string} assignment @param {string} exercise */
export function tick(assignment, exercise) {
    const key = keyOf(assignment, exercise);
    if (!get(key)) set(key, CHECKED);
}

/** @param {string} assignment @param {string} exercise */
export function untick(assignment, exercise) {
    const key = keyOf(assignment, exercise);
    if (get(key) === CHECKED) remove(key);
}

/** @param {string} assignment */
export function untickAll(assignment) {
    const start = keyOf(assignment, "");
    for (const key of keys())
        if (key.startsWith(start)) untick(assignment, key.slice(start.length));
}

/**
 * Return whether an exercise is ticked, by a check or by hand.
 * @param {string} assignment
 * @param {string} exercise
 */
export const ticked = (assignment, exercise) => Boolean(get(keyOf(assignment, exercise)));
