// Print what tests/book/test_learning.py compares with PyTorch, as a JSON list. The first argument is
// a list of settings, the second chooses the kernel. For each machine the list has the initial
// parameters, the batches, the gradients of the first step, and the loss of each step.

import { BYTES, machine } from "./engine.mjs";

const [list, kernel] = process.argv.slice(2);

/** @param {Partial<import("../../../book/_web/learning/settings.mjs").Settings>} settings */
function report(settings) {
    const run = machine(settings, kernel === "wasm" ? BYTES : null);
    const all = [...run.parameters.all];
    const start = all.map(([name, { shape, data }]) => [name, shape, [...data]]);
    const steps = [];
    /** @type {[string, number[]][]} */
    let gradients = [];
    while (run.state === "learning") {
        run.step();
        if (run.steps === 1) gradients = all.map(([name, { grad }]) => [name, [...grad]]);
        const { symbols, right } = run.graph;
        steps.push({ symbols: [...symbols], right: [...right], loss: run.loss });
    }
    return { settings: run.settings, start, gradients, steps };
}

console.log(JSON.stringify(JSON.parse(list).map(report)));
