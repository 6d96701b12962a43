// @ts-check
// A released notebook: what its cells are, and where a student's own cells stand among them.

/**
 * A code cell of the student's own. It stands after the cell `after`, which is a released one or
 * another of the student's own; before all cells where `after` is empty.
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
/** What Python's `str.splitlines` ends a line at; nbformat splits sources by it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: three of them end lines in Python
const LINE = /[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]*(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]|$)/g;

/** The lines of a text with their ends, as a notebook's file has them. @param {string} text */
export const linesOf = (text) => (text.match(LINE) ?? []).filter((line) => line !== "");

/** The text of a cell's source. @param {Cell} cell */
export const sourceOf = ({ source }) => (Array.isArray(source) ? source.join("") : source);

/** A name for a new cell. */
export function freshId() {
    const [number] = crypto.getRandomValues(new Uint32Array(1));
    return `own-${number.toString(16).padStart(8, "0")}`;
}

/** The name of a released cell; every cell of a release has one. @param {Cell} cell */
export const nameOf = (cell) => cell.metadata.nbgrader?.grade_id ?? cell.id ?? "";

/** @param {Cell} cell of a release @returns {Kind} */
export function kindOf(cell) {
    const graded = cell.metadata.nbgrader?.grade === true;
    if (cell.cell_type !== "code") return graded ? "written" : "text";
    if (graded) return "answer";
    return nameOf(cell).endsWith(CHECK) ? "check" : "given";
}

/**
 * All cells in the notebook's order, with the student's answers in place and own cells between.
 * An own cell whose place is unknown stands at the end.
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

/** The texts of the cells that a student fills in, by name. @param {Notebook} released */
export function stubsOf(released) {
    const fillable = released.cells.filter((cell) => ["answer", "written"].includes(kindOf(cell)));
    return new Map(fillable.map((cell) => [nameOf(cell), sourceOf(cell)]));
}
