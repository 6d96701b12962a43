/**
 * Run the steps of a file in a notebook of the practise pages, without a browser:
 *
 *     node headless.mjs STEPS.json
 *
 * The file names the folder of Pyodide, NumPy's wheel, `notebook.py`, an archive and its assignment,
 * and has steps: [{"run": source, "cell": name}, {"check": exercise}]. Written to the output are the
 * results of the steps as JSON, each with what was shown and how long it took as seen from here.
 */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const asked = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { loadPyodide } = await import(pathToFileURL(`${asked.pyodide}/pyodide.mjs`).href);
const bytes = (/** @type {string} */ path) => new Uint8Array(readFileSync(path));
const begun = performance.now();
const python = await loadPyodide({ indexURL: asked.pyodide });
const packages = python.runPython("import site; site.getsitepackages()[0]");
python.unpackArchive(bytes(asked.numpy), "wheel", { extractDir: packages });
python.unpackArchive(bytes(asked.archive), "zip", { extractDir: "/practise" });
python.FS.writeFile("/practise/notebook.py", bytes(asked.notebook));
python.runPython("import sys; sys.path.insert(0, '/practise')");

/** @type {object[]} */
let shown = [];
const made = python.pyimport("notebook");
const show = (/** @type {string} */ output) => shown.push(JSON.parse(output));
const notebook = made.Notebook(`/practise/${asked.assignment}`, show);
const ready = (performance.now() - begun) / 1000;

const steps = asked.steps.map((/** @type {Record<string, string>} */ step) => {
    shown = [];
    const start = performance.now();
    const answer = step.check ? notebook.check(step.check) : notebook.run(step.run, step.cell);
    return { ...JSON.parse(answer), shown, waited: (performance.now() - start) / 1000 };
});
process.stdout.write(JSON.stringify({ ready, steps }));
