// @ts-check
// A picture with the light of a look on it: each of the 64 places is as bright as its share. The
// reader can point at a place, and choose it.

import { moved } from "../cells.mjs";
import { drawn, element } from "../parts.mjs";
import { canvas } from "./canvas.mjs";
import { GRID, SIDE } from "./captioner.mjs";
import { placeText } from "./looked.mjs";

/**
 * @param {(place: number) => void} chosen is called with a place after a click or Enter
 */
export function lookMap(chosen) {
    const picture = canvas(SIDE);
    const svg = drawn("svg", { viewBox: `0 0 ${GRID} ${GRID}`, role: "grid" });
    const told = element("p", { class: "live-told look-place" });
    const cells = Array.from({ length: GRID }, (_, y) =>
        Array.from({ length: GRID }, (_, x) =>
            drawn("rect", { x, y, width: 1, height: 1, role: "gridcell", tabindex: -1 }),
        ),
    );
    for (const row of cells) {
        const group = drawn("g", { role: "row" });
        group.append(...row);
        svg.append(group);
    }
    const all = cells.flat();
    /** @type {Float32Array} */
    let shares = new Float32Array(all.length);
    let at = 0;

    /** Describe a place, and make it the next one for the keyboard. @param {number} place */
    function point(place) {
        all[at].setAttribute("tabindex", "-1");
        at = place;
        all[at].setAttribute("tabindex", "0");
        told.textContent = placeText(at, shares[at]);
    }

    /** @param {Event} event */
    const placeOf = ({ target }) => (target instanceof SVGRectElement ? all.indexOf(target) : -1);
    const around = element("div", { class: "look-picture" }, picture.place, svg);
    for (const name of ["pointermove", "focusin"])
        around.addEventListener(name, (event) => {
            if (placeOf(event) >= 0) point(placeOf(event));
        });
    around.addEventListener("click", (event) => {
        if (placeOf(event) >= 0) chosen(placeOf(event));
    });
    around.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
            event.preventDefault();
            chosen(at);
        }
        const to = moved(event.key, Math.floor(at / GRID), at % GRID, GRID - 1);
        if (!to) return;
        event.preventDefault();
        cells[to[0]][to[1]].focus();
    });

    /** @param {Float32Array} image @param {string} said a description of it */
    function see(image, said) {
        picture.show(image, said);
    }

    /** @param {Float32Array} look (64,) @param {string} word */
    function light(look, word) {
        shares = look;
        const largest = Math.max(...look);
        svg.setAttribute(
            "aria-label",
            `Where it looked for “${word}”. Enter forces the look there.`,
        );
        for (const [place, cell] of all.entries()) {
            cell.setAttribute("aria-label", placeText(place, look[place]));
            cell.style.setProperty("--share", (look[place] / largest).toFixed(3));
            cell.classList.toggle("look-alone", look[place] === 1);
        }
        point(look.indexOf(largest));
    }

    return { place: element("div", {}, around, told), see, light };
}
