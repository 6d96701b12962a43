// Run a captioner on each case of a JSON file, for the comparison with PyTorch in
// tests/book/test_live_captioner.py. A case has an image (channel, row, column), the ids of a caption
// that is read, and the forced look or null. The output has the logits and shares of each step, and
// the caption that the captioner writes, with its shares.

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
function report({ image, target, forced: asked }) {
    const seen = pixels(image);
    const forced = asked && { at: asked.at, places: new Set(asked.places) };
    captioner.encode(seen);
    const steps = target.map((id, at) => {
        const hidden = forced?.at === at ? others(forced.places) : undefined;
        const { logits, shares } = captioner.step(id, hidden);
        return { logits: [...logits], shares: [...shares] };
    });
    const caption = captioner.caption(seen, forced);
    return {
        steps,
        words: caption.map(({ word }) => word),
        shares: caption.map(({ shares }) => [...shares]),
    };
}

console.log(JSON.stringify(JSON.parse(readFileSync(cases, "utf8")).map(report)));
