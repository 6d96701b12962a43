// @ts-check
// The form in which a reader edits the sequence of the maps.

import { TASKS } from "../learning/tasks.mjs";
import { element } from "../parts.mjs";
import { parsed, tokensOf } from "./sequence.mjs";

/**
 * @param {string} id unique on the page
 * @param {(sequence: number[][]) => void} written receives the reader's sequence
 * @param {(why: string) => void} refused receives the fault in it
 */
export function editor(id, written, refused) {
    let task = "";
    const field = element("input", { id: `${id}-sequence`, type: "text", autocomplete: "off" });
    field.spellcheck = false;
    const look = element("button", {}, "Look at it");
    const label = element("label", { for: field.id }, "The sequence of the maps; write another");
    const node = element("form", { class: "pg-editor" }, label, field, look);
    node.addEventListener("submit", (event) => {
        event.preventDefault();
        if (look.disabled) return;
        try {
            written(parsed(field.value, TASKS[task].symbols, TASKS[task].each));
        } catch (error) {
            refused(error instanceof Error ? error.message : String(error));
        }
    });
    return {
        node,
        /** @param {string} name of the task @param {number[][]} sequence */
        show(name, sequence) {
            task = name;
            field.value = tokensOf(sequence, TASKS[task].symbols).join(" ");
        },
        /** @param {boolean} now whether there is a machine to show maps of */
        ready(now) {
            look.disabled = !now;
        },
    };
}
