// Print what tests/book/test_live_pictures.py compares with the Python pictures: the caption and the
// image without noise of each scene of a JSON file; drawn scenes; and for each of these a walk, which
// moves one shape at a time and reports the scenes that have a caption.

import { readFileSync } from "node:fs";
import { Random } from "../../../book/_web/learning/random.mjs";
import { BEYOND } from "../../../book/_web/live/captioner.mjs";
import { painted } from "../../../book/_web/live/painting.mjs";
import { seeing } from "../../../book/_web/live/seeing.mjs";
import { pictures } from "./facts.mjs";

const { scenes, drawn, steps, seed } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const draws = new Random(seed, 1);
const random = () => draws.uniform();

/** @typedef {import("../../../book/_web/live/pictures.mjs").Scene} Scene */

/** @param {Scene} scene */
const report = (scene) => ({
    shapes: pictures.read(scene)?.shapes ?? null,
    caption: pictures.caption(scene),
    fault: pictures.fault(scene),
    straight: pictures.straight(scene),
    seeing: scene.map((shape) => [...seeing(scene, shape)]),
});

/** @param {Scene} start */
function walked(start) {
    let scene = start;
    return Array.from({ length: steps }, () => {
        const moved = draws.whole(scene.length);
        const by = () => draws.whole(13) - 6;
        const next = scene.map((shape, at) =>
            at === moved ? { ...shape, top: shape.top + by(), left: shape.left + by() } : shape,
        );
        if (!pictures.fault(next)) scene = next;
        return report(scene);
    });
}

const all = Array.from({ length: drawn }, () => pictures.drawn(random));
console.log(
    JSON.stringify({
        beyond: BEYOND,
        scenes: scenes.map((/** @type {Scene} */ scene) => ({
            ...report(scene),
            image: [...painted(pictures.facts, scene, null)],
        })),
        drawn: all.map(report),
        walked: all.flatMap(walked),
    }),
);
