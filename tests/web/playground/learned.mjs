// @ts-check
// What a machine learns, for whoever calls this: node learned.mjs SEEDS ADDRESS [LENGTH ...]
// A line of JSON for each seed; LENGTHs are tried after training.

import { accuracy } from "../learning/engine.mjs";
import { EVERY, machinesOf, trained } from "./headless.mjs";

const [seeds, address, ...lengths] = process.argv.slice(2);
const [settings] = machinesOf(address);
for (let seed = 0; seed < Number(seeds); seed++) {
    const { run, shares } = trained({ ...settings, seed });
    const first = shares.findIndex((one) => one >= 0.95);
    const { whole, groups } = accuracy(run);
    const found = {
        ...{ address, seed, accuracy: whole, learned: first < 0 ? null : first * EVERY },
        groups: groups.map(({ right, count }) => (count ? right / count : null)),
        tried: lengths.map((one) => accuracy(run, Number(one)).whole),
    };
    console.log(JSON.stringify(found));
}
