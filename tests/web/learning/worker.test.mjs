// Test the worker's messages, which README.md lists. Node has no Worker like that of a browser, so
// this file is both the page and the worker's global scope. No file can be fetched, so the product
// is that of JavaScript. tests/book/test_learning_worker.py runs the worker in a browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as later } from "node:timers/promises";

/** @typedef {Record<string, any> & { type: string }} Message */

/** @type {Message[]} */
let sent = [];
let [loaded, hear] = [0, (/** @type {{ data: unknown }} */ _event) => {}];
Object.assign(globalThis, {
    postMessage: (/** @type {Message} */ message) => sent.push(structuredClone(message)),
    addEventListener: (/** @type {string} */ _type, /** @type {typeof hear} */ listener) => {
        hear = listener;
    },
    fetch: () => Promise.reject(new Error("there is no server")),
});

/** Start a fresh worker, and return a function that sends it messages. */
async function freshWorker() {
    sent = [];
    await import(`../../../book/_web/learning/worker.mjs?${loaded++}`);
    return (/** @type {Message} */ data) => hear({ data });
}

/** Wait for the next message of a type. @param {string} type @returns {Promise<Message>} */
async function next(type) {
    for (let from = sent.length; ; await later(1)) {
        const message = sent.slice(from).find((message) => message.type === type);
        if (message) return message;
    }
}

const SMALL = { batch: 4, width: 8, steps: 30, length: 8 };

test("a run sends `ready`, progress in every frame, and `ended`", async () => {
    const tell = await freshWorker();
    tell({ type: "start", machines: [SMALL, { ...SMALL, body: "mean" }], pace: 10 });
    const { step } = await next("ended");
    assert.equal(step, 30);
    const [ready, ...others] = sent;
    assert.deepEqual([ready.kernel, ready.chance], ["javascript", 1 / 8]);
    assert.equal(ready.parameters.length, 2);
    assert.equal(ready.sequence.length, 8);
    assert.deepEqual(ready.groups, ["1", "2", "3–4", "5–7"]);
    const steps = others.filter(({ type }) => type === "progress");
    assert.equal(steps[0].step, 0);
    assert.ok(Number.isNaN(steps[0].machines[0].loss));
    for (const at of [0, 1])
        assert.equal(steps.flatMap(({ machines }) => machines[at].losses).length, 30);
    const measured = steps.filter(({ machines }) =>
        machines.every((/** @type {any} */ one) => one.accuracy),
    );
    assert.deepEqual(
        measured.map(({ step }) => step),
        [0, 20, 30],
    );
    assert.equal(steps.at(-1)?.machines[0].state, "done");
});

test("stop takes effect between two steps, and `go on` continues", async () => {
    const tell = await freshWorker();
    tell({ type: "start", machines: [{ ...SMALL, steps: 5000 }], pace: 1 });
    await next("progress");
    const stopped = next("stopped");
    tell({ type: "stop" });
    const { step } = await stopped;
    await later(60);
    const known = sent.length;
    await later(60);
    assert.equal(sent.length, known);
    assert.ok(step < 5000);
    const progress = next("progress");
    tell({ type: "go on" });
    tell({ type: "go on" });
    assert.ok((await progress).step > step);
    tell({ type: "pace", pace: 0 });
    assert.equal((await next("ended")).step, 5000);
});

test("a stopped machine can be inspected, and tried at another length", async () => {
    const tell = await freshWorker();
    tell({ type: "start", machines: [{ ...SMALL, steps: 1 }], pace: 0 });
    await next("ended");
    const progress = next("progress");
    tell({ type: "look", sequence: [[1], [9], [10], [24]] });
    const [{ look, accuracy, losses }] = (await progress).machines;
    assert.equal(accuracy, null);
    assert.deepEqual(losses, []);
    assert.deepEqual([look.maps[0].queries, look.answers[0].right], [4, 1]);
    const tried = next("tried");
    tell({ type: "try", length: 64 });
    const { length, machines } = await tried;
    assert.equal(length, 64);
    assert.equal(machines[0].groups.length, 7);
});

test("invalid settings are refused with sentences, and another start may follow", async () => {
    const tell = await freshWorker();
    const refused = next("refused");
    tell({ type: "start", machines: [{ heads: 5 }, { width: 0 }], pace: 1 });
    const { problems } = await refused;
    assert.deepEqual(
        problems.map((/** @type {any} */ { machine, field }) => [machine, field]),
        [
            [0, "heads"],
            [1, "width"],
        ],
    );
    const unlike = next("refused");
    tell({ type: "start", machines: [SMALL, { ...SMALL, seed: 1 }], pace: 1 });
    assert.equal((await unlike).problems[0].field, "seed");
    tell({ type: "start", machines: [{ ...SMALL, steps: 1 }], pace: 1 });
    await next("ended");
    for (const message of [
        { type: "look", sequence: [[99]] },
        { type: "try", length: 1000 },
    ]) {
        const sentence = next("refused");
        tell(message);
        assert.match((await sentence).problems[0].sentence, /\.$/);
    }
});

test("an unknown message is reported", async () => {
    const tell = await freshWorker();
    for (const type of ["dance", "constructor", "look"]) {
        const failed = next("failed");
        tell({ type });
        assert.match((await failed).sentence, /The training has stopped\. /);
    }
});
