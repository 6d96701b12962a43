// @ts-check
// Provide a small release with all kinds of cells, and notebooks derived from it.

/** @typedef {import("../../../book/_web/practise/released.mjs").Notebook} Notebook */

/** @param {string} id @param {string} cell_type @param {string} source @param {boolean} grade @returns {any} */
const cell = (id, cell_type, source, grade) => ({
    cell_type,
    ...(cell_type === "code" ? { execution_count: null } : {}),
    id,
    metadata: { nbgrader: { checksum: `sum of ${id}`, grade, grade_id: id, locked: !grade } },
    ...(cell_type === "code" ? { outputs: [] } : {}),
    source: source.split(/(?<=\n)/),
});

export const STUB = "def mean(x):\n    raise NotImplementedError";
const PLACEHOLDER = "*Write your answer here.*";

/** @returns {any} */
export const released = () => ({
    cells: [
        cell("part-01", "markdown", "# Looking back: toys\n\nA text.", false),
        cell("part-02", "code", "import numpy as np", false),
        cell("mean-task", "markdown", "### Your turn: `mean`", false),
        cell("mean", "code", STUB, true),
        cell("mean-check", "code", "check(mean)  # NameError?", false),
        cell("scale", "code", "def scale(x):\n    raise NotImplementedError", true),
        cell("scale-check", "code", "check(scale)", false),
        cell("why-task", "markdown", "Why?", false),
        cell("why", "markdown", PLACEHOLDER, true),
        cell("progress-check", "code", "check()  # how far", false),
    ],
    metadata: { language_info: { name: "python" } },
    nbformat: 4,
    nbformat_minor: 5,
});

/** A code cell that a student has added. @param {string | string[]} source @param {string} [id] @returns {any} */
export const added = (source, id) => ({
    cell_type: "code",
    execution_count: 3,
    ...(id ? { id } : {}),
    metadata: { collapsed: true },
    outputs: [{ output_type: "stream", name: "stdout", text: "1\n" }],
    source,
});

/**
 * Return the text of the release after a change.
 * @param {(cells: any[], notebook: any) => void} change
 */
export function changed(change) {
    const notebook = released();
    change(notebook.cells, notebook);
    return JSON.stringify(notebook);
}

/** @param {any[]} cells @param {string} name */
export const named = (cells, name) => cells.find((cell) => cell.id === name);
