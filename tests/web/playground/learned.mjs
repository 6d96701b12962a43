// @ts-check
// What the machines of addresses learn, for whoever calls this: node learned.mjs SEEDS ADDRESS...
// One line of JSON for each machine and seed, as soon as it is done.

import { names } from "../../../book/_web/playground/words.mjs";
import { accuracy } from "../learning/engine.mjs";
import { EVERY, machinesOf, trained } from "./headless.mjs";

const [seeds, ...addresses] = process.argv.slice(2);
for (const address of addresses) {
    const [plain, tried] = address.split("|"); // lengths to try, after a bar
    const machines = machinesOf(plain);
    const called = names(machines);
    for (const [at, settings] of machines.entries()) {
        for (let seed = 0; seed < Number(seeds); seed++) {
            const { run, shares } = trained({ ...settings, seed });
            const first = shares.findIndex((one) => one >= 0.95);
            const { whole, groups } = accuracy(run);
            const found = {
                ...{ address, machine: at, name: called[at], seed, accuracy: whole },
                learned: first < 0 ? null : first * EVERY,
                groups: groups.map(({ right, count }) => (count ? right / count : null)),
                tried: (tried ?? "")
                    .split(",")
                    .filter(Boolean)
                    .map((one) => accuracy(run, Number(one)).whole),
            };
            console.log(JSON.stringify(found));
        }
    }
}
