// @ts-check
// The places of the grid that see a shape.

import { BEYOND, GRID, SIDE } from "./captioner.mjs";

/** @typedef {import("./pictures.mjs").Shape} Shape */

const CELL = SIDE / GRID;

/** Return whether a place sees any part of a shape. @param {number} place @param {Shape} shape */
function sees(place, { top, left, size }) {
    const near = (/** @type {number} */ cell, /** @type {number} */ edge) =>
        cell * CELL - BEYOND < edge + size && edge < (cell + 1) * CELL + BEYOND;
    return near(Math.floor(place / GRID), top) && near(place % GRID, left);
}

/**
 * Return the places that see a shape and no other shape of its scene.
 * @param {import("./pictures.mjs").Scene} scene
 * @param {Shape} shape
 * @returns {Set<number>}
 */
export const seeing = (scene, shape) =>
    new Set(
        Array.from({ length: GRID ** 2 }, (_, place) => place).filter((place) =>
            scene.every((one) => sees(place, one) === (one === shape)),
        ),
    );
