// @ts-check
// The weights of a trained machine, as the site serves them: a safetensors file of half-precision
// numbers, whose bytes lie in two planes, all the upper ones first, and are compressed. A plane of
// upper bytes is much more alike than the numbers are.

import { matrix } from "../learning/tape.mjs";

/**
 * @typedef {import("../learning/memory.mjs").Memory} Memory
 * @typedef {import("../learning/memory.mjs").Matrix} Matrix
 * @typedef {{ name: string, vocabularies: string[][] }} About
 */

/** Bytes of the number with which a safetensors file begins: how long its header is. */
const LENGTH = 8;

/** A table of rows in memory: of weights, or of what is computed. */
export class Table {
    /** @type {Float32Array} */
    data = new Float32Array();

    /** @param {Memory} memory @param {number} rows @param {number} width */
    constructor(memory, rows, width) {
        this.memory = memory;
        this.rows = rows;
        this.width = width;
        this.at = memory.take(rows * width, (numbers) => {
            this.data = numbers;
        });
        this.size = rows * width;
    }

    /** A part of it as a matrix. @param {Parameters<typeof matrix>[1]} [part] @returns {Matrix} */
    part(part) {
        return matrix(this, part);
    }
}

/** What one machine has learned, by name, and what it says of itself. */
export class Weights {
    /** @type {Map<string, Table>} */
    #tables = new Map();

    /**
     * @param {Memory} memory
     * @param {Uint8Array<ArrayBuffer>} bytes in planes, no longer compressed
     */
    constructor(memory, bytes) {
        this.memory = memory;
        const view = new DataView(bytes.buffer, bytes.byteOffset);
        const start = LENGTH + Number(view.getBigUint64(0, true));
        const header = JSON.parse(new TextDecoder().decode(bytes.subarray(LENGTH, start)));
        const { __metadata__: said, ...tensors } = header;
        /** @type {About} */
        this.about = JSON.parse(said.machine);
        const planes = bytes.subarray(start);
        const half = planes.length / 2;
        for (const [name, { shape, data_offsets: offsets }] of Object.entries(tensors)) {
            const size = (offsets[1] - offsets[0]) / 2;
            const rows = shape.length > 1 ? shape[0] : 1; // a filter is a row, all its numbers
            const table = new Table(memory, rows, size / rows);
            const from = offsets[0] / 2;
            for (let at = 0; at < table.size; at++) {
                const upper = planes[from + at];
                table.data[at] = fromHalf((upper << 8) | planes[half + from + at]);
            }
            this.#tables.set(name, table);
        }
    }

    /** @param {string} name @returns {Table} */
    get(name) {
        const table = this.#tables.get(name);
        if (!table) throw new Error(`the machine ${this.about.name} has no ${name}`);
        return table;
    }
}

/** A number from the 16 bits of its half precision (IEEE 754). @param {number} bits */
function fromHalf(bits) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 0x1f;
    const fraction = (bits & 0x3ff) / 1024;
    if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
    if (exponent === 0) return sign * fraction * 2 ** -14;
    return sign * (1 + fraction) * 2 ** (exponent - 15);
}

/**
 * Fetch the weights and unpack them.
 * @param {URL | string} address
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export async function fetched(address) {
    const response = await fetch(address);
    if (!response.ok || !response.body) throw new Error(`${address}: ${response.status}`);
    const unpacked = response.body.pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(unpacked).arrayBuffer());
}
