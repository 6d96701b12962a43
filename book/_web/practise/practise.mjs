// @ts-check
// Makes an assignment's page interactive: each answer gets an editor, and is checked by the same
// self-check as in the notebook, in a Python that runs in a worker.

import { button, element, fragment } from "../parts.mjs";
import { AnswerStore } from "./answers.mjs";
import { makeBar } from "./bar.mjs";
import { answerCell, givenCell, writtenCell } from "./cells.mjs";
import { Page } from "./page.mjs";
import { Python } from "./python.mjs";
import { cellsOf } from "./released.mjs";
import { Runner } from "./runner.mjs";
import { loading, PYTHON } from "./words.mjs";

/** @typedef {import("./page.mjs").Data} Data */

/** @param {string} path from the page */
const absolute = (path) => new URL(path, document.baseURI).href;

/** Make the page interactive. @param {Data} data @param {import("./released.mjs").Notebook} released @param {Element} place of the bar */
function practise(data, released, place) {
    const store = new AnswerStore(data.assignment, data.edition, released);
    const state = element("p", { class: "practise-python" });
    const where = {
        python: absolute(data.python),
        files: absolute(data.files),
        archive: absolute(data.archive),
        sizes: data.sizes,
        version: data.version,
        assignment: data.assignment,
    };
    const python = new Python(where, (now, { bytes, total, why }) => {
        state.replaceChildren(why || PYTHON[now]);
        if (now === "loading") runner.starts();
        if (now === "failed")
            state.append(
                " ",
                button("Try again", () => python.start()),
            );
        for (const view of runner.views.values())
            view.wait(now === "loading" ? loading(bytes, total) : "");
    });
    const runner = new Runner(python, {
        cells: () => cellsOf(released, store.answers),
        ran: () => store.answers.ran,
        noteRun: (id) => store.noteRun(id),
        noteCheck: (exercise, passed) => store.noteCheck(exercise, passed),
        flush: () => store.flush(),
    });
    const page = new Page(store, runner);
    makeBar(place, { store, released, data, onReplaced: () => page.refresh() });
    state.replaceChildren(PYTHON.absent);
    place.append(state);
    /** @param {string} kind @param {(place: HTMLElement, at: number) => void} make */
    const each = (kind, make) => {
        for (const [at, cell] of document.querySelectorAll(`.practise-${kind}`).entries())
            if (cell instanceof HTMLElement) make(cell, at + 1);
    };
    each("given", (cell, number) => givenCell(cell, page, number));
    each("answer", (cell) => answerCell(cell, page));
    each("written", (cell) => writtenCell(cell, page));
    const lock = () => page.lock(store.state === "elsewhere");
    store.on("state", lock);
    lock();
    document.getElementById(fragment(location.hash))?.scrollIntoView();
}

/** Fetch the notebook and make the page interactive; say so if it cannot be fetched. @param {Data} data @param {Element} place */
async function begin(data, place) {
    const name = `${data.assignment}.ipynb`;
    /** @type {import("./released.mjs").Notebook} */
    let released;
    try {
        const response = await fetch(absolute(`${data.files}${name}`));
        if (!response.ok) throw new Error(`${name}: ${response.status}`);
        released = await response.json();
    } catch (error) {
        const why = error instanceof Error ? error.message : error;
        const sentence = `The exercises could not be fetched (${why}). Look at your connection, then try again. `;
        const again = button("Try again", () => begin(data, place));
        place.replaceChildren(element("p", { role: "status" }, sentence, again));
        return;
    }
    practise(data, released, place);
}

const place = document.querySelector(".practise-bar");
const written = document.getElementById("practise-data")?.textContent;
if (place && written) begin(JSON.parse(written), place);
