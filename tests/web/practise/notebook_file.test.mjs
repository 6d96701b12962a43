// @ts-check
// Test that notebooks are written like the release, and read back even after unusual edits.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
    fromNotebook,
    LARGEST,
    NotebookError,
    toNotebook,
} from "../../../book/_web/practise/notebook_file.mjs";
import { added, changed, named, released, STUB } from "./notebooks.mjs";

const TITLE = "Looking back: toys";
const RIGHT = "def mean(x):\n    return x.sum() / len(x)";

/** @param {string} text */
const open = (text) => fromNotebook(text, released(), TITLE);
/** @param {string} text @param {RegExp} message */
const refused = (text, message) =>
    assert.throws(
        () => open(text),
        (error) => error instanceof NotebookError && message.test(error.message),
    );

test("a notebook without answers equals the release, and is read as empty", () => {
    const text = toNotebook(released(), { sources: {}, own: [] });
    assert.equal(text, `${JSON.stringify(released(), null, 1)}\n`);
    assert.deepEqual(open(text), { sources: {}, own: [], aside: [] });
});

test("answers survive a round trip unchanged", () => {
    const sources = [
        "\ud800",
        "a = 1\r\nb = 2\r\n",
        "\u2028",
        "",
        "x\r",
        "'\\u2028' + '\u2029\x85\x1c'\n\n",
        "é€😀\\",
        "def mean(x):\n    return 1\n",
    ];
    for (const mean of sources) {
        const own = [{ id: "own-1", after: "mean", source: `# ${mean}` }];
        const text = toNotebook(released(), { sources: { mean, why: mean }, own });
        assert.equal(text.isWellFormed(), true);
        const opened = open(text);
        assert.deepEqual(opened.sources, { mean, why: mean });
        assert.deepEqual(opened.own, own);
        const lines = named(JSON.parse(text).cells, "mean").source;
        assert.equal(lines.join(""), mean);
    }
});

test("own cells keep their order, have no marks, and get valid and unique names", () => {
    const own = [
        { id: "two", after: "one", source: "2" },
        { id: "one", after: "mean", source: "1" },
        { id: "three", after: "mean", source: "3" },
        { id: "mean-check", after: "why", source: "4" },
        { id: "not valid!", after: "", source: "0" },
        { id: "lost", after: "gone", source: "5" },
    ];
    const { cells } = JSON.parse(toNotebook(released(), { sources: {}, own }));
    const order = cells.map((/** @type {any} */ one) =>
        one.metadata.nbgrader ? one.id : one.source.join(""),
    );
    assert.equal(order[0], "0");
    assert.deepEqual(order.slice(4, 9), ["mean", "1", "2", "3", "mean-check"]);
    assert.deepEqual(order.slice(-3), ["4", "progress-check", "5"]);
    const ids = cells.map((/** @type {any} */ one) => one.id);
    assert.equal(new Set(ids).size, ids.length);
    for (const id of ids) assert.match(id, /^[a-zA-Z0-9_-]{1,64}$/);
    assert.deepEqual(Object.keys(named(cells, "one")), [
        ...["cell_type", "execution_count", "id", "metadata", "outputs", "source"],
    ]);
});

test("a file that is not a notebook is refused with a reason", () => {
    refused("", /is empty/);
    refused("{", /damaged or cut off/);
    refused("[]", /is not a notebook/);
    refused("null", /is not a notebook/);
    refused('{"cells": 3}', /it has no cells/);
    refused('{"worksheets": []}', /old notebook format 3/);
    refused('{"cells": []}', /no answer cell of “Looking back: toys”/);
    refused(JSON.stringify({ cells: Array(501).fill({}) }), /501 cells/);
    refused(" ".repeat(LARGEST), /10 MB or more/);
    assert.deepEqual(open(`\uFEFF${changed(() => {})}`).own, []);
});

test("a notebook of another assignment is named by its title and its cells", () => {
    const text = JSON.stringify(released())
        .replaceAll(/\b(mean|scale|why)\b/g, "other_$1")
        .replace("Looking back: toys", "Captioning");
    refused(text, /another assignment, “Captioning”: its answers are other_mean, other_scale, oth/);
});

test("from an older edition, answers without a cell are set aside and the others are read", () => {
    const text = changed((cells) => {
        named(cells, "mean").source = [RIGHT];
        named(cells, "part-02").metadata.nbgrader.checksum = "of the older edition";
        named(cells, "part-02").source = ["import numpy"];
        const old = named(cells, "scale");
        old.id = old.metadata.nbgrader.grade_id = "halve";
        old.source = ["def halve(x):\n", "    return x / 2"];
    });
    assert.deepEqual(open(text), {
        sources: { mean: RIGHT },
        own: [],
        aside: [{ cell: "halve", source: "def halve(x):\n    return x / 2" }],
    });
});

