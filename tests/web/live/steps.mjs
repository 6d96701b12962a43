// Run a machine on each case of a JSON file, for the comparison with PyTorch in
// tests/book/test_live.py. A case has the ids of a source, the ids of a target that is read, and the
// changes of the machine. The output has the logits and attention weights of each step, and the words
// of the greedy translation.

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { Translator } from "../../../book/_web/live/translating.mjs";
import { BYTES } from "../learning/engine.mjs";

const [model, cases, kernel] = process.argv.slice(2);
const bytes = new Uint8Array(gunzipSync(readFileSync(model)));
const translator = new Translator(bytes, kernel === "wasm" ? BYTES : null);
const { machine } = translator;

/** @param {{ source: string[], target: number[], changed: { hidden?: number[] } }} one */
function report({ source, target, changed: { hidden, ...changed } }) {
    const hiding = new Set(hidden);
    machine.encode(translator.read(source), hiding, changed);
    const steps = target.map((id) => {
        const { logits, looks } = machine.step(id);
        return { logits: [...logits], looks: looks.map((look) => [...look]) };
    });
    const written = [...translator.write(source, { hidden: hiding, ...changed })];
    return { steps, words: written.map(({ word }) => word) };
}

console.log(JSON.stringify(JSON.parse(readFileSync(cases, "utf8")).map(report)));
