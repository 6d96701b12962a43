// @ts-check
// The button with which a reader loads machines, and the loading.

import { button, element } from "../parts.mjs";
import { closed, opened, toGuess } from "./guessing.mjs";
import { fetched } from "./weights.mjs";

/** The folder of the weights, the tables and the matrix product. */
const FILES = new URL(".", import.meta.url);
const PRODUCT = new URL("../learning/product.wasm", import.meta.url);

/**
 * Files are fetched once for each page, however many figures it has.
 * @type {Map<string, Promise<unknown>>}
 */
const asked = new Map();

/**
 * @template Found
 * @param {string} name
 * @param {() => Promise<Found>} get
 * @returns {Promise<Found>}
 */
export function once(name, get) {
    const found = asked.get(name) ?? get();
    asked.set(name, found);
    found.catch(() => asked.delete(name)); // so that the reader can try again
    return /** @type {Promise<Found>} */ (found);
}

/** Fetch the bytes of a machine's weights, and those of the matrix product. @param {string} name */
export const bytesOf = (name) =>
    Promise.all([
        fetched(new URL(`${name}.model`, FILES)),
        once("product", async () => new Uint8Array(await (await fetch(PRODUCT)).arrayBuffer())),
    ]);

/** Fetch a JSON file. @param {string} name */
export const json = async (name) => (await fetch(new URL(name, FILES))).json();

/**
 * Put the button into the figure. The machines appear in its place, but only after the reader has
 * answered the figure's prediction, if there is one.
 * @template Found
 * @param {HTMLElement} place
 * @param {string} what for example "machine"
 * @param {number} kB the size of the files
 * @param {() => Promise<Found>} load
 * @param {(found: Found, stage: HTMLElement) => void} show fills the stage
 */
export function arriving(place, what, kB, load, show) {
    const status = element("p", { class: "live-said", role: "status" });
    const begin = button(`Run the ${what} here (${(kB / 1000).toFixed(1)} MB)`, start);
    begin.classList.add("live-begin");
    const stage = element("div", { class: "live-stage" });
    const go = place.querySelector(".live-go");
    const answer = place.querySelector(".seen");
    go?.append(begin, status);
    go?.after(stage);

    async function start() {
        begin.disabled = true;
        status.textContent = "The weights are on their way.";
        if (closed(answer)) toGuess(answer);
        try {
            const found = await load();
            if (closed(answer)) status.textContent = "They are here. Say first what you expect.";
            const guessed = closed(answer);
            await opened(answer);
            show(found, stage);
            for (const kept of place.querySelectorAll(".live-kept")) kept.remove();
            go?.remove();
            if (guessed) place.scrollIntoView(); // the prediction is below the figure
        } catch (error) {
            begin.disabled = false;
            status.textContent =
                "The weights did not arrive. Look at your connection and press once more. " +
                `(${error instanceof Error ? error.message : error})`;
        }
    }
}
