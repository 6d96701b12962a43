// @ts-check
// Test which outputs a run shows in which cell, with a fake Python and page that record the calls.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Session } from "../../../book/_web/practise/plan.mjs";
import { NotStarted, Stopped } from "../../../book/_web/practise/python.mjs";
import { Runner } from "../../../book/_web/practise/runner.mjs";

const CELLS = [
    { id: "data", kind: "given", source: "data" },
    { id: "other", kind: "answer", source: "other" },
    { id: "mine", kind: "answer", source: "mine" },
];

/** @param {(what: string) => { ok: boolean, passed?: boolean | null }} answer */
function recordingRunner(answer) {
    /** @type {string[]} */
    const log = [];
    /** @param {string} what @param {(output: any) => void} show */
    const ask = async (what, show) => {
        log.push(what);
        const result = answer(what);
        show({ kind: "text", stream: "stdout", text: what });
        if (!result.ok) show({ kind: "error", name: "NameError", message: "", text: "" });
        return { seconds: 0, message: "", spoilt: [], ...result };
    };
    const python = /** @type {any} */ ({
        session: new Session(),
        ready: async () => {},
        run: (/** @type {string} */ cell, /** @type {string} */ _, /** @type {any} */ show) =>
            ask(`run ${cell}`, show),
        check: (/** @type {string} */ name, /** @type {any} */ show) => ask(`check ${name}`, show),
    });
    const runner = new Runner(python, {
        cells: () => CELLS,
        ran: () => ["other"],
        noteRun: (id) => log.push(`ran ${id}`),
        noteCheck: (id, passed) => log.push(`${id} ${passed}`),
        flush: () => log.push("flush"),
    });
    /** @type {Record<string, string[]>} */
    const shown = {};
    for (const { id } of CELLS) {
        shown[id] = [];
        const view = {
            name: id,
            say: (/** @type {string} */ text) => shown[id].push(`say ${text}`),
            wait() {},
            busy: (/** @type {boolean} */ now) => shown[id].push(`busy ${now}`),
            outputs: {
                clear: () => shown[id].push("clear"),
                add: (/** @type {any} */ output) => shown[id].push(output.text),
            },
            report: {
                clear() {},
                refuse: () => shown[id].push("refused"),
                show: () => shown[id].push("reported"),
            },
        };
        runner.views.set(id, /** @type {any} */ (view));
    }
    return { runner, log, shown, python };
}

test("a check runs the cells that it needs, and shows the output of given cells but not of answers", async () => {
    const { runner, log, shown } = recordingRunner(() => ({ ok: true, passed: true }));
    await runner.run("mine", true);
    assert.deepEqual(log, [
        "flush",
        "run data",
        "run other",
        "run mine",
        "ran mine",
        "check mine",
        "mine true",
    ]);
    assert.deepEqual(shown.data, ["clear", "run data"]);
    assert.deepEqual(shown.other, []);
    assert.ok(shown.mine.includes("reported"));
    assert.equal(shown.mine.at(-1), "busy false");
});

test("an error in a given cell does not prevent the check", async () => {
    const { runner, log } = recordingRunner((what) => ({ ok: what !== "run data", passed: false }));
    await runner.run("mine", true);
    assert.deepEqual(log.slice(-2), ["check mine", "mine false"]);
});

test("an answer that stops with an error is not checked", async () => {
    const { runner, log, shown } = recordingRunner((what) => ({ ok: what !== "run mine" }));
    await runner.run("mine", true);
    assert.ok(!log.includes("check mine"));
    assert.ok(shown.mine.includes("refused"));
    assert.equal(log.at(-1), "mine false");
});

test("an answer that cannot be judged gets no verdict", async () => {
    const { runner, log } = recordingRunner(() => ({ ok: true, passed: null }));
    await runner.run("mine", true);
    assert.equal(log.at(-1), "check mine");
});

test("only one cell runs at a time, and a stop restores the page", async () => {
    const { runner, shown, python } = recordingRunner(() => ({ ok: true }));
    const waiting = Promise.withResolvers();
    python.ready = () => waiting.promise;
    const first = runner.run("mine");
    await runner.run("other");
    assert.deepEqual(shown.other, ["say mine is still running. Wait for it, or stop it."]);
    waiting.reject(new Stopped("Stopped."));
    await first;
    assert.deepEqual(shown.mine.slice(-2), ["say Stopped.", "busy false"]);
    python.ready = async () => {};
    await runner.run("other");
    assert.equal(shown.other.at(-1), "busy false");
});

test("a cell reports that Python did not start, until a retry", async () => {
    const { runner, shown, python } = recordingRunner(() => ({ ok: true }));
    python.ready = async () => {
        throw new NotStarted("It could not be fetched.");
    };
    await runner.run("mine");
    assert.ok(shown.mine.includes("say It could not be fetched."));
    runner.starts();
    assert.equal(shown.mine.at(-1), "say ");
});
