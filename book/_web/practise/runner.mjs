// @ts-check
// Runs a cell of the page after the cells that it needs, and shows its outputs below it.

import { plan } from "./plan.mjs";
import { Failed, NotStarted, Stopped } from "./python.mjs";
import { ended, time } from "./words.mjs";

/**
 * @typedef {import("./outputs.mjs").Output} Output
 * @typedef {import("./plan.mjs").Cell} Cell
 * @typedef {import("./python.mjs").Python} Python
 */

/**
 * The parts of a cell that show its run.
 * @typedef {object} View
 * @property {string} name
 * @property {import("./outputs.mjs").Outputs} outputs
 * @property {(text: string) => void} say
 * @property {(text: string) => void} wait shows the progress of loading Python, if the cell waits for it
 * @property {(running: boolean) => void} busy
 * @property {ReturnType<typeof import("./report.mjs").report>} [report] for an answer
 */

/**
 * The texts that the reader has typed, and the record of runs.
 * @typedef {object} Notes
 * @property {() => Cell[]} cells in the order of the page, as they are now
 * @property {() => string[]} ran
 * @property {(id: string) => void} noteRun
 * @property {(exercise: string, passed: boolean) => void} noteCheck
 * @property {() => void} flush writes pending changes now
 */

const UNREAD = "Your cell stopped with an error, so there is nothing to check yet.";

export class Runner {
    /** The views of all cells, by id. @type {Map<string, View>} */
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

    /** Start to fetch Python, since the reader has begun to type. */
    expect() {
        if (this.#expected) return;
        this.#expected = true;
        this.python.start().catch(() => {}); // the bar reports the error, and the first run tries again
    }

    /** Clear the messages that Python did not start, since it is being started again. */
    starts() {
        for (const view of this.#waiting) if (view !== this.#running) view.say("");
        this.#waiting.clear();
    }

    /** Stop the run; the texts stay. */
    stop() {
        this.python.stop();
    }

    /**
     * @param {string} target the id of a cell
     * @param {boolean} check whether to check the answer, too
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

    /** @param {Cell} cell @param {View | null} view for its outputs; null to show none */
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
