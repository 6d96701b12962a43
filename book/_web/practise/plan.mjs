// @ts-check
// The plan of a run: which cells run, and in which order. Before an answer is checked, Python must
// have run the given cells above it, and the reader's own cells and answers there that the reader
// has run before. Cells that this Python has already run are only repeated if they have changed.

/** A cell of code, with its current text.
 * @typedef {{ id: string, kind: string, source: string }} Cell
 */

/** The record of what a Python has run: each cell's last text, and the number of that run. */
export class Session {
    /** @type {Map<string, { source: string, at: number }>} */
    #ran = new Map();
    /** Cell -> the cell, with its text, that rebound one of its names. @type {Map<string, Cell>} */
    #spoilers = new Map();
    #runs = 0;

    /**
     * @param {Cell} cell which has just run
     * @param {string[]} spoilt ids of the cells of which a name has been rebound
     */
    note(cell, spoilt) {
        this.#runs += 1;
        this.#ran.set(cell.id, { source: cell.source, at: this.#runs });
        this.#spoilers.delete(cell.id);
        for (const id of spoilt) if (!this.#spoilers.has(id)) this.#spoilers.set(id, cell);
    }

    /** Return the number of the cell's run with its current text, or 0. @param {Cell} cell */
    when({ id, source }) {
        const last = this.#ran.get(id);
        return last?.source === source ? last.at : 0;
    }

    /**
     * Return whether a name of the cell was rebound by code that is no longer on the page. For
     * example, the reader has deleted `np = None`, and expects `np` to be NumPy again.
     * @param {string} id @param {Cell[]} cells as they are now
     */
    spoilt(id, cells) {
        const spoiler = this.#spoilers.get(id);
        const now = cells.find((cell) => cell.id === spoiler?.id);
        return spoiler !== undefined && now?.source !== spoiler.source;
    }
}

/**
 * Return the cells that have to run, ending with the target, which always runs.
 * @param {Cell[]} cells in the order of the page: "given", "answer" or "own"; others never run
 * @param {string} target the id of the cell that the reader runs
 * @param {Session} session
 * @param {string[]} ran ids of all answers and own cells that the reader has ever run
 * @returns {Cell[]}
 */
export function plan(cells, target, session, ran) {
    const end = cells.findIndex((cell) => cell.id === target);
    let newest = 0; // latest run of an own cell above: a given cell may depend on its results
    const above = cells.slice(0, end).filter((cell) => {
        const mine = cell.kind === "own" || cell.kind === "answer";
        if (!(cell.kind === "given" || (mine && ran.includes(cell.id)))) return false;
        const at = session.when(cell);
        const stale = cell.kind === "given" && (at < newest || session.spoilt(cell.id, cells));
        const runs = at === 0 || stale;
        if (cell.kind === "own") newest = Math.max(newest, runs ? Number.POSITIVE_INFINITY : at);
        return runs;
    });
    return [...above, cells[end]];
}
