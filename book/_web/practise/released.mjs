// @ts-check
// A released notebook: the kinds of its cells, and the places of a student's own cells among them.

/**
 * A code cell that the student has added. It comes after the cell `after`, which is a released cell
 * or another added cell. If `after` is empty, it comes before all cells.
 * @typedef {{ id: string, after: string, source: string }} OwnCell
 */
/**
 * @typedef {object} Cell
 * @property {string} cell_type
 * @property {string} [id]
 * @property {{ nbgrader?: { grade_id: string, grade: boolean, checksum?: string }, [key: string]: unknown }} metadata
 * @property {string | string[]} source
 */
/** @typedef {{ cells: Cell[], [key: string]: unknown }} Notebook */
/** @typedef {"text" | "given" | "answer" | "check" | "written" | "own"} Kind */
/** @typedef {{ id: string, kind: Kind, source: string, cell: Cell | null }} Placed */

const CHECK = "-check";
/** Lines as in Python's `str.splitlines`, with which nbformat splits sources. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: three of them end lines in Python
const LINE = /[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]*(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]|$)/g;

/** Split a text into lines with their ends, as in a notebook's file. @param {string} text */
export const linesOf = (text) => (text.match(LINE) ?? []).filter((line) => line !== "");

/** Return a cell's source as text. @param {Cell} cell */
export const sourceOf = ({ source }) => (Array.isArray(source) ? source.join("") : source);

/** Return a name for a new cell. */
export function freshId() {
    const [number] = crypto.getRandomValues(new Uint32Array(1));
    return `own-${number.toString(16).padStart(8, "0")}`;
}

/** Return the name of a released cell; every cell of a release has a name. @param {Cell} cell */
export const nameOf = (cell) => cell.metadata.nbgrader?.grade_id ?? cell.id ?? "";

/** @param {Cell} cell of a release @returns {Kind} */
export function kindOf(cell) {
    const graded = cell.metadata.nbgrader?.grade === true;
    if (cell.cell_type !== "code") return graded ? "written" : "text";
    if (graded) return "answer";
    return nameOf(cell).endsWith(CHECK) ? "check" : "given";
}

/**
 * Return all cells in the notebook's order, with the student's answers and own cells in their
 * places. Own cells whose place is unknown come at the end.
 * @param {Notebook} released
 * @param {{ sources: Record<string, string>, own: OwnCell[] }} answers
 * @returns {Placed[]}
 */
export function cellsOf(released, { sources, own }) {
    /** @type {Placed[]} */
    const cells = [];
    const left = new Set(own);
    /** @param {string} after */
    const addOwn = (after) => {
        for (const one of own)
            if (one.after === after && left.delete(one)) {
                cells.push({ id: one.id, kind: "own", source: one.source, cell: null });
                addOwn(one.id);
            }
    };
    addOwn("");
    for (const cell of released.cells) {
        const id = nameOf(cell);
        const source = sourceOf(cell);
        const kind = kindOf(cell);
        const answered = kind === "answer" || kind === "written" ? sources[id] : undefined;
        cells.push({ id, kind, source: answered ?? source, cell });
        addOwn(id);
    }
    for (const one of left) cells.push({ id: one.id, kind: "own", source: one.source, cell: null });
    return cells;
}

/** Return the released texts of the cells that a student fills in, by name. @param {Notebook} released */
export function stubsOf(released) {
    const fillable = released.cells.filter((cell) => ["answer", "written"].includes(kindOf(cell)));
    return new Map(fillable.map((cell) => [nameOf(cell), sourceOf(cell)]));
}
