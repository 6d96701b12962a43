// @ts-check
// The worker that trains one or two machines for the page, on the same draws. README.md lists the
// messages.

import { heldOut } from "./held_out.mjs";
import { Memory } from "./memory.mjs";
import { Run } from "./run.mjs";
import { completed, differences, problems } from "./settings.mjs";
import { chance, TASKS, unreadable } from "./tasks.mjs";

/**
 * @typedef {import("./settings.mjs").Settings} Settings
 * @typedef {import("./tasks.mjs").Sequence} Sequence
 */

/** The milliseconds of a frame, and the steps between two measurements of accuracy. */
const [FRAME, EVERY] = [16, 20];

/** @type {Run[]} */
let runs = [];
/** @type {Sequence} */
let sequence = [];
let pace = 1;
/** Whether the page wants steps, and whether `train` is running; it ends its step after `stop`. */
let [running, training] = [false, false];
/** @type {number[][]} The losses of each machine since the last progress. */
let losses = [];

/** @type {Record<string, (message: any) => void | Promise<void>>} */
const HEARD = {
    start: ({ machines, pace: steps }) => start(machines.map(completed), steps),
    pace: ({ pace: steps }) => {
        pace = steps;
    },
    stop: () => {
        running = false;
        postMessage({ type: "stopped", step: steps() });
    },
    "go on": train,
    look: ({ sequence: wanted }) => {
        const sentence = unreadable(runs[0].task, wanted);
        if (sentence) return refuse([{ machine: 0, field: "sequence", sentence }]);
        sequence = wanted;
        progress([]);
    },
    try: async ({ length }) => {
        const found = problems({ ...runs[0].settings, length });
        const wrong = found.filter(({ field }) => field === "length");
        if (wrong.length) return refuse(wrong.map((one) => ({ machine: 0, ...one })));
        postMessage({ type: "tried", length, machines: await accuracies(length) });
    },
};

/** @param {{ machine: number, field: string, sentence: string }[]} found */
const refuse = (found) => postMessage({ type: "refused", problems: found });
const steps = () => Math.max(0, ...runs.map((run) => run.steps));
const learning = () => runs.some(({ state }) => state === "learning");

/**
 * @param {Settings[]} machines
 * @param {number} steps a frame
 */
async function start(machines, steps) {
    if (runs.length) throw new Error("A worker trains once: make a new one.");
    const found = machines.flatMap((settings, machine) =>
        problems(settings).map((one) => ({ machine, ...one })),
    );
    if (!found.length && machines.length > 1)
        found.push(...differences(machines[0], machines[1]).map((one) => ({ machine: 1, ...one })));
    if (found.length) return refuse(found);
    const memory = new Memory(await assembled());
    runs = machines.map((settings) => new Run(settings, memory));
    const [{ task: name, length }] = machines;
    const task = TASKS[name];
    sequence = heldOut(machines[0], length)[0];
    postMessage({
        ...{ type: "ready", kernel: memory.kernel, symbols: task.symbols, answers: task.answers },
        ...{ groups: task.groups(length), sequence },
        chance: chance(task),
        parameters: runs.map(({ parameters }) => parameters.count),
    });
    pace = steps;
    losses = runs.map(() => []);
    running = true;
    progress(await accuracies(length));
    if (running) await train();
}

/** Fetch product.wasm; null if that fails, so that JavaScript multiplies. */
async function assembled() {
    const answer = await fetch(new URL("product.wasm", import.meta.url)).catch(() => null);
    return answer?.ok ? new Uint8Array(await answer.arrayBuffer()) : null;
}

/**
 * In each frame, take as many steps as the pace allows, and report them. A frame ends when accuracy
 * is due, so that accuracy is measured after the same steps on every computer.
 */
async function train() {
    running = true;
    if (training) return;
    training = true;
    while (running && learning()) {
        const began = performance.now();
        let due = false;
        for (let done = 0; learning() && !due && (pace === 0 || done < pace); done++) {
            due = step();
            if (performance.now() - began > FRAME) break;
        }
        progress(due ? await accuracies(runs[0].settings.length) : []);
        const frame = FRAME / Math.min(1, pace || 1);
        await pause(pace && began + frame - performance.now());
    }
    training = false;
    if (running) postMessage({ type: "ended", step: steps() });
    running = false;
}

/** Take a step of every machine. Returns whether accuracy is due. */
function step() {
    let due = false;
    for (const [at, run] of runs.entries()) {
        if (run.state !== "learning") continue;
        run.step();
        losses[at].push(run.loss);
        due ||= run.steps % EVERY === 0 || run.state !== "learning";
    }
    return due;
}

/**
 * Measure the accuracy of every machine, with pauses for messages.
 * @param {number} length
 */
async function accuracies(length) {
    const all = [];
    let began = performance.now();
    for (const run of runs) {
        const measured = run.measured(length);
        let one = measured.next();
        for (; !one.done; one = measured.next()) {
            if (performance.now() - began < FRAME) continue;
            await pause(0);
            began = performance.now();
        }
        all.push(one.value);
    }
    return all;
}

/** @param {number} milliseconds */
const pause = (milliseconds) =>
    new Promise((heard) => setTimeout(heard, Math.max(0, milliseconds)));

/** @param {import("./run.mjs").Accuracy[]} accuracy of each machine, or empty */
function progress(accuracy) {
    postMessage({
        ...{ type: "progress", step: steps() },
        machines: runs.map((run, at) => ({
            ...{ state: run.state, sentence: run.sentence, loss: run.loss },
            ...{ losses: losses[at].splice(0), accuracy: accuracy[at] ?? null },
            ...{ gradients: run.gradients, look: run.look(sequence) },
        })),
    });
}

addEventListener("message", async ({ data }) => {
    try {
        if (!Object.hasOwn(HEARD, data.type)) throw new Error(`“${data.type}” is not a message.`);
        if (data.type !== "start" && !runs.length) throw new Error("Nothing has been started.");
        await HEARD[data.type](data);
    } catch (error) {
        running = false;
        postMessage({ type: "failed", sentence: `The training has stopped. ${error}` });
    }
});
