// @ts-check
// Reads a notebook that was edited in any tool. Released cells are recognised as the grader does
// it: by their mark, or by id or text if a tool has dropped the mark.

import { freshId, kindOf, linesOf, nameOf, sourceOf, stubsOf } from "./released.mjs";

/** @typedef {import("./released.mjs").Notebook} Notebook */
/** @typedef {import("./released.mjs").OwnCell} OwnCell */
/** @typedef {import("./released.mjs").Cell} Cell */
/** An answer whose cell, named `cell`, does not exist in this edition. @typedef {{ cell: string, source: string }} Aside */
/** @typedef {{ sources: Record<string, string>, own: OwnCell[], aside: Aside[] }} Opened */
/** A cell of the file. `name` is its released cell, `after` the released cell that it follows. @typedef {{ name: string | null, after: string, code: boolean, source: string | null, id: string, marks: Record<string, any> | null }} Found */

/** Files of this many bytes or more are refused; without outputs, they are 100 times smaller. */
export const LARGEST = 10 * 2 ** 20;
const MOST_CELLS = 500; // the grader does not read more either
const AGAIN = "Save it again where you worked in it, and open it once more.";
const CHECK_LINE = /^check\(\s*\w*\s*\)[ \t]*(?:#.*)?$/;

/** A file that cannot be used; the message says why, and what to do. */
export class NotebookError extends Error {}

/**
 * Return the answers in a notebook's text. Answers whose cell is not in the release are in `aside`.
 * @param {string} text
 * @param {Notebook} released
 * @param {string} assignment its title, for the message about a notebook of another assignment
 * @returns {Opened}
 */
export function fromNotebook(text, released, assignment) {
    const cells = found(read(text), released);
    const stubs = stubsOf(released);
    refuseOther(cells, stubs, assignment);
    /** @type {Opened} */
    const opened = { sources: {}, own: [], aside: [] };
    const earlier = new Set(attempts(cells, stubs));
    for (const [name, stub] of stubs) {
        const texts = cells.filter((one) => one.name === name && !earlier.has(one));
        const pieces = texts.flatMap((one) => one.source ?? []);
        const written = pieces.filter((piece) => !sameText(piece, stub));
        if (written.length > 0) opened.sources[name] = joined(written);
    }
    const ids = new Set(released.cells.map((cell) => cell.id ?? ""));
    /** @param {Found} cell @param {string} source */
    const addOwn = (cell, source) => {
        const id = cell.name !== null || cell.id === "" || ids.has(cell.id) ? freshId() : cell.id;
        ids.add(id);
        opened.own.push({ id, after: cell.after, source });
    };
    const names = new Map(released.cells.map((cell) => [nameOf(cell), cell]));
    for (const cell of cells) {
        const { name, source, marks } = cell;
        if (source === null || source.trim() === "") continue;
        if (earlier.has(cell)) addOwn(cell, source);
        else if (name === null && marks === null && cell.code) addOwn(cell, source);
        else if (name === null && marks === null)
            opened.aside.push({ cell: "a text cell of yours", source });
        else if (name === null && marks?.grade === true)
            opened.aside.push({ cell: String(marks.grade_id), source });
        else if (name !== null && !stubs.has(name)) {
            const kept = writtenInto(cell, names.get(name));
            if (kept === "") continue;
            if (cell.code) addOwn(cell, kept);
            else opened.aside.push({ cell: `the text ${name}`, source: kept });
        }
    }
    return opened;
}

/** Return the cells of a file. Throws NotebookError if it has none. @param {string} text */
function read(text) {
    if (text.length >= LARGEST)
        throw new NotebookError(
            "This file has 10 MB or more, and is not read. Clear all outputs in it, save it, and open it once more.",
        );
    let content = null;
    try {
        content = JSON.parse(text.replace(/^\uFEFF/, ""));
    } catch {
        const what =
            text.trim() === "" ? "is empty" : "is not a notebook, or is damaged or cut off";
        throw new NotebookError(`This file ${what}. ${AGAIN}`);
    }
    if (!Array.isArray(content?.cells)) {
        const old = content?.worksheets ? "is in the old notebook format 3" : "is not a notebook";
        throw new NotebookError(`This file ${old}: it has no cells. ${AGAIN}`);
    }
    if (content.cells.length > MOST_CELLS)
        throw new NotebookError(
            `This notebook has ${content.cells.length} cells; at most ${MOST_CELLS} are read. Remove some.`,
        );
    return content.cells.filter((/** @type {unknown} */ cell) => cell && typeof cell === "object");
}

/**
 * Find for each cell its released cell, and the released cell that it follows. If several released
 * cells have the same text, such as those for two written answers, the next one is taken.
 * @param {any[]} cells
 * @param {Notebook} released
 * @returns {Found[]}
 */
function found(cells, released) {
    const order = released.cells.map(nameOf);
    const byId = new Map(released.cells.map((cell) => [cell.id, nameOf(cell)]));
    let after = "";
    return cells.map((cell) => {
        const id = typeof cell.id === "string" ? cell.id : "";
        const code = cell.cell_type === "code";
        const source = textOf(cell.source);
        const marks = cell.metadata?.nbgrader?.grade_id ? cell.metadata.nbgrader : null;
        let name = order.includes(marks?.grade_id) ? marks.grade_id : null;
        if (name === null && marks === null) {
            const alike = released.cells
                .filter((one) => one.cell_type === cell.cell_type && sourceOf(one) === source)
                .map(nameOf);
            const next = alike.find((one) => order.indexOf(one) > order.indexOf(after));
            name = byId.get(id) ?? next ?? alike[0] ?? null;
        }
        after = name ?? after;
        return { name, after, code, source, id, marks };
    });
}

/** @param {unknown} source @returns {string | null} null if it is not a text */
function textOf(source) {
    if (typeof source === "string") return source;
    const lines = Array.isArray(source) && source.every((line) => typeof line === "string");
    return lines ? source.join("") : null;
}

/**
 * Throw NotebookError if no cell is an answer to this assignment.
 * @param {Found[]} cells
 * @param {Map<string, string>} stubs
 * @param {string} assignment
 */
function refuseOther(cells, stubs, assignment) {
    if (cells.some(({ name }) => name !== null && stubs.has(name))) return;
    const graded = cells.filter((one) => one.marks?.grade === true);
    const heading = cells.find((one) => !one.code)?.source?.match(/^# (.+)$/m)?.[1];
    if (graded.length === 0)
        throw new NotebookError(
            `This notebook has no answer cell of “${assignment}”. Open the one that you downloaded here or with the assignment.`,
        );
    const named = graded.map((one) => one.marks?.grade_id);
    throw new NotebookError(
        `This is the notebook of another assignment${heading ? `, “${heading}”` : ""}: its answers are ` +
            `${named.slice(0, 3).join(", ")}${named.length > 3 ? ", ..." : ""}. Open it on the page of its chapter.`,
    );
}

/**
 * Return the cells with earlier attempts at an answer: if several cells define the answer, the last
 * edited cell counts.
 * @param {Found[]} cells
 * @param {Map<string, string>} stubs
 */
function attempts(cells, stubs) {
    return [...stubs].flatMap(([name, stub]) => {
        const defines = new RegExp(`^(?:def|class)[ \\t]+${name}\\b`, "m");
        const defining = cells.filter(
            (one) => one.name === name && one.code && defines.test(one.source ?? ""),
        );
        const edited = defining.filter((one) => !sameText(one.source ?? "", stub));
        const chosen = edited.at(-1) ?? defining.at(-1);
        return defining.filter((one) => one !== chosen && edited.includes(one));
    });
}

/** Join the pieces of an answer that was split into several cells. @param {string[]} pieces */
const joined = (pieces) => {
    const written = pieces.filter((piece) => piece.trim() !== "");
    return written.length > 1 ? written.join("\n\n") : (written[0] ?? pieces[0] ?? "");
};

/**
 * Return the text that a student wrote into a cell not meant for answers, such as a self-check, or
 * "". A given cell that differs because it is from another edition has another checksum.
 * @param {Found} cell
 * @param {Cell | undefined} given
 */
function writtenInto(cell, given) {
    const source = cell.source ?? "";
    if (given === undefined || sameText(source, sourceOf(given))) return "";
    if (kindOf(given) === "check") {
        const rest = linesOf(source).filter((line) => !CHECK_LINE.test(line.trimEnd()));
        return rest.join("").trim() === "" ? "" : rest.join("");
    }
    const same = cell.marks?.checksum === given.metadata.nbgrader?.checksum;
    return same || cell.marks === null ? source : "";
}

/**
 * Return whether two texts are the same except for empty lines and trailing white space.
 * @param {string} one
 * @param {string} other
 */
export function sameText(one, other) {
    /** @param {string} text */
    const lines = (text) =>
        linesOf(text)
            .map((line) => line.trimEnd())
            .filter(Boolean)
            .join("\n");
    return lines(one) === lines(other);
}
