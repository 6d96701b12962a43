// @ts-check
// The weights of a trained machine, as the site serves them: a compressed safetensors file of
// half-precision numbers, stored as two planes, with all upper bytes before all lower bytes. Upper
// bytes resemble each other, so their plane compresses well.

import { fromHalf } from "../half.mjs";
import { matrix } from "../learning/tape.mjs";

/**
 * @typedef {import("../learning/memory.mjs").Memory} Memory
 * @typedef {import("../learning/memory.mjs").Matrix} Matrix
 * @typedef {{ name: string, vocabularies: string[][] }} About
 */

/** The bytes of a safetensors file's first number, which is the length of its header. */
const LENGTH = 8;

/** A table of rows in memory, for weights or for results. */
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

    /**
     * Return a part of it as a matrix.
     * @param {Parameters<typeof matrix>[1]} [part]
     * @returns {Matrix}
     */
    part(part) {
        return matrix(this, part);
    }
}

/** The weights of a machine, by name, and its metadata. */
export class Weights {
    /** @type {Map<string, Table>} */
    #tables = new Map();

    /**
     * @param {Memory} memory
     * @param {Uint8Array<ArrayBuffer>} bytes as two planes, decompressed
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
            const rows = shape.length > 1 ? shape[0] : 1; // all numbers of a filter form a row
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

/**
 * Fetch the weights and decompress them.
 * @param {URL | string} address
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export async function fetched(address) {
    const response = await fetch(address);
    if (!response.ok || !response.body) throw new Error(`${address}: ${response.status}`);
    const unpacked = response.body.pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(unpacked).arrayBuffer());
}
