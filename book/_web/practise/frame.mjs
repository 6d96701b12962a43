// @ts-check
// The part below every cell that runs: its buttons, the status of the run, and the outputs.

import { button, element } from "../parts.mjs";
import { Outputs } from "./outputs.mjs";

/** The id of the line that tells how to leave an editor by keyboard. */
export const HINT = "practise-hint";

/** @typedef {[text: string, does: () => void]} Action */

/**
 * @param {string} name of the cell, which screen readers hear with the name of each button
 * @param {Action[]} actions the buttons; the first is the main one
 * @param {() => void} stop
 */
export function frame(name, actions, stop) {
    const said = element("span", { class: "practise-said", role: "status" });
    const loading = element("span", { class: "practise-loading" }); // no status role: it changes too often to be read aloud
    const buttons = actions.map(([text, does]) => named(text, name, does));
    const stopping = named("Stop", name, () => {
        buttons[0].focus(); // before the pressed button disappears
        stop();
    });
    stopping.classList.add("practise-stop");
    stopping.hidden = true;
    const row = element("div", { class: "practise-buttons" }, ...buttons, stopping, said, loading);
    return {
        row,
        buttons,
        view: {
            name,
            outputs: new Outputs(name),
            /** @param {string} text */
            say(text) {
                said.textContent = text;
                loading.textContent = "";
            },
            /** @param {string} text the progress of loading Python, for a cell that waits for it */
            wait(text) {
                if (!stopping.hidden) loading.textContent = text;
            },
            /** @param {boolean} running */
            busy(running) {
                if (!running && document.activeElement === stopping) buttons[0].focus();
                stopping.hidden = !running;
                row.toggleAttribute("data-running", running);
            },
        },
    };
}

/**
 * Return a button whose accessible name includes its cell.
 * @param {string} text
 * @param {string} name
 * @param {() => void} does
 */
export function named(text, name, does) {
    const made = button(text, does);
    made.setAttribute("aria-label", `${text}: ${name}`);
    return made;
}
