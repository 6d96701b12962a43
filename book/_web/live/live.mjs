// @ts-check
// Translators that run in the page: a reader composes an English sentence, and compares each
// machine's translation with the right one.

import { dataOf, element } from "../parts.mjs";
import { arriving, bytesOf, json, once } from "./arriving.mjs";
import { asks } from "./asks.mjs";
import { accuracy } from "./compared.mjs";
import { Grammar } from "./grammar.mjs";
import { asText, sentence } from "./sentence.mjs";
import { strip } from "./strip.mjs";
import { Translator } from "./translating.mjs";
import { translation } from "./translations.mjs";

/**
 * @typedef {{ name: string, title: string, kB: number }} Machine
 * @typedef {{ ask: string, start: string[], machines: Machine[] }} Data
 */

const HINT = "Point at a French word, or tap it, to see where it looked in the English.";

const grammar = () => once("grammar", async () => new Grammar(await json("grammar.json")));

/** @param {string} name */
const translator = (name) => once(name, async () => new Translator(...(await bytesOf(name))));

/**
 * @param {HTMLElement} place
 * @param {number} number of the figure on its page
 */
export function live(place, number) {
    const id = `live-${number}`;
    /** @type {Data} */
    const { ask, start, machines } = dataOf(place);
    const kB = machines.reduce((sum, one) => sum + one.kB, 0);
    const load = () =>
        Promise.all([grammar(), Promise.all(machines.map(({ name }) => translator(name)))]);
    arriving(place, machines.length > 1 ? "machines" : "machine", kB, load, show);

    /** @param {[Grammar, Translator[]]} found @param {HTMLElement} stage */
    function show([rules, translators], stage) {
        /** @type {string[]} */
        let source = [];
        /** @type {string[] | null} */
        let right = null;
        /** @type {import("./translating.mjs").Changed} */
        let changed = {};
        const looks = element("p", { class: "live-looks", lang: "en", "aria-live": "polite" });
        const wanted = element("p", { class: "live-words", lang: "fr" });
        const rows = machines.map(({ title }, at) => translation(title, at + 1, pointed));
        const onStrip = strip(
            place,
            machines.map(({ title }) => title),
        );
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

        /**
         * Show the source with the weights of a look.
         * @param {Float32Array | null} look
         * @param {string} word
         */
        function pointed(look, word) {
            if (!look) {
                const can = stage.querySelector(".live-word[tabindex]");
                return looks.replaceChildren(can ? HINT : "");
            }
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
            if (!looks.textContent) pointed(null, "");
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
        composed.begin();
    }
}

for (const [at, place] of [...document.querySelectorAll(".live")].entries())
    if (place instanceof HTMLElement) live(place, at + 1);
