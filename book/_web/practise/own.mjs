// @ts-check
// The reader's own cells, below an answer, for trying something.

import { element } from "../parts.mjs";
import { editor } from "./editor.mjs";
import { frame, HINT } from "./frame.mjs";

/** @typedef {import("./page.mjs").Page} Page */

/** @param {string} below the released cell above them @param {Page} page */
export function ownCells(below, page) {
    const node = element("div", { class: "practise-owns" });
    /** @type {Map<string, ReturnType<typeof made>>} */
    const cells = new Map();
    let count = 0;

    /** @param {{ id: string, source: string }} own */
    function made({ id, source }) {
        count += 1;
        const name = `your cell ${count} below ${below}`;
        const run = () => page.runner.run(id);
        const { row, buttons, view } = frame(
            name,
            [
                ["Run", run],
                ["Remove", remove],
                ["Add a cell below", () => add(id)],
            ],
            () => page.runner.stop(),
        );
        buttons[1].classList.add("practise-quiet");
        buttons[2].classList.add("practise-quiet");
        const code = editor({
            name: `${name[0].toUpperCase()}${name.slice(1)}`,
            hint: HINT,
            text: source,
            typed: (text) => page.store.setOwn(id, text),
            run,
            check: run,
        });

        function remove() {
            const text = page.store.answers.own.find((one) => one.id === id)?.source ?? "";
            if (text.trim() && !window.confirm(`Remove ${name} and what stands in it?`)) return;
            page.store.removeOwn(id);
            show();
            focusNear();
        }

        page.runner.views.set(id, view);
        const field = {
            refresh() {},
            /** @param {boolean} now */
            lock(now) {
                code.lock(now);
                buttons[1].disabled = buttons[2].disabled = now;
            },
        };
        page.add(field);
        const place = element("div", { class: "practise-own", "data-live": "" });
        place.append(element("div", {}, code.node), row, view.outputs.node);
        return { place, code, field };
    }

    /** Move the focus to a nearby button after the cell with the pressed button was removed. */
    function focusNear() {
        const near = node.querySelector(".practise-own:last-child button") ?? node.parentElement;
        const target = near instanceof HTMLButtonElement ? near : near?.querySelector("button");
        target?.focus();
    }

    /** Show the stored cells in their order. Cells that stay are not touched. */
    function show() {
        const kept = page.ownBelow(below);
        for (const [id, { place, field }] of cells) {
            if (kept.some((one) => one.id === id)) continue;
            place.remove();
            page.drop(field);
            page.runner.views.delete(id);
            cells.delete(id);
        }
        let at = node.firstChild;
        for (const own of kept) {
            const cell = cells.get(own.id) ?? made(own);
            cells.set(own.id, cell);
            cell.code.replace(own.source);
            if (cell.place === at) at = at.nextSibling;
            else node.insertBefore(cell.place, at);
        }
    }

    /** @param {string} after */
    function add(after) {
        const id = page.store.addOwn(after);
        show();
        cells.get(id)?.code.focus();
    }

    show();
    page.add({ refresh: show, lock() {} });
    return { node, add };
}
