// @ts-check
// A canvas that shows a picture.

import { element } from "../parts.mjs";

/** @param {number} side of the picture, in pixels */
export function canvas(side) {
    const place = element("canvas", { width: side, height: side, role: "img" });

    /**
     * @param {Float32Array} image (side, side, 3), 0 to 1
     * @param {string} said a description of it
     */
    function show(image, said) {
        place.setAttribute("aria-label", said);
        const bytes = new ImageData(side, side);
        for (let pixel = 0; pixel < side * side; pixel++) {
            for (let c = 0; c < 3; c++)
                bytes.data[4 * pixel + c] = Math.round(255 * image[3 * pixel + c]);
            bytes.data[4 * pixel + 3] = 255;
        }
        place.getContext("2d")?.putImageData(bytes, 0, 0);
    }
    return { place, show };
}
