// @ts-check
// Trains one machine or two for the page, on the same draws. README.md lists the messages.

import { Memory } from "./memory.mjs";
import { heldOut, Run } from "./run.mjs";
import { completed, differences, problems } from "./settings.mjs";
import { chance, TASKS, unreadable } from "./tasks.mjs";

/**
 * @typedef {import("./settings.mjs").Settings} Settings
 * @typedef {import("./tasks.mjs").Sequence} Sequence
 */

/** Milliseconds of a frame, and the steps after which accuracy is measured anew. */
const [FRAME, EVERY] = [16, 20];

/** @type {Run[]} */
let runs = [];
/** @type {Sequence} */
let sequence = [];
let pace = 1;
let running = false;
/** Since the last progress: the losses of each machine, and whether accuracy is due. */
let losses = /** @type {number[][]} */ ([]);
let due = false;

/** @param {Record<string, unknown> & { type: string }} message */
const say = (message) => postMessage(message);

/** @type {Record<string, (message: any) => void | Promise<void>>} */
const HEARD = {
    start: ({ machines, pace: steps }) => start(machines.map(completed), steps),
    pace: ({ pace: steps }) => {
        pace = steps;
    },
    stop: () => {
        running = false;
        say({ type: "stopped", step: runs[0]?.steps ?? 0 });
    },
    "go on": () => {
        if (running || !runs.length) return;
        running = true;
        frame();
    },
    look: ({ sequence: wanted }) => {
        const sentence = unreadable(runs[0].task, wanted);
        if (sentence) return refuse([{ machine: 0, field: "sequence", sentence }]);
        sequence = wanted;
        progress();
    },
    try: ({ length }) => {
        const settings = { ...runs[0].settings, length };
        const found = problems(settings).filter(({ field }) => field === "length");
        if (found.length) return refuse(found.map((one) => ({ machine: 0, ...one })));
        say({ type: "tried", length, machines: runs.map((run) => run.accuracy(length)) });
    },
};

/** @param {{ machine: number, field: string, sentence: string }[]} found */
const refuse = (found) => say({ type: "refused", problems: found });

/**
 * @param {Settings[]} machines
 * @param {number} steps a frame
 */
async function start(machines, steps) {
    const found = machines.flatMap((settings, machine) =>
        problems(settings).map((one) => ({ machine, ...one })),
    );
    if (!found.length && machines.length > 1)
        found.push(...differences(machines[0], machines[1]).map((one) => ({ machine: 1, ...one })));
    if (found.length) return refuse(found);
    const memory = new Memory(await assembled());
    runs = machines.map((settings) => new Run(settings, memory));
    const { length } = machines[0];
    const { symbols, answers, groups, ...task } = TASKS[machines[0].task];
    sequence = heldOut(machines[0], length)[0];
    say({
        ...{ type: "ready", kernel: memory.kernel, symbols, answers, groups: groups(length) },
        chance: chance({ symbols, answers, groups, ...task }),
        parameters: runs.map(({ parameters }) => parameters.count),
        sequence,
    });
    pace = steps;
    losses = runs.map(() => []);
    due = true;
    progress();
    running = true;
    frame();
}

/** product.wasm, or null where it cannot be had: then JavaScript multiplies. */
async function assembled() {
    const answer = await fetch(new URL("product.wasm", import.meta.url)).catch(() => null);
    return answer?.ok ? new Uint8Array(await answer.arrayBuffer()) : null;
}

/** As many steps as the pace allows, then a message, then a pause in which messages are heard. */
function frame() {
    if (!running) return;
    const began = performance.now();
    for (let done = 0; learning() && (pace ? done < pace : true); done++) {
        step();
        if (performance.now() - began > FRAME) break;
    }
    progress();
    if (!learning()) {
        running = false;
        say({ type: "ended", step: Math.max(...runs.map(({ steps }) => steps)) });
    } else setTimeout(frame, Math.max(0, began + FRAME - performance.now()));
}

const learning = () => runs.some(({ state }) => state === "learning");

function step() {
    for (const [at, run] of runs.entries()) {
        if (run.state !== "learning") continue;
        run.step();
        losses[at].push(run.loss);
        due ||= run.steps % EVERY === 0 || run.state !== "learning";
    }
}

function progress() {
    say({
        type: "progress",
        step: Math.max(...runs.map(({ steps }) => steps)),
        machines: runs.map((run, at) => ({
            state: run.state,
            sentence: run.sentence,
            loss: run.loss,
            losses: losses[at].splice(0),
            accuracy: due ? run.accuracy() : null,
            gradients: run.gradients,
            look: run.look(sequence),
        })),
    });
    due = false;
}

addEventListener("message", async ({ data }) => {
    try {
        if (!Object.hasOwn(HEARD, data.type)) throw new Error(`“${data.type}” is no message.`);
        if (data.type !== "start" && !runs.length) throw new Error("Nothing has been started.");
        await HEARD[data.type](data);
    } catch (error) {
        running = false;
        say({ type: "failed", sentence: `The training has stopped: ${error}` });
    }
});
