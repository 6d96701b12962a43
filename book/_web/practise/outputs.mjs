// @ts-check
// The outputs of a cell, below it: text, values, HTML and errors. `notebook.py` shortens long ones.

import { element } from "../parts.mjs";
import { cleaned } from "./clean.mjs";

/**
 * @typedef {{ kind: "text", stream: "stdout" | "stderr", text: string }
 *     | { kind: "html", html: string }
 *     | { kind: "value", text: string }
 *     | { kind: "error", name: string, message: string, text: string }} Output
 */

export class Outputs {
    /** The text node to which more printed text is appended. @type {Text | null} */
    #printed = null;
    #stream = "";

    /** @param {string} of the cell's name for screen readers */
    constructor(of) {
        this.of = of;
        this.node = element("div", { class: "practise-outputs" });
    }

    clear() {
        this.node.replaceChildren();
        this.#printed = null;
    }

    /** @param {Output} output */
    add(output) {
        if (output.kind === "text" && this.#printed && this.#stream === output.stream)
            return this.#printed.appendData(output.text);
        if (output.kind === "html")
            return this.#put(element("div", { class: "practise-html" }, cleaned(output.html)));
        const kind = output.kind === "text" ? output.stream : output.kind;
        const text = document.createTextNode(output.text);
        const name = kind === "error" ? `Error in ${this.of}` : `Output of ${this.of}`;
        // The element scrolls, so the keyboard must be able to reach it.
        const options = {
            class: `practise-${kind}`,
            tabindex: 0,
            role: "group",
            "aria-label": name,
        };
        this.#put(element("pre", options, text));
        if (output.kind !== "text") return;
        this.#printed = text;
        this.#stream = output.stream;
    }

    /** @param {Node} node */
    #put(node) {
        this.node.append(node);
        this.#printed = null;
    }
}
