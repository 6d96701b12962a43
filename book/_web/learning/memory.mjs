// @ts-check
// The memory for all numbers of a machine, and the matrix product in it: in WebAssembly, four
// numbers at a time, or in JavaScript if the browser has no SIMD.

/**
 * A matrix in memory: the position of its first number, and the distances to the next row and
 * column. All are counted in numbers, not in bytes. So a head's features or a transposed matrix are
 * views.
 * @typedef {{ at: number, rows: number, columns: number, row: number, column: number }} Matrix
 * @typedef {(A: Matrix, B: Matrix, C: Matrix) => void} Product adds A B to C
 * @typedef {{ at: number, size: number, show: (numbers: Float32Array) => void }} Part
 */

/** The bytes of a page of memory, and the smallest number of pages by which it grows. */
const [PAGE, SPARE] = [65536, 16];

/** @param {Matrix} matrix @returns {Matrix} */
export const transposed = ({ at, rows, columns, row, column }) => ({
    ...{ at, rows: columns, columns: rows, row: column, column: row },
});

export class Memory {
    #memory = new WebAssembly.Memory({ initial: SPARE });
    #used = 0;
    /** @type {Part[]} */
    #parts = [];

    /**
     * @param {Uint8Array<ArrayBuffer> | null} bytes of product.wasm; if null, JavaScript multiplies
     */
    constructor(bytes) {
        this.floats = new Float32Array(this.#memory.buffer);
        this.kernel = bytes && WebAssembly.validate(bytes) ? "wasm" : "javascript";
        /** @type {Product} */
        this.addProduct =
            bytes && this.kernel === "wasm" ? assembled(bytes, this.#memory) : plain(this);
    }

    /**
     * Reserve memory for `size` numbers, all 0, and pass a view of it to `show`: now, and again
     * after each growth of the memory, which invalidates the old views.
     * @param {number} size
     * @param {(numbers: Float32Array) => void} show
     * @returns {number} the position of the first number
     */
    take(size, show) {
        const at = this.#used;
        this.#used += 4 * Math.ceil(size / 4); // every part begins at a multiple of 16 bytes
        const part = { at, size, show };
        this.#parts.push(part);
        const missing = 4 * this.#used - this.#memory.buffer.byteLength;
        if (missing > 0) {
            this.#memory.grow(Math.ceil(missing / PAGE) + SPARE);
            this.floats = new Float32Array(this.#memory.buffer);
            for (const one of this.#parts) this.#show(one);
        } else this.#show(part);
        return at;
    }

    /** @param {Part} part */
    #show({ at, size, show }) {
        show(this.floats.subarray(at, at + size));
    }
}

/**
 * The product in WebAssembly: `rows` if the rows of B are contiguous, `dots` if B is transposed.
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {WebAssembly.Memory} memory
 * @returns {Product}
 */
function assembled(bytes, memory) {
    const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), { page: { memory } });
    const { rows, dots } = /** @type {Record<string, (...numbers: number[]) => void>} */ (
        /** @type {unknown} */ (instance.exports)
    );
    return (A, B, C) => {
        const shape = [C.rows, A.columns, C.columns];
        const [a, c] = [
            [4 * A.at, 4 * A.row],
            [4 * C.at, 4 * C.row],
        ];
        if (B.column === 1) rows(...shape, ...a, 4 * A.column, 4 * B.at, 4 * B.row, ...c);
        else dots(...shape, ...a, 4 * B.at, 4 * B.column, ...c);
    };
}

/**
 * The product in JavaScript, for any strides: four columns at a time, then one at a time.
 * @param {Memory} memory
 * @returns {Product}
 */
function plain(memory) {
    return (A, B, C) => {
        const { floats } = memory;
        const end = A.at + A.columns * A.column;
        for (let i = 0; i < C.rows; i++) {
            const [first, last] = [A.at + i * A.row, end + i * A.row];
            const c = C.at + i * C.row;
            let j = 0;
            for (; j + 4 <= C.columns; j += 4) {
                let [s0, s1, s2, s3] = [0, 0, 0, 0];
                let b = B.at + j * B.column;
                for (let a = first; a !== last; a += A.column, b += B.row) {
                    const one = floats[a];
                    s0 += one * floats[b];
                    s1 += one * floats[b + B.column];
                    s2 += one * floats[b + 2 * B.column];
                    s3 += one * floats[b + 3 * B.column];
                }
                floats[c + j] += s0;
                floats[c + j + 1] += s1;
                floats[c + j + 2] += s2;
                floats[c + j + 3] += s3;
            }
            for (; j < C.columns; j++) {
                let b = B.at + j * B.column;
                for (let a = first; a !== last; a += A.column, b += B.row)
                    floats[c + j] += floats[a] * floats[b];
            }
        }
    };
}
