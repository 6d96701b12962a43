// @ts-check
// Captioners that run in the page. A reader composes a picture of coloured shapes, compares the
// captions and the looks of three captioners, and forces their looks elsewhere.

import { dataOf, element } from "../parts.mjs";
import { arriving, bytesOf, once } from "./arriving.mjs";
import { Captioner } from "./captioner.mjs";
import { looker } from "./looker.mjs";
import { Pictures } from "./pictures.mjs";
import { composing } from "./scene.mjs";

/**
 * @typedef {{ name: string, title: string, kB: number, hard: boolean }} Machine
 * @typedef {{ facts: import("./pictures.mjs").Facts, start: import("./pictures.mjs").Scene,
 *     machines: Machine[] }} Data
 */

/** @param {Machine} machine */
const captioner = ({ name, hard }) =>
    once(name, async () => new Captioner(...(await bytesOf(name)), hard));

/**
 * @param {HTMLElement} place
 * @param {number} number of the figure on its page
 */
function captions(place, number) {
    /** @type {Data} */
    const { facts, start, machines } = dataOf(place);
    const pictures = new Pictures(facts);
    const kB = machines.reduce((sum, one) => sum + one.kB, 0);
    const load = () => Promise.all(machines.map(captioner));
    arriving(place, "captioners", kB, load, (captioners, stage) => {
        const right = element("p", { class: "live-words" });
        const lookers = captioners.map((one, at) =>
            looker(`look-${number}-${at + 1}`, machines[at].title, one),
        );
        const composed = composing(pictures, start, (scene, image) => {
            const caption = pictures.caption(scene);
            right.textContent = caption.join(" ");
            for (const { show } of lookers) show(scene, image, caption);
        });
        stage.replaceChildren(
            composed.place,
            element(
                "div",
                { class: "live-machine live-right" },
                element("p", { class: "live-name" }, "Right"),
                right,
            ),
            ...lookers.map((one) => one.place),
        );
        composed.begin();
    });
}

for (const [at, place] of [...document.querySelectorAll(".captioner")].entries())
    if (place instanceof HTMLElement) captions(place, at + 1);
