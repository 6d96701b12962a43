// @ts-check
// Fetching with progress. Pyodide fetches its parts itself, with the `fetch` of the worker.

/** Minimum time between two messages, in milliseconds. */
const PAUSE = 100;

/** A file did not arrive. The message is a sentence for the reader. */
export class NotFetched extends Error {}

/**
 * Return a `fetch` that counts bytes. A server may compress a file: then its header has the
 * compressed length, but the bytes that arrive here are uncompressed, so their number must be known.
 * @param {Record<string, number>} sizes uncompressed sizes of the expected files, by name
 * @param {(bytes: number, total: number) => void} tell called with the bytes so far and in all
 */
export function counting(sizes, tell) {
    const real = globalThis.fetch;
    const files = new Map(Object.entries(sizes).map(([name, all]) => [name, { all, came: 0 }]));
    let told = 0;
    const broken = Promise.withResolvers();
    broken.promise.catch(() => {}); // no unhandled rejection if nothing waits for it

    function say() {
        told = performance.now();
        let [bytes, total] = [0, 0];
        for (const { all, came } of files.values()) {
            bytes += came;
            total += all;
        }
        tell(bytes, total);
    }

    /** Return a stream that counts the bytes passing through. @param {string} name @param {Headers} headers */
    function counter(name, headers) {
        const unpacked = sizes[name] ?? 0;
        const all = Number(headers.get("content-length")) || unpacked;
        const share = headers.has("content-encoding") && unpacked ? all / unpacked : 1;
        const file = { all, came: 0 };
        files.set(name, file);
        return new TransformStream({
            transform(chunk, stream) {
                stream.enqueue(chunk);
                file.came = Math.min(all, file.came + share * chunk.length);
                if (performance.now() - told >= PAUSE) say();
            },
            flush() {
                file.came = all;
                say();
            },
        });
    }

    /** @type {typeof globalThis.fetch} */
    async function fetchCounted(resource, options) {
        const name = String(resource).split("?")[0].split("/").at(-1) ?? "";
        /** @param {unknown} why */
        const missing = (why) => {
            const error = new NotFetched(`${name} did not arrive (${why}).`);
            broken.reject(error);
            return error;
        };
        const response = await real(resource, options).catch((error) => {
            throw missing(error.message);
        });
        if (!response.ok || !response.body) throw missing(response.status);
        const { readable, writable } = counter(name, response.headers);
        response.body.pipeTo(writable).catch((error) => missing(error.message));
        return new Response(readable, { headers: response.headers });
    }
    return {
        fetch: fetchCounted,
        /** A promise that rejects as soon as a file does not arrive. */
        broken: broken.promise,
        /** Fetch all bytes of a file. @param {string} address */
        bytes: async (address) => (await fetchCounted(address)).arrayBuffer(),
    };
}
