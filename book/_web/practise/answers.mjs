// @ts-check
// A reader's answers to an assignment, stored in this browser. Each change is written after a
// pause, or at once when the reader leaves the page or `flush` is called. A single tab writes
// (`turn.mjs`); the other tabs show what it has written.

import { forbidden, get, listen, remove, set } from "../storage.mjs";
import { fitted, noAnswers } from "./kept.mjs";
import { freshId, stubsOf } from "./released.mjs";
import { tick, untick, untickAll } from "./ticks.mjs";
import { takeTurns } from "./turn.mjs";

const PAUSE = 300; // milliseconds after the last keystroke

/** @typedef {import("./kept.mjs").Answers} Answers */
/** @typedef {import("./released.mjs").Notebook} Notebook */
/**
 * "deleted": another tab has deleted the answers. This tab still shows them, and stores them again
 * with the next change.
 * @typedef {"kept" | "full" | "forbidden" | "elsewhere" | "deleted"} State
 */
/**
 * The events: a new state; answers that were not typed in this page, so that its editors must show
 * them; and any change of the answers, including those.
 * @typedef {{ state: State, answers: Answers, change: Answers }} Events
 */

export class AnswerStore {
    /** @type {{ [Name in keyof Events]: ((value: Events[Name]) => void)[] }} */
    #callbacks = { state: [], answers: [], change: [] };
    /** @type {Answers} */
    #answers;
    /** @type {State} */
    #state = "kept";
    /** @type {boolean | null} whether this tab writes; null while that is unknown */
    #writes = null;
    #dirty = false;
    /** The texts that were typed and not written yet, by cell. @type {Map<string, string>} */
    #typed = new Map();
    /** The stored answers as last read or written, as text. */
    #last;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #pause;
    /** @type {{ takeOver: () => void } | null} */
    #turns = null;

