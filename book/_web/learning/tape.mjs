// @ts-check
// Reverse-mode differentiation: operations are recorded once, in the order in which they run. A
// step runs them forwards, and then walks back over the tape, from the loss to every parameter.

/**
 * @typedef {import("./memory.mjs").Memory} Memory
 * @typedef {import("./memory.mjs").Matrix} Matrix
 * @typedef {import("./random.mjs").Random} Random
 * @typedef {{ from?: number, rows?: number, feature?: number, columns?: number, step?: number }} Part
 */

/** Numbers in a shape, and the gradient of the loss with respect to each of them. */
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
 * A part of a tensor (..., d) as a matrix: by itself all its rows with all their features.
 * @param {{ at: number, rows: number, width: number }} tensor
 * @param {Part} [part]
 * from: its first row. feature: its first feature. step: from one row that it takes to the next.
 * @returns {Matrix}
 */
export function matrix(
    { at, rows: all, width },
    { from = 0, rows = all, feature = 0, columns = width, step = 1 } = {},
) {
    return { at: at + from * width + feature, rows, columns, row: step * width, column: 1 };
}

/**
 * The same part of its gradient.
 * @param {Tensor} tensor
 * @param {Part} [part]
 * @returns {Matrix}
 */
export function gradient(tensor, part) {
    const numbers = matrix(tensor, part);
    return { ...numbers, at: numbers.at + tensor.gradAt - tensor.at };
}

/** What is learned, by name: graphs of other batches and lengths share it. */
export class Parameters {
    /** @type {Map<string, Tensor>} */
    all = new Map();

    /** @param {Memory} memory @param {Random} random */
    constructor(memory, random) {
        this.memory = memory;
        this.random = random;
    }

    /**
     * The parameter of this name; the first who asks for it has it drawn.
     * @param {string} name its layer, a point, and its own name
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

    /** How many numbers are learned. */
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
