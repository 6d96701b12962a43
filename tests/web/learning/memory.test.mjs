// Test the matrix product in JavaScript and in WebAssembly, and that product.wasm matches product.wat.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Memory, transposed } from "../../../book/_web/learning/memory.mjs";
import { Random } from "../../../book/_web/learning/random.mjs";
import { BYTES, FOLDER } from "./engine.mjs";

const SHAPES = [
    [1, 1, 1],
    [4, 8, 8],
    [5, 7, 9],
    [3, 5, 2],
    [9, 4, 13],
    [8, 32, 26],
    [2, 16, 4],
];

/**
 * Allocate a matrix of random numbers in a memory.
 * @param {Memory} memory
 * @param {Random} random
 * @param {number} rows
 * @param {number} columns
 */
function drawn(memory, random, rows, columns) {
    const at = memory.take(rows * columns, (numbers) => {
        numbers.forEach((_, place) => {
            numbers[place] = random.normal();
        });
    });
    return { at, rows, columns, row: columns, column: 1 };
}

/** @type {(memory: Memory, matrix: import("../../../book/_web/learning/memory.mjs").Matrix) => number[][]} */
const table = ({ floats }, { at, rows, columns, row, column }) =>
    Array.from({ length: rows }, (_, i) =>
        Array.from({ length: columns }, (_, j) => floats[at + i * row + j * column]),
    );

for (const [name, bytes] of /** @type {const} */ ([
    ["wasm", BYTES],
    ["javascript", null],
]))
    for (const turned of ["neither", "the first", "the second"])
        test(`the product in ${name}, ${turned} transposed, equals the sum of the definition`, () => {
            for (const [m, k, n] of SHAPES) {
                const memory = new Memory(bytes);
                assert.equal(memory.kernel, name);
                const random = new Random(m, k);
                const A =
                    turned === "the first"
                        ? transposed(drawn(memory, random, k, m))
                        : drawn(memory, random, m, k);
                const B =
                    turned === "the second"
                        ? transposed(drawn(memory, random, n, k))
                        : drawn(memory, random, k, n);
                const C = drawn(memory, random, m, n);
                const [a, b, before] = [A, B, C].map((matrix) => table(memory, matrix));
                memory.addProduct(A, B, C);
                for (const [i, row] of table(memory, C).entries())
                    for (const [j, actual] of row.entries()) {
                        const expected = a[i].reduce(
                            (sum, value, at) => sum + value * b[at][j],
                            before[i][j],
                        );
                        assert.ok(Math.abs(actual - expected) < 1e-4, `${actual} for ${expected}`);
                    }
            }
        });

test("a memory keeps its contents when it grows", () => {
    const memory = new Memory(BYTES);
    /** @type {Float32Array} */
    let first = new Float32Array();
    memory.take(3, (numbers) => {
        first = numbers;
    });
    first.set([1, 2, 3]);
    memory.take(1 << 20, () => {});
    assert.deepEqual([...first], [1, 2, 3]);
    assert.equal(memory.floats.buffer, first.buffer);
});

test("a module that this engine cannot run is not used", () => {
    assert.equal(new Memory(Uint8Array.of(1, 2, 3)).kernel, "javascript");
});

test("product.wasm is compiled from product.wat", async () => {
    const { default: wabt } = await import("../../../book/_web/node_modules/wabt/index.js");
    const text = readFileSync(new URL("product.wat", FOLDER), "utf8");
    const parsed = (await wabt()).parseWat("product.wat", text);
    assert.deepEqual(parsed.toBinary({}).buffer, new Uint8Array(BYTES));
});
