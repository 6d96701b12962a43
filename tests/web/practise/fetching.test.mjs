// @ts-check
// Test the progress of downloading Python, and its description.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { counting, NotFetched } from "../../../book/_web/practise/fetching.mjs";
import { ended, loading } from "../../../book/_web/practise/words.mjs";

const real = globalThis.fetch;
afterEach(() => {
    globalThis.fetch = real;
});

/** @param {number} size @param {Record<string, string>} headers */
function answer(size, headers) {
    globalThis.fetch = async () => new Response(new Uint8Array(size), { headers });
}

async function fetched() {
    /** @type {[number, number][]} */
    const reports = [];
    const { bytes } = counting({ a: 1000, b: 50 }, (...both) => reports.push(both));
    assert.equal((await bytes("http://127.0.0.1/a")).byteLength, 1000);
    return reports.at(-1);
}

test("bytes are counted, and the total includes files that are not yet requested", async () => {
    answer(1000, { "content-length": "1000" });
    assert.deepEqual(await fetched(), [1000, 1050]);
});

test("the compressed bytes are counted for a compressed file", async () => {
    answer(1000, { "content-length": "300", "content-encoding": "gzip" });
    assert.deepEqual(await fetched(), [300, 350]);
});

test("a file without a stated length counts with its expected size", async () => {
    answer(1000, { "content-encoding": "gzip" });
    assert.deepEqual(await fetched(), [1000, 1050]);
});

test("a missing file is named", async () => {
    globalThis.fetch = async () =>
        Object.defineProperty(new Response("", { status: 404 }), "url", {
            value: "http://127.0.0.1/python/numpy.whl",
        });
    const { bytes, broken } = counting({}, () => {});
    await assert.rejects(bytes("numpy.whl?v=1"), /numpy\.whl did not arrive \(404\)/);
    await assert.rejects(broken, NotFetched);
});

test("a connection that breaks before or within a file is reported at once", async () => {
    globalThis.fetch = async () => {
        throw new TypeError("Failed to fetch");
    };
    const before = counting({}, () => {});
    await assert.rejects(before.bytes("wasm"), NotFetched);
    await assert.rejects(before.broken, /wasm did not arrive \(Failed to fetch\)/);
    const cut = new ReadableStream({
        pull(stream) {
            stream.error(new TypeError("network error"));
        },
    });
    globalThis.fetch = async () => new Response(cut);
    const within = counting({}, () => {});
    await assert.rejects(within.bytes("wasm"));
    await assert.rejects(within.broken, /wasm did not arrive \(network error\)/);
});

for (const [bytes, total, words] of /** @type {[number, number, string][]} */ ([
    [0, 0, "fetching Python"],
    [3_140_000, 8_660_000, "fetching Python, 3.1 of 8.7 MB"],
    [8_660_000, 8_660_000, "starting Python"],
]))
    test(`${bytes} of ${total} bytes: ${words}`, () => {
        assert.equal(loading(bytes, total), words);
    });

test("the end of a run is described", () => {
    assert.equal(ended({ ok: true, seconds: 0.01 }, ""), "It ran in less than 0.1 s.");
    assert.equal(ended({ ok: true, seconds: 1.25 }, ""), "It ran in 1.3 s.");
    assert.match(ended({ ok: false, seconds: 1 }, "NameError"), /stopped with NameError/);
});
