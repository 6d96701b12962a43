// @ts-check
// One memory for all numbers of a machine, and the matrix product in it: in WebAssembly, four
// numbers at a time, or in JavaScript where a browser has no SIMD.

/**
 * A matrix in memory: where its first number is, and how far it is to the next row and column.
 * All are counted in numbers, not in bytes, so a head's features or a turned matrix are views.
 * @typedef {{ at: number, rows: number, columns: number, row: number, column: number }} Matrix
 * @typedef {(A: Matrix, B: Matrix, C: Matrix) => void} Product adds A B to C
 * @typedef {{ at: number, size: number, show: (numbers: Float32Array) => void }} Part
 */

/** Bytes of a page of memory; how many pages it may have, 1 GB; how many it grows by at least. */
const [PAGE, MOST, SPARE] = [65536, 16384, 16];

/** @param {Matrix} matrix @returns {Matrix} */
export const transposed = ({ at, rows, columns, row, column }) => ({
    ...{ at, rows: columns, columns: rows, row: column, column: row },
});

export class Memory {
    #memory = new WebAssembly.Memory({ initial: SPARE, maximum: MOST });
    #used = 0;
    /** @type {Part[]} */
    #parts = [];

    /** @param {Uint8Array<ArrayBuffer> | null} bytes of product.wasm; null: JavaScript multiplies */
    constructor(bytes) {
        this.floats = new Float32Array(this.#memory.buffer);
        this.kernel = bytes && WebAssembly.validate(bytes) ? "wasm" : "javascript";
        /** @type {Product} */
        this.addProduct =
            bytes && this.kernel === "wasm" ? assembled(bytes, this.#memory) : plain(this);
    }

    /**
     * Take room for `size` numbers, all 0, and show it: now, and again whenever memory has grown,
     * since growing it leaves the old views empty.
     * @param {number} size
     * @param {(numbers: Float32Array) => void} show
     * @returns {number} where the first of them is
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
 * The product in WebAssembly: `rows` where a row of B lies side by side, `dots` where B is turned.
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
        const m = C.rows;
        const n = C.columns;
        const k = A.columns;
        const [a, b, c] = [4 * A.at, 4 * B.at, 4 * C.at];
        if (B.column === 1) rows(m, k, n, a, 4 * A.row, 4 * A.column, b, 4 * B.row, c, 4 * C.row);
        else dots(m, k, n, a, 4 * A.row, b, 4 * B.column, c, 4 * C.row);
    };
}

/**
 * The same in JavaScript, for matrices that lie in any way: two rows and four columns at a time.
 * @param {Memory} memory
 * @returns {Product}
 */
function plain(memory) {
    return (A, B, C) => {
        const { floats } = memory;
        for (let i = 0; i < C.rows; i += 2) {
            const a0 = A.at + i * A.row;
            const two = i + 1 < C.rows;
            const a1 = two ? a0 + A.row : a0;
            for (let j = 0; j < C.columns; j += 4) {
                const b0 = B.at + j * B.column;
                const wide = Math.min(4, C.columns - j);
                const b1 = wide > 1 ? b0 + B.column : b0;
                const b2 = wide > 2 ? b1 + B.column : b0;
                const b3 = wide > 3 ? b2 + B.column : b0;
                let [s00, s01, s02, s03, s10, s11, s12, s13] = [0, 0, 0, 0, 0, 0, 0, 0];
                for (let k = 0, a = 0, b = 0; k < A.columns; k++, a += A.column, b += B.row) {
                    const upper = floats[a0 + a];
                    const lower = floats[a1 + a];
                    s00 += upper * floats[b0 + b];
                    s01 += upper * floats[b1 + b];
                    s02 += upper * floats[b2 + b];
                    s03 += upper * floats[b3 + b];
                    s10 += lower * floats[b0 + b];
                    s11 += lower * floats[b1 + b];
                    s12 += lower * floats[b2 + b];
                    s13 += lower * floats[b3 + b];
                }
                const c = C.at + i * C.row + j;
                add(floats, c, wide, s00, s01, s02, s03);
                if (two) add(floats, c + C.row, wide, s10, s11, s12, s13);
            }
        }
    };
}

/** @type {(floats: Float32Array, at: number, wide: number, a: number, b: number, c: number, d: number) => void} */
function add(floats, at, wide, a, b, c, d) {
    floats[at] += a;
    if (wide > 1) floats[at + 1] += b;
    if (wide > 2) floats[at + 2] += c;
    if (wide > 3) floats[at + 3] += d;
}
