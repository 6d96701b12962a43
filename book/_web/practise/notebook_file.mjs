// @ts-check
// Notebook files: written as `autograder release` writes them, with the answers in their cells.
// `opened.mjs` reads them.

import { cellsOf, freshId, linesOf, sourceOf } from "./released.mjs";

/** @typedef {import("./released.mjs").Cell} Cell */
/** @typedef {import("./released.mjs").Notebook} Notebook */
/** @typedef {import("./released.mjs").OwnCell} OwnCell */

export { fromNotebook, LARGEST, NotebookError } from "./opened.mjs";

const ID = /^[a-zA-Z0-9_-]{1,64}$/; // what nbformat 4.5 allows

/**
 * Return the text of the notebook's file. Without answers it equals the release byte for byte.
 * @param {Notebook} released
 * @param {{ sources: Record<string, string>, own: OwnCell[] }} answers
 */
export function toNotebook(released, answers) {
    const taken = new Set(released.cells.map((cell) => cell.id));
    /** @param {string} id */
    const unique = (id) => {
        let name = id;
        while (!ID.test(name) || taken.has(name)) name = freshId();
        taken.add(name);
        return name;
    };
    const cells = cellsOf(released, answers).map(({ id, source, cell }) => {
        if (cell === null) return ownCell(unique(id), source);
        if (source === sourceOf(cell)) return cell;
        return { ...cell, source: Array.isArray(cell.source) ? linesOf(source) : source };
    });
    return `${JSON.stringify({ ...released, cells }, null, 1)}\n`;
}

/**
 * Return a code cell without marks, with its keys in nbformat's order.
 * @param {string} id
 * @param {string} source
 */
const ownCell = (id, source) => ({
    cell_type: "code",
    execution_count: null,
    id,
    metadata: {},
    outputs: [],
    source: linesOf(source),
});
