// @ts-check
// Train a machine from several seeds: node learned.mjs SEEDS ADDRESS [LENGTH ...]
// Prints a line of JSON for each seed. The LENGTHs are tried after training.

import { accuracy } from "../learning/engine.mjs";
import { EVERY, machinesOf, trained } from "./headless.mjs";

const [seeds, address, ...lengths] = process.argv.slice(2);
const [settings] = machinesOf(address);
for (let seed = 0; seed < Number(seeds); seed++) {
    const { run, shares } = trained({ ...settings, seed });
    const first = shares.findIndex((share) => share >= 0.95);
    const { whole, groups } = accuracy(run);
    const result = {
        ...{ address, seed, accuracy: whole, learned: first < 0 ? null : first * EVERY },
        groups: groups.map(({ right, count }) => (count ? right / count : null)),
        tried: lengths.map((length) => accuracy(run, Number(length)).whole),
    };
    console.log(JSON.stringify(result));
}
