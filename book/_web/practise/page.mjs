// @ts-check
// The state that the cells of a practise page share.

import { cellsOf } from "./released.mjs";

/**
 * @typedef {{ assignment: string, title: string, chapter: string, python: string, files: string,
 *     archive: string, sizes: Record<string, number>, version: string, edition: string,
 *     exercises: { name: string, points: number, kind: string }[],
 *     written: { name: string, points: number }[] }} Data the page's data about its assignment
 */

/** A field that the reader types into: it shows the stored text, and can be locked. @typedef {{ refresh(): void, lock(now: boolean): void }} Field */

/** The kinds of released cells that the page shows as cells. */
const PLACED = ["given", "answer", "written"];

export class Page {
    /** @type {Set<Field>} */
    #fields = new Set();
    #locked = false;

    /** @param {import("./answers.mjs").AnswerStore} store @param {import("./runner.mjs").Runner} runner */
    constructor(store, runner) {
        this.store = store;
        this.runner = runner;
    }

    /**
     * Return the reader's own cells between a cell of the page and the next one, in order. An
     * opened notebook may have them anywhere, even below a self-check or above all other cells.
     * @param {string} id
     */
    ownBelow(id) {
        const cells = cellsOf(this.store.released, this.store.answers);
        let place = cells.find(({ kind }) => PLACED.includes(kind))?.id;
        return cells.filter((cell) => {
            if (PLACED.includes(cell.kind)) place = cell.id;
            return cell.kind === "own" && place === id;
        });
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

    /** Show the stored text in every field. */
    refresh() {
        for (const field of [...this.#fields]) field.refresh();
    }

    /** @param {boolean} now whether to lock the fields, because another tab writes */
    lock(now) {
        this.#locked = now;
        for (const field of this.#fields) field.lock(now);
    }
}
