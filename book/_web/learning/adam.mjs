// @ts-check
// The optimiser: Adam (Kingma and Ba 2015) with decoupled weight decay (Loshchilov and Hutter 2019,
// "AdamW"), after clipping (Pascanu, Mikolov and Bengio 2013).

/** @typedef {import("./tape.mjs").Parameters} Parameters */

const [BETA_1, BETA_2, EPSILON] = [0.9, 0.999, 1e-8];
/** In a step, each parameter loses this share of itself, times the rate. */
const DECAY = 0.01;
/** The norm to which longer gradients are scaled down. */
const LARGEST = 1;

export class Adam {
    #steps = 0;
    /** @type {Map<string, { mean: Float32Array, square: Float32Array }>} */
    #moments = new Map();

    /** @param {Parameters} parameters */
    constructor(parameters) {
        this.parameters = parameters;
    }

    /**
     * Move every parameter a step against its gradient.
     * @param {number} rate
     * @returns {{ layer: string, norm: number }[]} the norm of the gradient in each layer, before
     * clipping
     */
    step(rate) {
        this.#steps++;
        const layers = gradientNorms(this.parameters);
        const norm = Math.hypot(...layers.map((one) => one.norm));
        const clip = Math.min(1, LARGEST / (norm + 1e-6));
        const [first, second] = [1 - BETA_1 ** this.#steps, 1 - BETA_2 ** this.#steps];
        for (const [name, { data, grad, size }] of this.parameters.all) {
            const moments = this.#moments.get(name) ?? {
                mean: new Float32Array(size),
                square: new Float32Array(size),
            };
            this.#moments.set(name, moments);
            const { mean, square } = moments;
            for (let at = 0; at < size; at++) {
                const one = clip * grad[at];
                mean[at] += (1 - BETA_1) * (one - mean[at]);
                square[at] += (1 - BETA_2) * (one * one - square[at]);
                const root = Math.sqrt(square[at] / second) + EPSILON;
                data[at] -= rate * (DECAY * data[at] + mean[at] / first / root);
            }
        }
        return layers;
    }
}

/**
 * @param {Parameters} parameters
 * @returns {{ layer: string, norm: number }[]} by layer, which is the first word of a parameter's
 * name
 */
export function gradientNorms(parameters) {
    /** @type {Map<string, number>} */
    const squares = new Map();
    for (const [name, { grad }] of parameters.all) {
        const [layer] = name.split(".");
        let sum = squares.get(layer) ?? 0;
        for (let at = 0; at < grad.length; at++) sum += grad[at] * grad[at];
        squares.set(layer, sum);
    }
    return [...squares].map(([layer, sum]) => ({ layer, norm: Math.sqrt(sum) }));
}
