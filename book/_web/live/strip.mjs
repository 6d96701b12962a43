// @ts-check
// The book's curve of quality by length, which is in the page (book/_ext/live_strip.py), with the
// current sentence as dots.

import { drawn } from "../parts.mjs";

/** @typedef {{ left: number, right: number, top: number, bottom: number, most: number }} Scale */

/**
 * @param {HTMLElement} place of the figure
 * @param {string[]} titles of the machines
 */
export function strip(place, titles) {
    const picture = /** @type {HTMLElement} */ (place.querySelector(".live-strip"));
    const svg = /** @type {SVGElement} */ (picture.querySelector("svg"));
    /** @type {Scale} */
    const { left, right, top, bottom, most } = JSON.parse(svg.dataset.scale ?? "");
    const marks = titles.map((_, at) =>
        drawn("circle", { r: 5, class: `live-${at + 1} live-here`, visibility: "hidden" }),
    );
    const here = drawn("g", { role: "img" });
    here.append(...marks);
    svg.append(here);
    picture.querySelector("figcaption")?.append(" Dots: this one.");

    /**
     * Show the sentence on the curve.
     * @param {number} tokens
     * @param {(number | null)[]} found its accuracy with each machine
     */
    function put(tokens, found) {
        for (const [at, mark] of marks.entries()) {
            const share = found[at];
            const [x, y] = [Math.min(tokens / most, 1), share ?? 0];
            mark.setAttribute("visibility", share === null ? "hidden" : "visible");
            mark.setAttribute("cx", String(left + x * (right - left)));
            mark.setAttribute("cy", String(bottom - y * (bottom - top)));
        }
        const said = titles.flatMap((title, at) =>
            found[at] === null ? [] : [`${title}: ${Math.round(100 * (found[at] ?? 0))} %`],
        );
        here.setAttribute(
            "aria-label",
            `${tokens} words. Right and in their place: ${said.join("; ") || "none yet"}.`,
        );
    }
    put(
        0,
        titles.map(() => null),
    );
    return { place: picture, put };
}
