// @ts-check
// Handles: what a reader drags in a picture, by pointer, by touch or with the arrow keys.

import { element } from "./parts.mjs";

/** @typedef {[number, number]} Point from 0 to 1, from the picture's left and top */

/** @type {Record<string, [number, number]>} */
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * Return a handle. It reports where it should go and does not move itself: call `put`.
 * @param {HTMLElement} picture the box that the handle stands in
 * @param {object} actions
 * @param {() => void} actions.taken called when the handle gets the focus or is grabbed
 * @param {(to: Point) => void} actions.dragged
 * @param {(right: number, down: number) => void} actions.pushed called with the steps of a key
 */
export function handle(picture, { taken, dragged, pushed }) {
    const knob = element("button", { type: "button", class: "play-handle" });
    /** @type {Point} */
    let at = [0, 0];
    /** From the handle's middle to the pointer that holds it. @type {Point | null} */
    let held = null;

    // The frame is measured at every event, since the window may change its size during a drag.
    const pointer = (/** @type {PointerEvent} */ event) => {
        const { left, top, width, height } = picture.getBoundingClientRect();
        return [(event.clientX - left) / width, (event.clientY - top) / height];
    };
    knob.addEventListener("focus", taken);
    knob.addEventListener("keydown", (event) => {
        const steps = KEYS[event.key];
        if (!steps || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        pushed(...steps);
    });
    knob.addEventListener("pointerdown", (event) => {
        if (!event.isPrimary || event.button !== 0) return;
        const [x, y] = pointer(event);
        held = [x - at[0], y - at[1]];
        knob.setPointerCapture(event.pointerId);
        taken();
    });
    knob.addEventListener("pointermove", (event) => {
        if (!held || !knob.hasPointerCapture(event.pointerId)) return;
        const [x, y] = pointer(event);
        dragged([x - held[0], y - held[1]]);
    });
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"])
        knob.addEventListener(name, () => {
            held = null;
        });
    picture.append(knob);

    return {
        /** @param {Point} to @param {string} label what screen readers say */
        put(to, label) {
            at = to;
            knob.style.left = `${100 * to[0]}%`;
            knob.style.top = `${100 * to[1]}%`;
            knob.setAttribute("aria-label", label);
        },
    };
}
