// @ts-check
// Which cells run, and in which order: before an answer is checked, Python must have the given cells
// above it, and what the reader has run there. On a Python that has them, only what changed runs.

/** A cell of code, with the text that stands in the page now.
 * @typedef {{ id: string, kind: string, source: string }} Cell
 */

/** What one Python has run: each cell's newest text, and when, counted in runs. */
export class Session {
    /** @type {Map<string, { source: string, at: number }>} */
    #ran = new Map();
    /** The cell, and its text, that gave a name of another cell a new meaning. @type {Map<string, Cell>} */
    #spoilers = new Map();
    #runs = 0;

    /**
     * @param {Cell} cell which has run just now
     * @param {string[]} spoilt ids of the cells that have bound a name which now means something else
     */
    note(cell, spoilt) {
        this.#runs += 1;
        this.#ran.set(cell.id, { source: cell.source, at: this.#runs });
        this.#spoilers.delete(cell.id);
        for (const id of spoilt) if (!this.#spoilers.has(id)) this.#spoilers.set(id, cell);
    }

    /** When the cell ran with the text that it has now, or 0. @param {Cell} cell */
    when({ id, source }) {
        const last = this.#ran.get(id);
        return last?.source === source ? last.at : 0;
    }

    /**
     * Whether a name of the cell was rebound by text that has gone from the page: the reader has
     * taken `np = None` back, and expects `np` to be there again.
     * @param {string} id @param {Cell[]} cells as they are now
     */
    spoilt(id, cells) {
        const spoiler = this.#spoilers.get(id);
        const now = cells.find((cell) => cell.id === spoiler?.id);
        return spoiler !== undefined && now?.source !== spoiler.source;
    }
}

/**
 * The cells that have to run, ending with the target, which always runs.
 * @param {Cell[]} cells in the order of the page: "given", "answer" or "own"; others never run
 * @param {string} target the id of the cell that the reader runs
 * @param {Session} session
 * @param {string[]} ran ids of the answers and own cells that the reader has run, ever
 * @returns {Cell[]}
 */
export function plan(cells, target, session, ran) {
    const end = cells.findIndex((cell) => cell.id === target);
    let newest = 0; // when the newest of the own cells above ran: a given cell may read what it made
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
