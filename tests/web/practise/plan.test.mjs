// @ts-check
// Test which cells run before a cell that the reader runs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { plan, Session } from "../../../book/_web/practise/plan.mjs";

/** @param {string} id @param {string} kind @param {string} [source] */
const cell = (id, kind, source = id) => ({ id, kind, source });

const CELLS = [
    cell("import", "given"),
    cell("text", "text"),
    cell("first", "answer"),
    cell("first-check", "check"),
    cell("mine", "own"),
    cell("data", "given"),
    cell("second", "answer"),
    cell("below", "own"),
    cell("later", "given"),
];

/** @param {string} target @param {Session} session @param {string[]} ran @param {typeof CELLS} [cells] */
const ids = (target, session, ran, cells = CELLS) =>
    plan(cells, target, session, ran).map((cell) => cell.id);

/** @param {string[]} names of cells that have run, in this order */
function after(names) {
    const session = new Session();
    for (const name of names) {
        const cell = CELLS.find(({ id }) => id === name);
        if (cell) session.note(cell, []);
    }
    return session;
}

/** @param {string} id @param {string} source */
const changed = (id, source) => CELLS.map((cell) => (cell.id === id ? { ...cell, source } : cell));

test("on a fresh Python, the given cells above run, but no answer that was never run", () => {
    assert.deepEqual(ids("second", new Session(), []), ["import", "data", "second"]);
});

test("on a fresh Python, the cells above that the reader ran run in the order of the page", () => {
    const ran = ["second", "below", "mine", "first"];
    assert.deepEqual(ids("second", new Session(), ran), [
        "import",
        "first",
        "mine",
        "data",
        "second",
    ]);
});

test("if the cells above have already run, only the target runs", () => {
    const session = after(["import", "first", "mine", "data"]);
    assert.deepEqual(ids("second", session, ["first", "mine"]), ["second"]);
    assert.deepEqual(ids("data", session, ["first", "mine"]), ["data"]);
});

test("a changed answer above runs again, but not the given cells", () => {
    const session = after(["import", "first", "data"]);
    assert.deepEqual(ids("second", session, ["first"], changed("first", "new")), [
        "first",
        "second",
    ]);
});

test("a given cell runs again if an own cell above it changed after it was run", () => {
    const session = after(["import", "mine", "data"]);
    const cells = changed("mine", "new");
    assert.deepEqual(ids("second", session, ["mine"], cells), ["mine", "data", "second"]);
    assert.deepEqual(ids("second", session, [], cells), ["second"]);
});

test("a given cell runs again if an own cell above it ran later", () => {
    const session = after(["import", "data", "mine"]);
    assert.deepEqual(ids("second", session, ["mine"]), ["data", "second"]);
});

test("given code runs again after a cell that redefined its name is removed from the page", () => {
    const session = new Session();
    const [given, answer] = [CELLS[0], CELLS[6]];
    session.note(given, []);
    session.note(CELLS[5], []);
    session.note(answer, ["import"]); // it says `np = None`
    assert.deepEqual(
        ids("second", session, ["second"]),
        ["second"],
        "while the cell is on the page",
    );
    const mended = changed("second", "mended");
    assert.deepEqual(ids("second", session, ["second"], mended), ["import", "second"]);
    session.note(given, ["second"]);
    assert.deepEqual(ids("second", session, ["second"], mended), ["second"]);
});
