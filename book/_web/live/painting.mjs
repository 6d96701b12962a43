// @ts-check
// A picture of chapter 3, painted as in solutions/data/pictures.py.

import { Random } from "../learning/random.mjs";

/** @typedef {import("./pictures.mjs").Facts} Facts */
/** @typedef {import("./pictures.mjs").Scene} Scene */

/**
 * Return whether a pixel belongs to a shape. Its middle is at (y, x), from -1 to 1, and its width
 * is 2 / size.
 * @type {Record<string, (y: number, x: number, size: number) => boolean>}
 */
const INSIDE = {
    circle: (y, x) => x * x + y * y <= 1,
    square: () => true,
    triangle: (y, x, size) => Math.abs(x) <= (y + 1 + 1 / size) / 2 + 1e-9,
    cross: (y, x) => Math.abs(x) < 1 / 3 || Math.abs(y) < 1 / 3,
};

/**
 * @param {Facts} facts
 * @param {Scene} scene
 * @param {number | null} seed of the noise; null for no noise
 * @returns {Float32Array} (side, side, 3), red, green and blue from 0 to 1
 */
export function painted({ side, noise, background, colours }, scene, seed) {
    const draws = new Random(seed ?? 0, 1);
    const image = Float32Array.from({ length: 3 * side * side }, (_, at) => {
        const ground = Math.fround(background[at % 3]);
        return seed === null ? ground : ground + noise * draws.normal();
    });
    for (const { colour, kind, top, left, size } of scene) {
        const across = (/** @type {number} */ at) => (2 * at + 1) / size - 1;
        const contrast = colours[colour].map(
            (one, channel) => Math.fround(one) - Math.fround(background[channel]),
        );
        for (let row = 0; row < size; row++)
            for (let column = 0; column < size; column++) {
                if (!INSIDE[kind](across(row), across(column), size)) continue;
                const at = 3 * ((top + row) * side + left + column);
                for (let c = 0; c < 3; c++) image[at + c] += Math.fround(contrast[c]);
            }
    }
    return image.map((one) => Math.min(1, Math.max(0, one)));
}
