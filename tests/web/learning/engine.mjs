// Helpers of the tests of the engine.

import { readFileSync } from "node:fs";
import { Memory } from "../../../book/_web/learning/memory.mjs";
import { Run } from "../../../book/_web/learning/run.mjs";
import { completed } from "../../../book/_web/learning/settings.mjs";

export const FOLDER = new URL("../../../book/_web/learning/", import.meta.url);
export const BYTES = new Uint8Array(readFileSync(new URL("product.wasm", FOLDER)));

/**
 * Return an untrained machine.
 * @param {Partial<import("../../../book/_web/learning/settings.mjs").Settings>} settings
 * @param {Uint8Array<ArrayBuffer> | null} bytes
 */
export const machine = (settings, bytes = BYTES) => new Run(completed(settings), new Memory(bytes));

/** @param {Run} run */
export function trained(run) {
    while (run.state === "learning") run.step();
    return run;
}

/**
 * Return the accuracy of a machine on the held-out sequences of a length.
 * @param {Run} run
 */
export function accuracy(run, length = run.settings.length) {
    const measured = run.measured(length);
    for (;;) {
        const { done, value } = measured.next();
        if (done) return value;
    }
}
