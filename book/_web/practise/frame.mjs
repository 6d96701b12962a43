// @ts-check
// What stands below every cell that runs: its buttons, what is said of a run, and its outputs.

import { button, element } from "../parts.mjs";
import { Outputs } from "./outputs.mjs";

/** The id of the line that says how the keyboard leaves an editor. */
export const HINT = "practise-hint";

/** @typedef {[text: string, does: () => void]} Action */

/**
 * @param {string} name of the cell, for a screen reader: every button is named by it
 * @param {Action[]} actions the first is the one that is wanted most
 * @param {() => void} stop
 */
export function frame(name, actions, stop) {
    const said = element("span", { class: "practise-said", role: "status" });
    const loading = element("span", { class: "practise-loading" }); // changes too often to be read
    const buttons = actions.map(([text, does]) => named(text, name, does));
    const stopping = named("Stop", name, () => {
        buttons[0].focus(); // before the pressed button goes
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
            /** @param {string} text how far Python is, where the cell waits for it */
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

/** A button whose name says of which cell it is. @param {string} text @param {string} name @param {() => void} does */
export function named(text, name, does) {
    const made = button(text, does);
    made.setAttribute("aria-label", `${text}: ${name}`);
    return made;
}
