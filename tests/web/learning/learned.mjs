// What tests/book/test_learning_claims.py asserts: what the machines of a question of
// questions.json learn, from each of the seeds that are given. Printed as one JSON list.

import { readFileSync } from "node:fs";
import { accuracy, FOLDER, machine } from "./engine.mjs";

/** Steps between two measurements, and the accuracy at which a task counts as learned. */
const [EVERY, LEARNED] = [20, 0.99];

const [question, ...seeds] = process.argv.slice(2);
const all = JSON.parse(readFileSync(new URL("questions.json", FOLDER), "utf8"));

/**
 * A machine that is tried at other lengths learns to its end; any other until it has learned.
 * @param {{ name: string, settings: object, tries?: number[] }} entry
 * @param {string} seed
 */
function learned({ name, settings, tries = [] }, seed) {
    const run = machine({ ...settings, seed: Number(seed) });
    let at = null;
    while (run.state === "learning" && (at === null || tries.length)) {
        run.step();
        if (run.steps % EVERY === 0 && accuracy(run).whole >= LEARNED) at ??= run.steps;
    }
    const { whole, groups } = accuracy(run);
    const names = run.task.groups(run.settings.length);
    return {
        ...{ name, seed: Number(seed), at, whole, loss: run.loss },
        groups: Object.fromEntries(
            groups.map(({ right, count }, group) => [names[group], count ? right / count : null]),
        ),
        tried: tries.map((length) => accuracy(run, length).whole),
    };
}

console.log(
    JSON.stringify(all[question].flatMap((entry) => seeds.map((seed) => learned(entry, seed)))),
);
