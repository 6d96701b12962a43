// @ts-check
// Reverse-mode differentiation: operations are recorded once, in the order in which they run. A
// step runs them forwards, and then goes back over the tape, from the loss to every parameter.

/**
 * @typedef {import("./memory.mjs").Memory} Memory
 * @typedef {import("./memory.mjs").Matrix} Matrix
 * @typedef {import("./random.mjs").Random} Random
 * @typedef {{ from?: number, rows?: number, feature?: number, columns?: number, step?: number }} Part
 */

/** Numbers with a shape, and the gradient of the loss with respect to each of them. */
export class Tensor {
    /** @type {Float32Array} */
    data = new Float32Array();
    /** @type {Float32Array} */
    grad = new Float32Array();

    /** @param {Memory} memory @param {number[]} shape */
    constructor(memory, shape) {
        this.shape = shape;
        this.size = shape.reduce((product, one) => product * one, 1);
        this.width = shape[shape.length - 1]; // d, where the shape is (..., d)
        this.rows = this.size / this.width;
        this.at = memory.take(this.size, (numbers) => {
            this.data = numbers;
        });
        this.gradAt = memory.take(this.size, (numbers) => {
            this.grad = numbers;
        });
    }
}

/**
 * Return a part of a tensor (..., d) as a matrix; by default, all rows and all features.
 * @param {{ at: number, rows: number, width: number }} tensor
 * @param {Part} [part] from: its first row. feature: its first feature. step: the distance between
 * its rows.
 * @returns {Matrix}
 */
export function matrix(
    { at, rows: all, width },
    { from = 0, rows = all, feature = 0, columns = width, step = 1 } = {},
) {
    return { at: at + from * width + feature, rows, columns, row: step * width, column: 1 };
}

/**
 * Return the same part of a tensor's gradient.
 * @param {Tensor} tensor
 * @param {Part} [part]
 * @returns {Matrix}
 */
export function gradient(tensor, part) {
    const numbers = matrix(tensor, part);
    return { ...numbers, at: numbers.at + tensor.gradAt - tensor.at };
}

/** The learned parameters, by name; graphs for different batches and lengths share them. */
export class Parameters {
    /** @type {Map<string, Tensor>} */
    all = new Map();

    /** @param {Memory} memory @param {Random} random */
    constructor(memory, random) {
        this.memory = memory;
        this.random = random;
    }

    /**
     * Return the parameter with this name; the first call draws it.
     * @param {string} name its layer, a dot, and its own name
     * @param {number[]} shape
     * @param {(random: Random) => number} draw
     */
    get(name, shape, draw) {
        let tensor = this.all.get(name);
        if (!tensor) {
            tensor = new Tensor(this.memory, shape);
            for (let at = 0; at < tensor.size; at++) tensor.data[at] = draw(this.random);
            this.all.set(name, tensor);
        }
        return tensor;
    }

    /** The number of learned numbers. */
    get count() {
        return [...this.all.values()].reduce((sum, { size }) => sum + size, 0);
    }
}

/** The operations of one graph, for one batch and one length. */
export class Tape {
    /** @type {{ forward: () => void, backward: () => void }[]} */
    #operations = [];
    /** @type {Tensor[]} */
    #tensors = [];

    /** @param {Parameters} parameters */
    constructor(parameters) {
        this.parameters = parameters;
        this.memory = parameters.memory;
    }

    /** @param {number[]} shape of what an operation will write */
    tensor(...shape) {
        const tensor = new Tensor(this.memory, shape);
        this.#tensors.push(tensor);
        return tensor;
    }

    /**
     * C += A B, whatever the three are parts of.
     * @param {Matrix} A
     * @param {Matrix} B
     * @param {Matrix} C
     */
    addProduct(A, B, C) {
        this.memory.addProduct(A, B, C);
    }

    /**
     * @param {() => void} forward writes the operation's result
     * @param {() => void} backward the chain rule: adds its share to the
     * gradient of what the operation read, given that of what it wrote
     */
    record(forward, backward) {
        this.#operations.push({ forward, backward });
    }

    forward() {
        for (const { forward } of this.#operations) forward();
    }

    /**
     * After `forward`: the gradient of every tensor and parameter.
     * @param {Tensor} loss one number
     */
    backward(loss) {
        for (const { grad } of this.#tensors) grad.fill(0);
        for (const { grad } of this.parameters.all.values()) grad.fill(0);
        loss.grad[0] = 1;
        const last = this.#operations.length - 1;
        for (let at = last; at >= 0; at--) this.#operations[at].backward();
    }
}
