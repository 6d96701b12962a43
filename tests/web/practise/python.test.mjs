// @ts-check
// Test the page's side of Python with a fake worker.

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
    requests = [];
    /** @type {Record<string, (event: any) => void>} */
    #listeners = {};

    /** @param {string} kind @param {any} listener */
    addEventListener(kind, listener) {
        this.#listeners[kind] = listener;
    }
    /** @param {any} message */
    postMessage(message) {
        this.requests.push(message);
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

function start() {
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

/** Let the continuations of resolved promises run. */
const turn = () => new Promise((resolve) => setTimeout(resolve));

/** Return a Python that is running a cell. */
async function running() {
    const started = start();
    const run = started.python.run("cell", "1 + 1", () => {});
    started.workers[0].say({ type: "ready" });
    await turn();
    return { ...started, run };
}

test("a run starts Python, waits until it is ready, and returns its result", async () => {
    const { python, workers, states } = start();
    /** @type {any[]} */
    const shown = [];
    const run = python.run("cell", "1 + 1", (output) => shown.push(output));
    assert.deepEqual(workers[0].requests, [{ type: "start", ...PLACE }]);
    workers[0].say({ type: "ready" });
    await turn();
    assert.deepEqual(workers[0].requests[1], { type: "run", cell: "cell", source: "1 + 1", id: 1 });
    workers[0].say({ type: "output", id: 1, output: "2" });
    workers[0].say({ type: "output", id: 0, output: "of an earlier run" });
    workers[0].say({ type: "done", id: 1, result: { ok: true } });
    assert.deepEqual(await run, { ok: true });
    assert.deepEqual(shown, ["2"]);
    assert.deepEqual(states, ["loading", "ready"]);
});

test("stop ends the worker and starts a fresh one", async () => {
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

test("stop while Python is loading ends the waiting without another download", async () => {
    const { python, workers } = start();
    const waiting = python.ready();
    python.stop();
    await assert.rejects(waiting, Stopped);
    assert.deepEqual([workers[0].ended, workers.length], [false, 1]);
    workers[0].say({ type: "ready" });
    await python.ready();
});

test("a crashed worker is reported and restarted", async () => {
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

test("a failed download of Python is reported with its reason and can be retried", async () => {
    const { python, workers, states } = start();
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

test("the connection is not blamed if Python is downloaded but does not start", async () => {
    const { python, workers } = start();
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
