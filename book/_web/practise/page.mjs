// @ts-check
// What the cells of a practise page share.

import { cellsOf } from "./released.mjs";

/**
 * @typedef {{ assignment: string, title: string, chapter: string, python: string, files: string,
 *     edition: string, exercises: { name: string, points: number, kind: string }[],
 *     written: { name: string, points: number }[] }} Data what the page says of its assignment
 */

/** What the reader types into: it shows what is kept, and can be locked. @typedef {{ refresh(): void, lock(now: boolean): void }} Field */

export class Page {
    /** @type {Set<Field>} */
    #fields = new Set();
    #locked = false;

    /** @param {import("./answers.mjs").AnswerStore} store @param {import("./runner.mjs").Runner} runner */
    constructor(store, runner) {
        this.store = store;
        this.runner = runner;
    }

    /** The reader's own cells below a released one, in order. @param {string} id */
    ownBelow(id) {
        const cells = cellsOf(this.store.released, this.store.answers);
        const start = cells.findIndex((cell) => cell.id === id) + 1;
        const end = cells.findIndex((cell, at) => at >= start && cell.kind !== "own");
        return cells.slice(start, end < 0 ? undefined : end);
    }

    /** @param {Field} field */
    add(field) {
        this.#fields.add(field);
        field.lock(this.#locked);
    }

    /** @param {Field} field */
    drop(field) {
        this.#fields.delete(field);
    }

    /** Show in every field what is kept. */
    refresh() {
        for (const field of [...this.#fields]) field.refresh();
    }

    /** @param {boolean} now whether nothing may be typed: another tab writes */
    lock(now) {
        this.#locked = now;
        for (const field of this.#fields) field.lock(now);
    }
}