    /**
     * @param {string} assignment
     * @param {string} edition
     * @param {Notebook} released
     */
    constructor(assignment, edition, released) {
        this.assignment = assignment;
        this.edition = edition;
        this.released = released;
        this.stubs = stubsOf(released);
        this.key = `practise:${assignment}`;
        const kept = get(this.key);
        this.#last = JSON.stringify(kept);
        this.#answers = fitted(kept, edition, released);
        listen((key, value) => {
            if (key === null || key === this.key) this.#heard(value);
        });
        window.addEventListener("pagehide", () => this.flush());
        document.addEventListener("visibilitychange", () => this.flush());
        window.addEventListener("beforeunload", (event) => {
            this.flush();
            if (this.#dirty && this.#writes) event.preventDefault(); // otherwise the answers would be lost
        });
        if (forbidden()) {
            this.#writes = true;
            this.#state = "forbidden";
        } else this.#turns = takeTurns(assignment, (mine) => this.#turn(mine));
    }

    get answers() {
        return this.#answers;
    }

    get state() {
        return this.#state;
    }

    /**
     * @template {keyof Events} Name
     * @param {Name} name
     * @param {(value: Events[Name]) => void} callback
     */
    on(name, callback) {
        this.#callbacks[name].push(callback);
    }

    /** Return the current text of an answer's cell. @param {string} cell */
    source(cell) {
        return this.#answers.sources[cell] ?? this.stubs.get(cell) ?? "";
    }

    /** Change the text of a released cell. @param {string} cell @param {string} text */
    set(cell, text) {
        if (text === this.source(cell)) return;
        const { [cell]: _, ...others } = this.#answers.sources;
        const sources = text === this.stubs.get(cell) ? others : { ...others, [cell]: text };
        this.#typed.set(cell, text);
        this.#change({ sources });
    }

    /** Add an empty cell right after another; return its id. @param {string} after */
    addOwn(after) {
        const { own } = this.#answers;
        const one = { id: freshId(), after, source: "" };
        this.#change({ own: [one, ...own] });
        return one.id;
    }

    /** @param {string} id @param {string} text */
    setOwn(id, text) {
        this.#typed.set(id, text);
        this.#change({
            own: this.#answers.own.map((one) => (one.id === id ? { ...one, source: text } : one)),
        });
    }

    /** Remove an own cell; the own cells after it move up to its place. @param {string} id */
    removeOwn(id) {
        const { own, ran } = this.#answers;
        const after = own.find((one) => one.id === id)?.after ?? "";
        const below = own.filter((one) => one.after === id).map((one) => ({ ...one, after }));
        this.#typed.delete(id);
        this.#change({
            own: own
                .filter((one) => one.after !== id)
                .flatMap((one) => (one.id === id ? below : [one])),
            ran: ran.filter((cell) => cell !== id),
        });
    }

    /** Restore the released text of a cell, and forget its runs and checks. @param {string} cell */
    reset(cell) {
        const { sources, verdicts, ran } = this.#answers;
        const { [cell]: _, ...others } = sources;
        const { [cell]: __, ...rest } = verdicts;
        this.#typed.delete(cell);
        if (this.#writes) untick(this.assignment, cell);
        this.#change({ sources: others, verdicts: rest, ran: ran.filter((one) => one !== cell) });
        this.flush();
    }

    /** Note that the reader has run a cell. @param {string} cell */
    noteRun(cell) {
        const { ran } = this.#answers;
        if (!ran.includes(cell)) this.#change({ ran: [...ran, cell] });
    }

    /**
     * Note the result of a check. A right answer ticks the exercise's box in its chapter, and a wrong
     * answer removes that tick, unless the reader has set it by hand.
     * @param {string} exercise
     * @param {boolean} passed
     */
    noteCheck(exercise, passed) {
        if (this.#writes) (passed ? tick : untick)(this.assignment, exercise);
        const verdict = passed ? "right" : "tried";
        this.#change({ verdicts: { ...this.#answers.verdicts, [exercise]: verdict } });
        this.flush();
    }

    /** Replace all answers. @param {Answers} answers */
    replace(answers) {
        for (const exercise of Object.keys(this.#answers.verdicts))
            if (this.#writes && answers.verdicts[exercise] !== "right")
                untick(this.assignment, exercise);
        this.#typed.clear();
        this.#change(answers);
        this.flush();
        this.#tell("answers", this.#answers);
    }

    /** Delete all answers, and the ticks that checks have set. */
    clear() {
        if (this.#writes) untickAll(this.assignment);
        this.replace(noAnswers(this.edition));
        if (this.#writes) remove(this.key);
        this.#last = "null";
    }

    /** Write pending changes now. */
    flush() {
        clearTimeout(this.#pause);
        if (this.#writes && this.#dirty) this.#write();
    }

    /** Make this the tab that writes, instead of the current one. */
    takeOver() {
        this.#turns?.takeOver();
    }

    /** @param {Partial<Answers>} parts */
    #change(parts) {
        this.#answers = { ...this.#answers, ...parts };
        this.#dirty = true;
        clearTimeout(this.#pause);
        this.#pause = setTimeout(() => this.flush(), PAUSE);
        this.#tell("change", this.#answers);
    }

    #write() {
        const kept = get(this.key);
        const others = kept !== null && JSON.stringify(kept) !== this.#last;
        if (others) this.#show(kept); // do not overwrite a tab that wrote out of turn
        if (!set(this.key, this.#answers)) return this.#say(forbidden() ? "forbidden" : "full");
        this.#dirty = false;
        this.#typed.clear();
        this.#last = JSON.stringify(this.#answers);
        this.#say("kept");
        document.dispatchEvent(new Event("course:progress"));
    }

    /** @param {boolean} mine */
    #turn(mine) {
        const kept = get(this.key);
        const unchanged = JSON.stringify(kept) === this.#last;
        if (!mine) {
            // A tab that took over without permission may have written: keep what it wrote.
            if (unchanged) this.flush();
            this.#writes = false;
            return this.#say("elsewhere");
        }
        this.#writes = true;
        if (!unchanged) this.#show(kept);
        this.#say("kept");
        this.flush();
    }

    /** React to another tab that has written or deleted the answers. @param {any} value */
    #heard(value) {
        if (JSON.stringify(value) === this.#last) return;
        if (!this.#writes) return this.#show(value);
        if (value === null) {
            clearTimeout(this.#pause);
            this.#dirty = false;
            this.#last = "null";
            this.#say("deleted");
        } else if (!this.#dirty) this.#show(value);
    }

    /**
     * Show the answers that another tab has stored; text typed here and not written is set aside.
     * @param {any} kept
     */
    #show(kept) {
        const typed = [...this.#typed];
        this.#typed.clear();
        this.#last = JSON.stringify(kept);
        this.#answers = fitted(kept, this.edition, this.released);
        const aside = typed
            .filter(([cell, source]) => source !== this.source(cell))
            .map(([cell, source]) => ({
                cell: this.stubs.has(cell) ? cell : "a cell of your own",
                source,
            }));
        this.#answers.aside.push(...aside);
        this.#dirty = aside.length > 0;
        this.#tell("answers", this.#answers);
        this.#tell("change", this.#answers);
    }

    /** @param {State} state */
    #say(state) {
        if (state === this.#state) return;
        this.#state = state;
        this.#tell("state", state);
    }

    /** @template {keyof Events} Name @param {Name} name @param {Events[Name]} value */
    #tell(name, value) {
        for (const callback of this.#callbacks[name]) callback(value);
    }
}