test("added code becomes own cells at its place, also code in self-checks and given cells", () => {
    const text = changed((cells) => {
        named(cells, "mean-check").source = ["mean([1, 2])\n", "check(mean)  # NameError?"];
        named(cells, "part-02").source = ["import numpy as np\n", "import math"];
        named(cells, "scale-check").source = "check(scale)   # of another edition";
        cells.splice(4, 0, added("y = 1", "mine"), added(["z = ", "2"]), added(" \n"));
        cells.unshift(added("first = 1"));
    });
    const opened = open(text);
    assert.deepEqual(
        opened.own.map(({ after, source }) => [after, source]),
        [
            ["", "first = 1"],
            ["part-02", "import numpy as np\nimport math"],
            ["mean", "y = 1"],
            ["mean", "z = 2"],
            ["mean-check", "mean([1, 2])\n"],
        ],
    );
    assert.equal(opened.own[2].id, "mine");
    assert.equal(new Set(opened.own.map((one) => one.id)).size, 5);
});

test("texts without a place are set aside", () => {
    const text = changed((cells) => {
        cells.push({ cell_type: "markdown", metadata: {}, source: "A note." });
        named(cells, "why-task").source = ["Why?\n", "Because."];
    });
    assert.deepEqual(open(text).aside, [
        { cell: "the text why-task", source: "Why?\nBecause." },
        { cell: "a text cell of yours", source: "A note." },
    ]);
});

test("cells without ids or marks, with outputs or unusual contents, are recognised", () => {
    const text = changed((cells, notebook) => {
        notebook.metadata.colab = {};
        for (const one of cells) delete one.id;
        cells[3].source = RIGHT;
        cells[3].outputs = [{ output_type: "error" }];
        cells[1].metadata = {};
        cells[5].source = [1, 2];
        cells.push(null, 5, { cell_type: "code", source: { a: 1 }, metadata: null });
    });
    assert.deepEqual(open(text), { sources: { mean: RIGHT }, own: [], aside: [] });
});

test("without marks, cells are recognised by ids and texts", () => {
    const text = changed((cells) => {
        for (const one of cells) one.metadata = {};
        named(cells, "mean").source = RIGHT;
        delete named(cells, "why").id;
    });
    assert.deepEqual(open(text), { sources: { mean: RIGHT }, own: [], aside: [] });
});

test("of several cells for an answer the last edited one counts, and pieces are joined", () => {
    const text = changed((cells) => {
        const copy = () => structuredClone(named(cells, "mean"));
        const [first, piece, untouched] = [copy(), copy(), copy()];
        first.source = "def mean(x):\n    return 0";
        piece.source = "half = 0.5";
        untouched.source = `${STUB}\n`;
        named(cells, "mean").source = RIGHT;
        cells.splice(3, 0, first, piece);
        cells.splice(6, 0, untouched);
        const more = structuredClone(named(cells, "why"));
        more.source = "Because.";
        cells.push(more);
    });
    const opened = open(text);
    assert.deepEqual(opened.sources, { mean: `half = 0.5\n\n${RIGHT}`, why: "Because." });
    assert.deepEqual(
        opened.own.map((one) => one.source),
        ["def mean(x):\n    return 0"],
    );
});

test("with any value replaced, a notebook is either read or refused with a message", () => {
    const odd = [null, 0, "", "mean", [], {}, ["x", 1], { nbgrader: 5 }, { grade_id: {} }, true];
    const places = [];
    /** @param {any} value @param {(string | number)[]} path */
    const walk = (value, path) => {
        places.push(path);
        if (value && typeof value === "object")
            for (const key of Object.keys(value)) walk(value[key], [...path, key]);
    };
    walk(released(), []);
    for (const path of places)
        for (const one of odd) {
            const whole = { root: released() };
            const [last, ...before] = ["root", ...path].reverse();
            const owner = before
                .reverse()
                .reduce((value, key) => value[key], /** @type {any} */ (whole));
            owner[last] = one;
            try {
                const { sources, own, aside } = open(JSON.stringify(whole.root));
                for (const text of [
                    ...Object.values(sources),
                    ...[...own, ...aside].map((two) => two.source),
                ])
                    assert.equal(typeof text, "string");
            } catch (error) {
                assert.ok(
                    error instanceof NotebookError,
                    `${path}: ${JSON.stringify(one)}: ${error}`,
                );
            }
        }
    assert.ok(places.length > 100);
});
