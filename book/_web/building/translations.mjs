// @ts-check
// What machines make of a sentence, while the site is built: a page shows it before anything runs.
// Reads JSON from standard input, the source as words and the weights of each machine in base64;
// writes the translations as a list of texts.

import { readFileSync } from "node:fs";
import { asText } from "../live/sentence.mjs";
import { Translator } from "../live/translating.mjs";

/** @type {{ source: string[], machines: string[] }} */
const { source, machines } = JSON.parse(readFileSync(0, "utf8"));
const written = machines.map((weights) => {
    const translator = new Translator(new Uint8Array(Buffer.from(weights, "base64")), null);
    return asText([...translator.write(source)].map(({ word }) => word));
});
process.stdout.write(JSON.stringify(written));
