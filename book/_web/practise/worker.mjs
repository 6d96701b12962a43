// @ts-check
// Python in a worker. The page starts the worker, sends it cells one at a time, and terminates it
// to stop a run. So the worker never has the only copy of what the reader typed. `notebook.py` does
// the work of a notebook's kernel.

import { counting, NotFetched } from "./fetching.mjs";

/**
 * @typedef {{ type: "start", python: string, files: string, archive: string,
 *     sizes: Record<string, number>, assignment: string, version: string }} Start
 * @typedef {{ type: "run", id: number, cell: string, source: string }} Run
 * @typedef {{ type: "check", id: number, exercise: string }} Check
 * @typedef {{ run(source: string, cell: string): string, check(exercise: string): string }} Notebook
 */

/** The most outputs of a run that reach the page: a loop that shows tables must not flood it. */
const MOST = 1000;
const CUT = "\n[The page shows the first 1,000 outputs of a run. The rest is left out.]\n";
/** The folder into which the archive is unpacked, and which has our own module. */
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
    self.fetch = fetched.fetch; // Pyodide uses it to fetch its parts
    // If its WebAssembly does not arrive or is rejected, Pyodide writes to the console and waits.
    const refused = Promise.withResolvers();
    const real = WebAssembly.instantiateStreaming;
    WebAssembly.instantiateStreaming = async (source, imports) => {
        const made = real(source, imports);
        made.catch((error) => setTimeout(refused.reject, 0, error)); // errors of fetching come first
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

// Pyodide may still wait for a file that did not arrive. The page knows that already, so keep the
// rejection out of the console.
addEventListener("unhandledrejection", (event) => {
    if (event.reason instanceof NotFetched) event.preventDefault();
});
