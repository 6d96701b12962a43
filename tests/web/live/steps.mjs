// What tests/book/test_live.py compares with PyTorch: for each case of a file of JSON, what one
// machine says. A case has the ids of a source, those of a target that is read, and what is
// changed. Told are the logits and looks at each step, and the words of the greedy translation.

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { Translator } from "../../../book/_web/live/translating.mjs";
import { BYTES } from "../learning/engine.mjs";

const [model, cases, kernel] = process.argv.slice(2);
const bytes = new Uint8Array(gunzipSync(readFileSync(model)));
const translator = new Translator(bytes, kernel === "wasm" ? BYTES : null);
const { machine } = translator;

/** @param {{ source: string[], target: number[], changed: { hidden?: number[] } }} one */
function told({ source, target, changed: { hidden, ...changed } }) {
    const hiding = new Set(hidden);
    machine.encode(translator.read(source), hiding, changed);
    const steps = target.map((id) => {
        const { logits, looks } = machine.step(id);
        return { logits: [...logits], looks: looks.map((look) => [...look]) };
    });
    const written = [...translator.write(source, { hidden: hiding, ...changed })];
    return { steps, words: written.map(({ word }) => word) };
}

console.log(JSON.stringify(JSON.parse(readFileSync(cases, "utf8")).map(told)));
