// @ts-check
// Python in a worker. The page starts it, gives it cells one at a time, and ends it to stop one: what
// the reader typed is never here alone. `notebook.py` does what a notebook's kernel would do.

import { counting, NotFetched } from "./fetching.mjs";

/**
 * @typedef {{ type: "start", python: string, files: string, archive: string,
 *     sizes: Record<string, number>, assignment: string, version: string }} Start
 * @typedef {{ type: "run", id: number, cell: string, source: string }} Run
 * @typedef {{ type: "check", id: number, exercise: string }} Check
 * @typedef {{ run(source: string, cell: string): string, check(exercise: string): string }} Notebook
 */

/** So many outputs of a run reach the page: a loop that shows tables must not flood it. */
const MOST = 1000;
const CUT = "\n[The page shows the first 1,000 outputs of a run. The rest is left out.]\n";
/** Where the archive is unpacked, and our own module lies. */
const FOLDER = "/practise";

/** @type {Notebook | null} */
let notebook = null;
let running = 0;
let count = 0;

/** @param {string} json an output of the run */
function show(json) {
    /** @type {import("./outputs.mjs").Output} */
    let output = JSON.parse(json);
    count += 1;
    if (count > MOST && output.kind !== "error") return;
    if (count === MOST) output = { kind: "text", stream: "stderr", text: CUT };
    postMessage({ type: "output", id: running, output });
}

/** @param {Start} start */
async function begin(start) {
    const fetched = counting(start.sizes, (bytes, total) =>
        postMessage({ type: "loading", bytes, total }),
    );
    self.fetch = fetched.fetch; // Pyodide fetches its parts by it
    // Where its WebAssembly does not come, or is refused, Pyodide writes to the console and waits.
    const refused = Promise.withResolvers();
    const real = WebAssembly.instantiateStreaming;
    WebAssembly.instantiateStreaming = async (source, imports) => {
        const made = real(source, imports);
        made.catch((error) => setTimeout(refused.reject, 0, error)); // what was not fetched comes first
        return made;
    };
    await Promise.race([load(start, fetched), fetched.broken, refused.promise]);
    postMessage({ type: "ready" });
}

/** @param {Start} start @param {ReturnType<typeof counting>} fetched */
async function load({ python, files, archive, assignment, version }, fetched) {
    const [{ loadPyodide }, packed, module] = await Promise.all([
        import(`${python}pyodide.mjs`).catch(() => {
            throw new NotFetched("pyodide.mjs did not arrive.");
        }),
        fetched.bytes(archive),
        fetched.bytes(`${files}notebook.py?v=${version}`),
    ]);
    const py = await loadPyodide({ indexURL: python, packages: ["numpy"] });
    if (!py.loadedPackages.numpy) throw new NotFetched("NumPy did not arrive.");
    py.FS.mkdirTree(FOLDER);
    py.FS.writeFile(`${FOLDER}/notebook.py`, new Uint8Array(module));
    py.unpackArchive(packed, "zip", { extractDir: FOLDER });
    py.runPython(`import sys; sys.path.append("${FOLDER}")`);
    notebook = py.pyimport("notebook").Notebook(`${FOLDER}/${assignment}`, show);
}

/** @param {Run | Check} asked */
function answer(asked) {
    if (notebook === null) throw new Error("Python has not started.");
    running = asked.id;
    count = 0;
    const result =
        asked.type === "run"
            ? notebook.run(asked.source, asked.cell)
            : notebook.check(asked.exercise);
    postMessage({ type: "done", id: asked.id, result: JSON.parse(result) });
}

addEventListener("message", async ({ data }) => {
    try {
        if (data.type === "start") await begin(data);
        else answer(data);
    } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        postMessage({ type: "failed", message, unfetched: error instanceof NotFetched });
    }
});

// Pyodide may still wait for what did not arrive: the page has been told, and the console need not be.
addEventListener("unhandledrejection", (event) => {
    if (event.reason instanceof NotFetched) event.preventDefault();
});
