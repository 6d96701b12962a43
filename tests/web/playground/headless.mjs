// @ts-check
// Run the playground in Node, without a page: its questions, its puzzles, and the training.

import { readFileSync } from "node:fs";
import { read } from "../../../book/_web/playground/address.mjs";
import { accuracy, machine } from "../learning/engine.mjs";

/** @param {string} path in the folder of the site's scripts */
const web = (path) => new URL(`../../../book/_web/${path}`, import.meta.url);

/** The number of steps between measurements of accuracy, as in the worker. */
export const EVERY = 20;
/** @type {Record<string, { settings: string }>} */
export const QUESTIONS = JSON.parse(readFileSync(web("playground/questions.json"), "utf8"));
export const PUZZLES = JSON.parse(readFileSync(web("playground/puzzles.json"), "utf8"));
/** @param {string} name */
export const keptOf = (name) => web(`playground/kept/${name}.json`);

/**
 * Return the machines of an address, which must be valid.
 * @param {string} address
 */
export function machinesOf(address) {
    const { machines, faults } = read(address);
    if (faults.length) throw new Error(faults.join(" "));
    return machines;
}

/**
 * Train a machine to the end; return it, and its accuracy every 20 steps.
 * @param {import("../../../book/_web/playground/words.mjs").Settings} settings
 */
export function trained(settings) {
    const run = machine(settings);
    const shares = [accuracy(run).whole];
    while (run.state === "learning") {
        run.step();
        if (run.steps % EVERY === 0) shares.push(accuracy(run).whole);
    }
    return { run, shares };
}
