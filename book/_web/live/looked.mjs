// @ts-check
// Sentences on the results: where a look was, and what a forced look changed.

import { GRID } from "./captioner.mjs";
import { named } from "./pictures.mjs";
import { seeing } from "./seeing.mjs";

/** @typedef {import("./pictures.mjs").Scene} Scene */

/** Return a share in the book's notation: .63. @param {number} share */
function number(share) {
    const text = share.toFixed(2);
    return text === "0.00" ? "0" : text === "1.00" ? "1" : text.slice(1);
}

/** @param {number} place */
export const where = (place) => `row ${Math.floor(place / GRID) + 1}, column ${(place % GRID) + 1}`;

/** @param {number} place @param {number} share */
export function placeText(place, share) {
    const text = where(place);
    return `${text[0].toUpperCase()}${text.slice(1)}: ${number(share)} of the look`;
}

/**
 * Return a sentence on the shares of a look on places that see only one shape, and elsewhere.
 * @param {Scene} scene
 * @param {Float32Array} shares (64,)
 * @param {string} word
 */
export function lookText(scene, shares, word) {
    const parts = scene.map((shape) => ({
        name: `the ${named(shape)}`,
        share: [...seeing(scene, shape)].reduce((sum, place) => sum + shares[place], 0),
    }));
    const rest = 1 - parts.reduce((sum, { share }) => sum + share, 0);
    const all = [...parts, { name: "other places", share: Math.max(0, rest) }];
    const text = all.map(({ name, share }) => `${name} ${number(share)}`).join(", ");
    const only = shares.indexOf(1);
    const one = only < 0 ? "" : ` It saw one place, in ${where(only)}.`;
    return `For “${word}” its look was on: ${text}.${one}`;
}

/**
 * Return a sentence on the effect of a forced look.
 * @param {string[]} free the words with its own look
 * @param {string[]} forced the words with the look forced at one of them
 * @param {number} at the index of that word
 * @param {string} only the name of the visible places
 */
export function changeText(free, forced, at, only) {
    const begin = `With its look on ${only} alone it`;
    if (at >= forced.length) return `${begin} ends the caption here, before “${free[at]}”.`;
    const rest = (/** @type {string[]} */ words) => words.slice(at + 1).join(" ");
    const after = rest(free) === rest(forced) ? "stay as they were" : "are others too";
    return free[at] === forced[at]
        ? `${begin} still says “${free[at]}”. The words after it ${after}.`
        : `${begin} says “${forced[at]}”, and not “${free[at]}”. The words after it ${after}.`;
}
