// @ts-check
// What a step of writing costs with a published model. The formulas are those of
// solutions/drawing/writing.py.

/** @typedef {{ count: number, numbers: number, operations: number, window: number }} Layers */

/**
 * @typedef {object} Published
 * @property {string} name
 * @property {number} parameters
 * @property {number} active the parameters that one token uses
 * @property {Layers[]} layers
 * @property {number} experts
 * @property {number} used
 * @property {number} fixed the numbers of all states of fixed size
 */

/** @typedef {{ name: string, bandwidth: number, peak: number, memory: number }} Machine */
/** @typedef {{ weights: number, caches: number, operations: number }} Step */

/**
 * Return the bytes that are read, and the operations, when each of several texts gets a token.
 * @param {Published} model
 * @param {number} context tokens of each text
 * @param {number} batch number of texts
 * @param {number} bytes of a number
 * @returns {Step}
 */
export function step(model, context, batch, bytes) {
    let numbers = model.fixed;
    let meeting = 0;
    for (const { count, numbers: left, operations, window } of model.layers) {
        const reach = Math.min(context, window || context);
        numbers += count * left * reach;
        meeting += count * operations * reach;
    }
    let weights = model.active;
    if (model.experts) {
        const part = model.used / model.experts;
        const routed = (model.parameters - model.active) / (1 - part);
        weights = model.parameters - routed * (1 - part) ** batch;
    }
    return {
        weights: bytes * weights,
        caches: bytes * batch * numbers,
        operations: batch * (2 * model.active + meeting),
    };
}

/** Return the operations per byte. @param {Step} step */
export const intensity = ({ weights, caches, operations }) => operations / (weights + caches);

/**
 * Return the least seconds of a step, and whether the bytes or the operations decide.
 * @param {Step} step
 * @param {Machine} machine
 */
export function least({ weights, caches, operations }, machine) {
    const read = (weights + caches) / machine.bandwidth;
    const computed = operations / machine.peak;
    return { seconds: Math.max(read, computed), byMemory: read >= computed };
}
