// What tests/book/test_live_captioner.py compares with PyTorch: for each case of a file of JSON, what
// one captioner says. A case has an image (channel, row, column), the ids of a caption that is read,
// and the look that is forced, or none. Told are the logits and shares at each step, and what is said
// by the captioner itself, with its shares.

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { Captioner, others, SIDE } from "../../../book/_web/live/captioner.mjs";
import { BYTES } from "../learning/engine.mjs";

const [model, cases, look, kernel] = process.argv.slice(2);
const bytes = new Uint8Array(gunzipSync(readFileSync(model)));
const captioner = new Captioner(bytes, kernel === "wasm" ? BYTES : null, look === "hard");

/** @param {number[][][]} image */
const pixels = (image) =>
    Float32Array.from({ length: 3 * SIDE * SIDE }, (_, at) => {
        const [pixel, channel] = [Math.floor(at / 3), at % 3];
        return image[channel][Math.floor(pixel / SIDE)][pixel % SIDE];
    });

/** @param {{ image: number[][][], target: number[], forced: { at: number, places: number[] } | null }} one */
function told({ image, target, forced: asked }) {
    const seen = pixels(image);
    const forced = asked && { at: asked.at, places: new Set(asked.places) };
    captioner.encode(seen);
    const steps = target.map((id, at) => {
        const hidden = forced?.at === at ? others(forced.places) : undefined;
        const { logits, shares } = captioner.step(id, hidden);
        return { logits: [...logits], shares: [...shares] };
    });
    const said = captioner.caption(seen, forced);
    return {
        steps,
        words: said.map(({ word }) => word),
        shares: said.map(({ shares }) => [...shares]),
    };
}

console.log(JSON.stringify(JSON.parse(readFileSync(cases, "utf8")).map(told)));
