// @ts-check
// The cells of a practise page: given code that the reader can run, answers with an editor, and
// written questions. The static code stays in the page for printing.

import { element } from "../parts.mjs";
import { editor } from "./editor.mjs";
import { frame, HINT, named } from "./frame.mjs";
import { ownCells } from "./own.mjs";
import { report } from "./report.mjs";

/** @typedef {import("./page.mjs").Page} Page */

/** Return the line below the first editor that tells how to leave an editor by keyboard. */
const hint = () =>
    element(
        "p",
        { class: "practise-hint", id: HINT },
        "Tab indents. To leave an editor by keyboard, press Escape, then Tab. Ctrl+Enter (or Cmd+Enter) " +
            "runs, Shift+Enter runs and checks.",
    );

/** @param {HTMLElement} place @param {Page} page @param {number} number of the given cell on the page */
export function givenCell(place, page, number) {
    const id = place.dataset.cell ?? "";
    const { row, view } = frame(`given code ${number}`, [["Run", () => page.runner.run(id)]], () =>
        page.runner.stop(),
    );
    page.runner.views.set(id, view);
    place.append(row, view.outputs.node, ownCells(id, page).node);
    place.dataset.live = "";
}

/** @param {HTMLElement} place @param {Page} page */
export function answerCell(place, page) {
    const id = place.dataset.exercise ?? "";
    const check = () => page.runner.run(id, true);
    const run = () => page.runner.run(id);
    const { row, buttons, view } = frame(
        id,
        [
            ["Check", check],
            ["Run", run],
            ["Reset", reset],
        ],
        () => page.runner.stop(),
    );
    const said = report(id);
    page.runner.views.set(id, { ...view, report: said });
    const code = editor({
        name: `Your answer to ${id}`,
        hint: HINT,
        text: page.store.source(id),
        typed(text) {
            page.store.set(id, text);
            page.runner.expect();
        },
        run,
        check,
    });
    buttons[0].classList.add("practise-check");

    function reset() {
        if (!window.confirm(`Put the stub of ${id} back, in place of what you typed?`)) return;
        page.store.reset(id);
        refresh();
        view.say("Reset. Undo in the editor (Ctrl+Z) brings your text back.");
    }

    /** Show the stored text; if it is new, clear the report and outputs of the old one. */
    function refresh() {
        if (!code.replace(page.store.source(id))) return;
        said.clear();
        view.outputs.clear();
        view.say("");
    }

    const own = ownCells(id, page);
    const add = named("Add a cell below", id, () => own.add(id));
    add.classList.add("practise-quiet");
    const below = element("div", { class: "practise-below" }, add);
    place.append(element("div", {}, code.node));
    if (!document.getElementById(HINT)) place.append(hint());
    place.append(row, said.node, view.outputs.node, below, own.node);
    place.dataset.live = "";
    page.add({
        refresh,
        lock(now) {
            code.lock(now);
            buttons[2].disabled = add.disabled = now;
        },
    });
}

/** @param {HTMLElement} place @param {Page} page */
export function writtenCell(place, page) {
    const id = place.dataset.cell ?? "";
    const shown = () => page.store.answers.sources[id] ?? "";
    const field = element("textarea", { id: `${id}-text`, rows: 5 });
    field.value = shown();
    const label = element("label", { for: field.id }, "Your answer to ", element("code", {}, id));
    field.addEventListener("input", () => {
        grow();
        page.store.set(id, field.value || (page.store.stubs.get(id) ?? ""));
    });

    /** Make the field as high as its text, in browsers where CSS cannot do that. */
    function grow() {
        if (CSS.supports("field-sizing", "content")) return;
        field.style.height = "auto";
        field.style.height = `${field.scrollHeight + 2}px`;
    }

    place.append(label, field, ownCells(id, page).node);
    place.dataset.live = "";
    grow();
    page.add({
        refresh() {
            if (field.value !== shown()) field.value = shown();
            grow();
        },
        lock(now) {
            field.readOnly = now;
        },
    });
}
