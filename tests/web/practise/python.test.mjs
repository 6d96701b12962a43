// @ts-check
// The page's side of Python, with a worker that answers as the test wants.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Failed, NotStarted, Python, Stopped } from "../../../book/_web/practise/python.mjs";

const PLACE = {
    python: "p/",
    files: "f/",
    archive: "a.zip",
    sizes: {},
    assignment: "a",
    version: "1",
};

class FakeWorker {
    ended = false;
    /** @type {any[]} */
    asked = [];
    /** @type {Record<string, (event: any) => void>} */
    #listeners = {};

    /** @param {string} kind @param {any} listener */
    addEventListener(kind, listener) {
        this.#listeners[kind] = listener;
    }
    /** @param {any} message */
    postMessage(message) {
        this.asked.push(message);
    }
    terminate() {
        this.ended = true;
    }
    /** @param {any} data */
    say(data) {
        this.#listeners.message({ data });
    }
    crash() {
        this.#listeners.error({});
    }
}

function begun() {
    /** @type {FakeWorker[]} */
    const workers = [];
    /** @type {string[]} */
    const states = [];
    const python = new Python(
        PLACE,
        (state) => states.push(state),
        () => {
            workers.push(new FakeWorker());
            return workers[workers.length - 1];
        },
    );
    return { python, workers, states };
}

/** Let the promises that are resolved go on. */
const turn = () => new Promise((resolve) => setTimeout(resolve));

/** A Python that runs a cell. */
async function running() {
    const made = begun();
    const run = made.python.run("cell", "1 + 1", () => {});
    made.workers[0].say({ type: "ready" });
    await turn();
    return { ...made, run };
}

test("a run starts Python, waits until it is ready, and returns its result", async () => {
    const { python, workers, states } = begun();
    /** @type {any[]} */
    const shown = [];
    const run = python.run("cell", "1 + 1", (output) => shown.push(output));
    assert.deepEqual(workers[0].asked, [{ type: "start", ...PLACE }]);
    workers[0].say({ type: "ready" });
    await turn();
    assert.deepEqual(workers[0].asked[1], { type: "run", cell: "cell", source: "1 + 1", id: 1 });
    workers[0].say({ type: "output", id: 1, output: "2" });
    workers[0].say({ type: "output", id: 0, output: "of an earlier run" });
    workers[0].say({ type: "done", id: 1, result: { ok: true } });
    assert.deepEqual(await run, { ok: true });
    assert.deepEqual(shown, ["2"]);
    assert.deepEqual(states, ["loading", "ready"]);
});

test("stop ends the worker and starts another, which knows of no run", async () => {
    const { python, workers, run } = await running();
    const session = python.session;
    python.stop();
    await assert.rejects(run, Stopped);
    assert.deepEqual([workers[0].ended, workers.length], [true, 2]);
    assert.notEqual(python.session, session);
    workers[0].say({ type: "done", id: 1, result: "too late" });
    const next = python.run("cell", "2", () => {});
    workers[1].say({ type: "ready" });
    await turn();
    workers[1].say({ type: "done", id: 2, result: "fresh" });
    assert.equal(await next, "fresh");
});

test("stop while Python is on its way ends the waiting, and fetches nothing again", async () => {
    const { python, workers } = begun();
    const waiting = python.ready();
    python.stop();
    await assert.rejects(waiting, Stopped);
    assert.deepEqual([workers[0].ended, workers.length], [false, 1]);
    workers[0].say({ type: "ready" });
    await python.ready();
});

test("a worker that dies is told, and begun anew", async () => {
    for (const die of [
        (/** @type {FakeWorker} */ worker) => worker.crash(),
        (/** @type {FakeWorker} */ worker) => worker.say({ type: "failed", message: "fatal" }),
    ]) {
        const { workers, run } = await running();
        die(workers[0]);
        await assert.rejects(
            run,
            (error) => error instanceof Failed && /crashed/.test(error.message),
        );
        assert.deepEqual([workers[0].ended, workers.length], [true, 2]);
    }
});

test("a Python that does not arrive is told with its reason, and can be asked for again", async () => {
    const { python, workers, states } = begun();
    const run = python.run("cell", "1", () => {});
    const message = "pyodide.asm.wasm did not arrive (404).";
    workers[0].say({ type: "failed", message, unfetched: true });
    await assert.rejects(
        run,
        (error) => error instanceof NotStarted && /connection.*404/.test(error.message),
    );
    assert.deepEqual(states, ["loading", "failed"]);
    assert.equal(workers.length, 1, "not again and again");
    const again = python.ready();
    workers[1].say({ type: "ready" });
    await again;
});

test("no connection is blamed where Python arrives and does not start", async () => {
    const { python, workers } = begun();
    const run = python.run("cell", "1", () => {});
    workers[0].say({
        type: "failed",
        message: "Wasm code generation disallowed",
        unfetched: false,
    });
    await assert.rejects(
        run,
        ({ message }) => !/connection/.test(message) && /did not start.*disallowed/.test(message),
    );
});
