// @ts-check
// Translators that run in the page: a reader composes an English sentence, and sees what each
// machine makes of it beside the right translation.

import { button, dataOf, element } from "../parts.mjs";
import { asks } from "./asks.mjs";
import { accuracy } from "./compared.mjs";
import { Grammar } from "./grammar.mjs";
import { asText, sentence } from "./sentence.mjs";
import { strip } from "./strip.mjs";
import { Translator } from "./translating.mjs";
import { translation } from "./translations.mjs";
import { fetched } from "./weights.mjs";

/**
 * @typedef {{ name: string, title: string, kB: number, accuracy: number[] }} Machine
 * @typedef {{ ask: string, start: string[], lengths: [number, number][], machines: Machine[] }} Data
 */

/** Where the site has the weights, the grammar and the matrix product. */
const FILES = new URL(".", import.meta.url);
const PRODUCT = new URL("../learning/product.wasm", import.meta.url);

/** Fetched once a page, however many figures there are. @type {Map<string, Promise<unknown>>} */
const asked = new Map();

/**
 * @template Found
 * @param {string} name
 * @param {() => Promise<Found>} get
 * @returns {Promise<Found>}
 */
function once(name, get) {
    const found = asked.get(name) ?? get();
    asked.set(name, found);
    found.catch(() => asked.delete(name)); // so that it can be tried again
    return /** @type {Promise<Found>} */ (found);
}

const product = () =>
    once("product", async () => new Uint8Array(await (await fetch(PRODUCT)).arrayBuffer()));
const grammar = () =>
    once(
        "grammar",
        async () => new Grammar(await (await fetch(new URL("grammar.json", FILES))).json()),
    );

/** @param {string} name */
const translator = (name) =>
    once(name, async () => {
        const parts = [fetched(new URL(`${name}.model`, FILES)), product()];
        const [bytes, kernel] = await Promise.all(parts);
        return new Translator(bytes, kernel);
    });

/**
 * @param {HTMLElement} place
 * @param {number} number of the figure on its page
 */
export function live(place, number) {
    const id = `live-${number}`;
    /** @type {Data} */
    const { ask, start, lengths, machines } = dataOf(place);
    const megabytes = (machines.reduce((sum, { kB }) => sum + kB, 0) / 1000).toFixed(1);
    const status = element("p", { class: "live-said", role: "status" });
    const begin = button(
        `Run the ${machines.length > 1 ? "machines" : "machine"} here (${megabytes} MB)`,
        load,
    );
    begin.classList.add("live-begin");
    const stage = element("div", { class: "live-stage" });
    const kept = place.querySelector(".live-kept");
    kept?.after(element("div", { class: "live-go" }, begin, status), stage);

    async function load() {
        begin.disabled = true;
        status.textContent = "The machines are on their way.";
        try {
            const [rules, ...translators] = await Promise.all([
                grammar(),
                ...machines.map(({ name }) => translator(name)),
            ]);
            show(rules, translators);
        } catch (error) {
            begin.disabled = false;
            status.textContent =
                "The machines did not arrive. Look at your connection and press once more. " +
                `(${error instanceof Error ? error.message : error})`;
        }
    }

    /** @param {Grammar} rules @param {Translator[]} translators */
    function show(rules, translators) {
        /** @type {string[]} */
        let source = [];
        /** @type {string[] | null} */
        let right = null;
        /** @type {import("./translating.mjs").Changed} */
        let changed = {};
        const looks = element("p", { class: "live-looks", lang: "en", "aria-live": "polite" });
        const wanted = element("p", { class: "live-words", lang: "fr" });
        const rows = machines.map(({ title }, at) => translation(title, at + 1, pointed));
        const onStrip = strip(lengths, machines);
        const asking = asks(id, ask, (one) => {
            changed = one;
            write();
        });
        const composed = sentence(id, rules, start, (words, translated) => {
            [source, right] = [words, translated];
            changed = ask === "hide" ? {} : changed;
            asking.show(right ? source : []);
            write();
        });

        /** Show the source with the weights of a look. @param {Float32Array | null} look @param {string} word */
        function pointed(look, word) {
            if (!look) return looks.replaceChildren();
            const largest = Math.max(...look);
            looks.replaceChildren(
                `Before “${word}” it looked at: `,
                ...source.flatMap((one, at) => {
                    const share = look[at] / largest;
                    const made = element(
                        "span",
                        { class: "live-seen", style: `--share: ${share.toFixed(3)}` },
                        one,
                    );
                    return [
                        made,
                        look[at] >= 0.05
                            ? element("small", {}, ` ${look[at].toFixed(2).slice(1)} `)
                            : " ",
                    ];
                }),
            );
        }

        async function write() {
            looks.replaceChildren();
            wanted.textContent = right ? asText(right) : "";
            if (!right) {
                for (const row of rows) row.wait("It waits for a whole sentence.");
                onStrip.put(
                    source.length,
                    machines.map(() => null),
                );
                return;
            }
            const [asked, reference] = [source, right];
            /** @type {(number | null)[]} */
            const found = machines.map(() => null);
            for (const [at, row] of rows.entries()) row.wait(at ? "…" : "");
            await Promise.all(
                rows.map(async (row, at) => {
                    const words = await row.write(translators[at], asked, reference, changed);
                    if (words === null) return;
                    found[at] = accuracy(words, reference);
                    onStrip.put(asked.length, found);
                }),
            );
        }

        stage.replaceChildren(
            composed.place,
            asking.place,
            element(
                "div",
                { class: "live-machine live-right" },
                element("p", { class: "live-name" }, "Right"),
                wanted,
            ),
            ...rows.map((row) => row.place),
            looks,
            onStrip.place,
        );
        kept?.remove();
        begin.parentElement?.remove();
        composed.begin();
    }
}

for (const [at, place] of [...document.querySelectorAll(".live")].entries())
    if (place instanceof HTMLElement) live(place, at + 1);
