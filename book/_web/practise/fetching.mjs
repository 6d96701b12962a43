// @ts-check
// Fetching that says how far it is. Pyodide fetches its parts itself, by the `fetch` of the worker.

/** Milliseconds between two messages. */
const PAUSE = 100;

/**
 * The number of bytes that will come, or 0 where that is not known: a server that packs a file says
 * how long it is packed.
 * @param {Response} response
 */
function lengthOf({ headers }) {
    return headers.get("content-encoding") ? 0 : Number(headers.get("content-length"));
}

/** @param {(bytes: number, total: number) => void} tell total is 0 where it is not known */
export function counting(tell) {
    const real = globalThis.fetch;
    let bytes = 0;
    let total = 0;
    let known = true;
    let told = 0;
    const broken = Promise.withResolvers();
    broken.promise.catch(() => {}); // nobody may wait for it

    /** @param {Uint8Array} chunk @param {TransformStreamDefaultController<Uint8Array>} stream */
    function pass(chunk, stream) {
        stream.enqueue(chunk);
        bytes += chunk.length;
        if (performance.now() - told >= PAUSE) say();
    }

    function say() {
        told = performance.now();
        tell(bytes, known ? total : 0);
    }

    /** @type {typeof globalThis.fetch} */
    async function fetchCounted(resource, options) {
        const response = await real(resource, options).catch(broken.reject);
        if (!response) throw new Error("The connection broke.");
        if (!response.ok || !response.body) {
            const name = new URL(response.url).pathname.split("/").at(-1);
            const error = new Error(`${name} did not arrive (${response.status}).`);
            broken.reject(error);
            throw error;
        }
        const length = lengthOf(response);
        known &&= length > 0;
        total += length;
        const { readable, writable } = new TransformStream({ transform: pass, flush: say });
        response.body.pipeTo(writable).catch(broken.reject);
        return new Response(readable, { headers: response.headers });
    }
    return {
        fetch: fetchCounted,
        /** Rejects as soon as anything does not arrive. */
        broken: broken.promise,
        /** All bytes of a file. @param {string} address */
        bytes: async (address) => (await fetchCounted(address)).arrayBuffer(),
    };
}
