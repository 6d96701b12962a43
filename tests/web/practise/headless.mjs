/**
 * Run the steps of a file in a notebook of the practise pages, without a browser:
 *
 *     node headless.mjs STEPS.json
 *
 * The file contains the paths of Pyodide, of NumPy's wheel, of `notebook.py` and of an archive, the
 * assignment, and the steps: [{"run": source, "cell": name}, {"check": exercise}]. The results of the
 * steps are printed as JSON, each with its outputs and the time that it took.
 */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const request = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { loadPyodide } = await import(pathToFileURL(`${request.pyodide}/pyodide.mjs`).href);
const bytes = (/** @type {string} */ path) => new Uint8Array(readFileSync(path));
const started = performance.now();
const python = await loadPyodide({ indexURL: request.pyodide });
const packages = python.runPython("import site; site.getsitepackages()[0]");
python.unpackArchive(bytes(request.numpy), "wheel", { extractDir: packages });
python.unpackArchive(bytes(request.archive), "zip", { extractDir: "/practise" });
python.FS.writeFile("/practise/notebook.py", bytes(request.notebook));
python.runPython("import sys; sys.path.insert(0, '/practise')");

/** @type {object[]} */
let shown = [];
const module = python.pyimport("notebook");
const show = (/** @type {string} */ output) => shown.push(JSON.parse(output));
const notebook = module.Notebook(`/practise/${request.assignment}`, show);
const ready = (performance.now() - started) / 1000;

const steps = request.steps.map((/** @type {Record<string, string>} */ step) => {
    shown = [];
    const start = performance.now();
    const answer = step.check ? notebook.check(step.check) : notebook.run(step.run, step.cell);
    return { ...JSON.parse(answer), shown, waited: (performance.now() - start) / 1000 };
});
process.stdout.write(JSON.stringify({ ready, steps }));
