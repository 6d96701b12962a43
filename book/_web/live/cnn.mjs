// @ts-check
// A layer of a CNN with PyTorch's weights, in evaluation mode.

import { linear } from "./steps.mjs";
import { Table } from "./weights.mjs";

/** @typedef {import("./weights.mjs").Weights} Weights */

/** The number that PyTorch adds to a variance before the square root. */
const EPSILON = 1e-5;

/** A convolution, batch normalisation with the statistics of training, and ReLU. */
export class Layer {
    /**
     * @param {Weights} weights
     * @param {number} number of the convolution in the CNN
     * @param {{ reads: number, side: number, filter: number, stride: number, padding: number }}
     * shape reads: the number of input channels. side: the places in a row of the input
     */
    constructor(weights, number, { reads, side, filter, stride, padding }) {
        const { memory } = weights;
        const [convolution, norm] = [`cnn.${number}`, `cnn.${number + 1}`];
        this.W = weights.get(`${convolution}.weight`);
        this.bias = weights.get(`${convolution}.bias`);
        this.mean = weights.get(`${norm}.running_mean`);
        this.variance = weights.get(`${norm}.running_var`);
        this.scale = weights.get(`${norm}.weight`);
        this.shift = weights.get(`${norm}.bias`);
        this.shape = { reads, side, filter, stride, padding };
        this.side = Math.floor((side + 2 * padding - filter) / stride) + 1;
        this.patches = new Table(memory, this.side ** 2, this.W.width);
        this.places = new Table(memory, this.side ** 2, this.W.rows);
    }

    /**
     * @param {Float32Array} X (side, side, reads)
     * @returns {Table} (places, channels), place by place, row by row
     */
    apply(X) {
        const { patches, places, mean, variance, scale, shift } = this;
        this.#lay(X);
        linear(patches, this.W, this.bias, places, { rows: places.rows });
        const channels = places.width;
        for (let at = 0; at < places.size; at++) {
            const c = at % channels;
            const normal = (places.data[at] - mean.data[c]) / Math.sqrt(variance.data[c] + EPSILON);
            places.data[at] = Math.max(0, normal * scale.data[c] + shift.data[c]);
        }
        return places;
    }

    /**
     * Copy the inputs of each place into a row, in the order of a filter's weights: (channel, row,
     * column).
     */
    #lay(/** @type {Float32Array} */ X) {
        const { reads, side, filter, stride, padding } = this.shape;
        let at = 0;
        for (let place = 0; place < this.side ** 2; place++) {
            const top = Math.floor(place / this.side) * stride - padding;
            const left = (place % this.side) * stride - padding;
            for (let c = 0; c < reads; c++)
                for (let y = top; y < top + filter; y++)
                    for (let x = left; x < left + filter; x++) {
                        const inside = y >= 0 && x >= 0 && y < side && x < side;
                        this.patches.data[at++] = inside ? X[(y * side + x) * reads + c] : 0;
                    }
        }
    }
}
