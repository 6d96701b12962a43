// @ts-check
// The page's side of Python: it starts the worker when it is first needed, sends it a request at a
// time, and terminates it to stop a run. If a worker dies, a new one is started.

import { Session } from "./plan.mjs";

/**
 * @typedef {import("./outputs.mjs").Output} Output
 * @typedef {{ ok: boolean, seconds: number, spoilt: string[] }} Ran `spoilt` has names of cells
 * @typedef {{ ok: boolean, seconds: number, passed: boolean | null, verdict: string | null, misconception: string | null,
 *     message: string }} Checked
 * @typedef {{ python: string, files: string, archive: string, sizes: Record<string, number>,
 *     assignment: string, version: string }} Place absolute addresses, and the version of our own files
 * @typedef {"absent" | "loading" | "ready" | "failed"} State
 * @typedef {{ bytes: number, total: number, why: string }} How the progress of the fetching, and why it failed
 * @typedef {Pick<Worker, "postMessage" | "terminate" | "addEventListener">} WorkerLike
 * @typedef {{ id: number, sent: boolean, show: (output: Output) => void,
 *     resolve: (result: any) => void, reject: (error: Error) => void }} Job
 */

/** The reader has stopped Python. The message is a sentence for the reader. */
export class Stopped extends Error {}

/** The worker died, or did not start. The message is a sentence for the reader. */
export class Failed extends Error {}

/** Python did not start, and will not start again by itself. */
export class NotStarted extends Failed {}

const OLD_BROWSER =
    "This browser cannot run Python in a page: it has no workers or no WebAssembly. Open the page in " +
    "a newer browser, or do the exercises in the notebook. What you typed stays here.";
const NOT_FETCHED =
    "Python could not be fetched. Look at your connection, then try again. What you typed is safe.";
const NOT_STARTED =
    "Python was fetched, but did not start in this browser. Try again, or do the exercises in the " +
    "notebook. What you typed is safe.";
const DIED =
    "Python has crashed, so a fresh one is starting. What you typed is safe. Perhaps the code uses " +
    "more memory than the browser allows, or nests calls or lists too deeply.";

const NOTHING = { bytes: 0, total: 0, why: "" };
const STOPPED = "Stopped. A fresh Python is starting; what you typed is still here.";
const NOT_WAITING = "Stopped. Python is still on its way; what you typed is still here.";

const canRun = () => typeof Worker === "function" && typeof WebAssembly === "object";

/** @param {Place} place @returns {WorkerLike} */
const newWorker = ({ version }) =>
    new Worker(new URL(`worker.mjs?v=${version}`, import.meta.url), { type: "module" });

export class Python {
    /** @type {WorkerLike | null} */
    #worker = null;
    /** @type {PromiseWithResolvers<void> | null} */
    #arrival = null;
    /** @type {Job | null} */
    #job = null;
    #jobs = 0;
    #ready = false;

    /**
     * @param {Place} place
     * @param {(state: State, how: How) => void} changed
     * @param {(place: Place) => WorkerLike} create
     */
    constructor(place, changed, create = newWorker) {
        this.place = place;
        this.changed = changed;
        this.create = create;
        this.session = new Session();
    }

    /** Start Python unless it was started; resolves when it is ready. @returns {Promise<void>} */
    start() {
        if (this.#arrival) return this.#arrival.promise;
        const arrival = Promise.withResolvers();
        this.#arrival = arrival;
        arrival.promise.catch(() => {}); // callers that wait for it handle the error
        this.session = new Session();
        if (this.create === newWorker && !canRun()) {
            this.#end(OLD_BROWSER);
            return arrival.promise;
        }
        const worker = this.create(this.place);
        this.#worker = worker;
        this.changed("loading", NOTHING);
        worker.addEventListener("message", (event) => {
            if (worker === this.#worker) this.#hear(/** @type {MessageEvent} */ (event).data);
        });
        worker.addEventListener("error", () => {
            if (worker === this.#worker) this.#fail("", true); // its script did not arrive
        });
        worker.postMessage({ type: "start", ...this.place });
        return arrival.promise;
    }

    /** Wait until Python is ready; `stop` ends the wait. @returns {Promise<void>} */
    ready() {
        return this.#ask(null, () => {});
    }

    /**
     * @param {string} cell its name, for tracebacks
     * @param {string} source
     * @param {(output: Output) => void} show called with each output at once
     * @returns {Promise<Ran>}
     */
    run(cell, source, show) {
        return this.#ask({ type: "run", cell, source }, show);
    }

    /**
     * @param {string} exercise
     * @param {(output: Output) => void} show
     * @returns {Promise<Checked>}
     */
    check(exercise, show) {
        return this.#ask({ type: "check", exercise }, show);
    }

    /** Terminate a run and start a fresh Python. A Python that is still loading goes on loading. */
    stop() {
        const job = this.#job;
        this.#job = null;
        if (job?.sent) {
            this.#drop();
            this.start();
        }
        job?.reject(new Stopped(job.sent ? STOPPED : NOT_WAITING));
    }

    /** @param {object | null} message @param {(output: Output) => void} show @returns {Promise<any>} */
    #ask(message, show) {
        const { promise, resolve, reject } = Promise.withResolvers();
        this.#jobs += 1;
        /** @type {Job} */
        const job = { id: this.#jobs, sent: false, show, resolve, reject };
        this.#job = job;
        this.start().then(
            () => {
                if (this.#job !== job) return;
                if (message === null) {
                    this.#job = null;
                    return resolve(undefined);
                }
                job.sent = true;
                this.#worker?.postMessage({ ...message, id: job.id });
            },
            (error) => {
                if (this.#job === job) this.#job = null;
                reject(error);
            },
        );
        return promise;
    }

    /** @param {any} message of the worker */
    #hear(message) {
        const job = this.#job?.id === message.id ? this.#job : null;
        if (message.type === "loading") this.changed("loading", { ...NOTHING, ...message });
        else if (message.type === "output") job?.show(message.output);
        else if (message.type === "failed") this.#fail(message.message, message.unfetched);
        else if (message.type === "ready") {
            this.#ready = true;
            this.changed("ready", NOTHING);
            this.#arrival?.resolve();
        } else if (message.type === "done") {
            this.#job = null;
            job?.resolve(message.result);
        }
    }

    /**
     * Handle a worker that cannot be used any more.
     * @param {string} why in the worker's words
     * @param {boolean} unfetched whether a file did not arrive
     */
    #fail(why, unfetched) {
        const job = this.#job;
        const reason = why && ` (${why})`;
        if (!this.#ready) return this.#end(`${unfetched ? NOT_FETCHED : NOT_STARTED}${reason}`);
        this.#job = null;
        this.#drop();
        this.start();
        job?.reject(new Failed(`${DIED}${reason}`));
    }

    /** Report that Python cannot start. @param {string} why */
    #end(why) {
        const arrival = this.#arrival;
        this.#drop();
        this.changed("failed", { ...NOTHING, why });
        arrival?.reject(new NotStarted(why));
    }

    #drop() {
        this.#worker?.terminate();
        this.#worker = null;
        this.#arrival = null;
        this.#ready = false;
    }
}
