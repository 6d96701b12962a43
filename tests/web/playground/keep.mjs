// @ts-check
// Store a run of each question, for readers without scripts: node tests/web/playground/keep.mjs

import { mkdirSync, writeFileSync } from "node:fs";
import { HELD_OUT } from "../../../book/_web/learning/held_out.mjs";
import { chance, TASKS } from "../../../book/_web/learning/tasks.mjs";
import { names } from "../../../book/_web/playground/words.mjs";
import { EVERY, keptOf, machinesOf, QUESTIONS, trained } from "./headless.mjs";

for (const [name, { settings }] of Object.entries(QUESTIONS)) {
    const machines = machinesOf(settings);
    const accuracy = machines.map((machine) =>
        trained(machine).shares.map((share) => Number(share.toFixed(3))),
    );
    const [{ task, seed }] = machines;
    const run = {
        ...{ settings, seed, every: EVERY, sequences: HELD_OUT, chance: chance(TASKS[task]) },
        ...{ names: names(machines), accuracy },
    };
    mkdirSync(new URL(".", keptOf(name)), { recursive: true });
    writeFileSync(keptOf(name), `${JSON.stringify(run)}\n`);
    console.log(name, ...names(machines), ...accuracy.map((shares) => shares.at(-1)));
}
