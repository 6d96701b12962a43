// @ts-check
// The changes that a reader can make to the machines: hide words, shift positions, switch off a
// head.

import { element, slider } from "../parts.mjs";
import { BLOCKS, HEADS } from "./transformer.mjs";

/** @typedef {import("./translating.mjs").Changed} Changed */

/** The first position of both stacks can be any of these; the machines are trained from 0. */
const FIRST_POSITIONS = Array.from({ length: 31 }, (_, at) => at);

/**
 * The words of the source as buttons; a pressed button hides its word.
 * @param {(hidden: Set<number>) => void} changed
 */
function hiding(changed) {
    const hidden = new Set();
    const row = element("div", {
        class: "live-hide",
        role: "group",
        "aria-label": "Words of the source to hide",
    });
    const place = element(
        "div",
        {},
        element(
            "p",
            { class: "live-told" },
            "Hide a word from the look, and see what is written in its place:",
        ),
        row,
    );

    /** @param {string[]} words */
    function show(words) {
        hidden.clear();
        row.replaceChildren(
            ...words.map((word, at) => {
                const made = element("button", { type: "button", "aria-pressed": "false" }, word);
                made.addEventListener("click", () => {
                    if (!hidden.delete(at)) hidden.add(at);
                    made.setAttribute("aria-pressed", String(hidden.has(at)));
                    changed(hidden);
                });
                return made;
            }),
        );
    }
    return { place, show };
}

/**
 * @param {string} id unique on the page
 * @param {string} ask "hide", "positions" or "longer"
 * @param {(changed: Changed) => void} changed
 */
export function asks(id, ask, changed) {
    if (ask === "hide") return hiding((hidden) => changed({ hidden: new Set(hidden) }));
    const place = element("div");
    if (ask === "positions") {
        /** @type {[string, string][]} */
        const heads = Array.from({ length: BLOCKS * HEADS }, (_, at) => [
            `${Math.floor(at / HEADS)},${at % HEADS}`,
            `block ${Math.floor(at / HEADS) + 1}, head ${(at % HEADS) + 1}`,
        ]);
        /** @type {Changed} */
        let now = {};
        const select = element(
            "select",
            { id: `${id}-head` },
            element("option", { value: "" }, "none"),
            ...heads.map(([value, words]) => element("option", { value }, words)),
        );
        select.addEventListener("change", () => {
            const [block, head] = select.value.split(",").map(Number);
            now = { ...now, off: select.value ? { block, head } : null };
            changed(now);
        });
        place.append(
            element(
                "p",
                { class: "live-slider" },
                ...slider(
                    `${id}-moved`,
                    "The first position is",
                    FIRST_POSITIONS,
                    0,
                    (moved) => (moved ? String(moved) : "0, as trained"),
                    (moved) => {
                        now = { ...now, moved };
                        changed(now);
                    },
                ),
            ),
            element("p", {}, element("label", { for: `${id}-head` }, "Head that is off: "), select),
        );
    }
    return { place, show: (/** @type {string[]} */ _words) => {} };
}
