// @ts-check
// Runs a cell of the page after all that it needs, and shows what comes of it at its place.

import { plan } from "./plan.mjs";
import { Failed, NotStarted, Stopped } from "./python.mjs";
import { ended, time } from "./words.mjs";

/**
 * @typedef {import("./outputs.mjs").Output} Output
 * @typedef {import("./plan.mjs").Cell} Cell
 * @typedef {import("./python.mjs").Python} Python
 */

/**
 * What the page shows of a cell.
 * @typedef {object} View
 * @property {string} name
 * @property {import("./outputs.mjs").Outputs} outputs
 * @property {(text: string) => void} say
 * @property {(text: string) => void} wait how far Python is, where the cell waits for it
 * @property {(running: boolean) => void} busy
 * @property {ReturnType<typeof import("./report.mjs").report>} [report] of an answer
 */

/**
 * What the reader has typed and run.
 * @typedef {object} Notes
 * @property {() => Cell[]} cells in the order of the page, as they are now
 * @property {() => string[]} ran
 * @property {(id: string) => void} noteRun
 * @property {(exercise: string, passed: boolean) => void} noteCheck
 * @property {() => void} flush writes at once what was typed
 */

const UNREAD = "Your cell stopped with an error, so there is nothing to check yet.";

export class Runner {
    /** The views of all cells by their ids. @type {Map<string, View>} */
    views = new Map();
    /** @type {View | null} */
    #running = null;
    #expected = false;
    /** The views that say that Python did not start. @type {Set<View>} */
    #waiting = new Set();

    /** @param {Python} python @param {Notes} notes */
    constructor(python, notes) {
        this.python = python;
        this.notes = notes;
    }

    /** The reader types: fetch Python meanwhile. */
    expect() {
        if (this.#expected) return;
        this.#expected = true;
        this.python.start().catch(() => {}); // the bar says so, and the first run tries again
    }

    /** Python is tried again: no cell says any longer that it did not start. */
    starts() {
        for (const view of this.#waiting) if (view !== this.#running) view.say("");
        this.#waiting.clear();
    }

    /** End what runs; what was typed stays. */
    stop() {
        this.python.stop();
    }

    /**
     * @param {string} target the id of a cell
     * @param {boolean} check whether the answer there is checked, too
     */
    async run(target, check = false) {
        const view = this.#view(target);
        if (this.#running) {
            const which = this.#running === view ? "This cell" : this.#running.name;
            view.say(`${which} is still running. Wait for it, or stop it.`);
            return;
        }
        this.#running = view;
        this.notes.flush();
        view.busy(true);
        view.outputs.clear();
        view.report?.clear();
        try {
            view.say("Waiting for Python.");
            await this.python.ready();
            await this.#steps(target, view, check);
        } catch (error) {
            if (!(error instanceof Stopped || error instanceof Failed)) throw error;
            view.say(error.message);
            if (error instanceof NotStarted) this.#waiting.add(view);
        } finally {
            this.#running = null;
            view.busy(false);
        }
    }

    /** @param {string} target @param {View} view @param {boolean} check */
    async #steps(target, view, check) {
        const steps = plan(this.notes.cells(), target, this.python.session, this.notes.ran());
        for (const cell of steps.slice(0, -1)) {
            view.say(`Running ${this.#view(cell.id).name} first.`);
            await this.#step(cell, cell.kind === "given" ? this.#view(cell.id) : null);
        }
        view.say(check ? "Checking." : "Running.");
        const { result, error } = await this.#step(steps[steps.length - 1], view);
        if (steps[steps.length - 1].kind !== "given") this.notes.noteRun(target);
        if (!check) view.say(ended(result, error));
        else if (result.ok) await this.#check(target, view);
        else {
            this.notes.noteCheck(target, false);
            view.report?.refuse(UNREAD);
            view.say(ended(result, error));
        }
    }

    /** @param {Cell} cell @param {View | null} view where its outputs are shown, if anywhere */
    async #step(cell, view) {
        let error = "";
        view?.outputs.clear();
        const session = this.python.session;
        const result = await this.python.run(this.#view(cell.id).name, cell.source, (output) => {
            if (output.kind === "error") error = output.name;
            view?.outputs.add(output);
        });
        const spoilt = new Set(result.spoilt);
        const ids = [...this.views].filter(([, { name }]) => spoilt.has(name)).map(([id]) => id);
        session.note(cell, ids);
        return { result, error };
    }

    /** @param {string} exercise @param {View} view */
    async #check(exercise, view) {
        /** @type {Output[]} */
        const shown = [];
        const result = await this.python.check(exercise, (output) => {
            if (output.kind === "html") shown.push(output);
            else view.outputs.add(output);
        });
        view.report?.show(result, shown);
        view.say(`Checked ${time(result.seconds)}.`);
        if (result.passed !== null) this.notes.noteCheck(exercise, result.passed);
    }

    /** @param {string} id @returns {View} */
    #view(id) {
        const view = this.views.get(id);
        if (!view) throw new Error(`the page has no cell ${id}`);
        return view;
    }
}
