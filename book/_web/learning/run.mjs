// @ts-check
// The training of one machine: its steps, its accuracy, and its weights and answers on a sequence.

import { Adam } from "./adam.mjs";
import { HELD_OUT, heldOut } from "./held_out.mjs";
import { graph } from "./machine.mjs";
import { Random } from "./random.mjs";
import { AT_ONCE } from "./settings.mjs";
import { Parameters } from "./tape.mjs";
import { TASKS } from "./tasks.mjs";

/**
 * @typedef {import("./settings.mjs").Settings} Settings
 * @typedef {import("./tasks.mjs").Sequence} Sequence
 * @typedef {import("./tasks.mjs").Solved} Solved
 * @typedef {{ right: number, count: number }} Group
 * @typedef {{ width: number, numbers: Float32Array, labels: number[] }} Vectors
 * @typedef {{ whole: number, groups: Group[], vectors: Vectors }} Accuracy
 * @typedef {{ heads: number, queries: number, keys: number, weights: Float32Array }} Weights
 * @typedef {{ place: number, right: number | null, probabilities: Float32Array }} Answer
 * @typedef {{ maps: Weights[], answers: Answer[] }} Look
 * @typedef {"learning" | "done" | "diverged"} State
 * @typedef {ReturnType<typeof graph>} Graph
 */

/** The streams of a seed's random numbers; held_out.mjs has a third. */
const [OF_PARAMETERS, OF_TRAINING] = [0, 1];

export class Run {
    steps = 0;
    loss = NaN;
    /** @type {State} */
    state = "learning";
    /** @type {{ layer: string, norm: number }[]} */
    gradients = [];

    /**
     * @param {Settings} settings without problems
     * @param {import("./memory.mjs").Memory} memory
     */
    constructor(settings, memory) {
        this.settings = settings;
        this.task = TASKS[settings.task];
        this.parameters = new Parameters(memory, new Random(settings.seed, OF_PARAMETERS));
        this.random = new Random(settings.seed, OF_TRAINING);
        const { batch, length } = settings;
        this.graph = graph(this.parameters, settings, batch, length, this.task.everywhere);
        this.adam = new Adam(this.parameters);
        /** @type {Map<string, Graph>} */
        this.graphs = new Map();
    }

    /** Draw a batch, and move every parameter a step. */
    step() {
        if (this.state !== "learning") return;
        const { batch, length, rate, steps } = this.settings;
        const drawn = Array.from({ length: batch }, () => this.task.draw(this.random, length));
        const { tape, loss } = this.graph;
        this.fill(this.graph, drawn);
        tape.forward();
        this.loss = loss.data[0];
        this.steps++;
        if (!Number.isFinite(this.loss)) {
            this.state = "diverged";
            return;
        }
        tape.backward(loss);
        this.gradients = this.adam.step(rate * (1 - (this.steps - 1) / steps));
        if (this.steps === steps) this.state = "done";
    }

    /** A sentence on a machine that has diverged; otherwise empty. */
    get sentence() {
        if (this.state !== "diverged") return "";
        return `In step ${this.steps} the loss stopped being a number: at the rate ${this.settings.rate} the steps are too long for this machine. Take a smaller rate.`;
    }

    /**
     * Write sequences and their right answers into a graph.
     * @param {Graph} to
     * @param {Sequence[]} sequences
     */
    fill({ symbols, right }, sequences) {
        const solved = sequences.map((one) => this.task.solve(one));
        symbols.set(sequences.flat(2));
        right.set(solved.flatMap((all) => all.map((one) => one?.answer ?? -1)));
        return solved;
    }

    /**
     * Return a graph for evaluation; it is built once.
     * @param {number} batch
     * @param {number} length
     * @param {boolean} everywhere
     */
    reader(batch, length, everywhere) {
        const key = `${batch} ${length} ${everywhere}`;
        const made =
            this.graphs.get(key) ??
            graph(this.parameters, this.settings, batch, length, everywhere);
        this.graphs.set(key, made);
        return made;
    }

    /**
     * Measure the accuracy on the held-out sequences of a length. The generator yields after each
     * batch, so that the caller can handle messages in between.
     * @param {number} length
     * @returns {Generator<undefined, Accuracy>}
     */
    *measured(length) {
        const { answers, questions, counted, everywhere } = this.task;
        const { width } = this.settings;
        const reader = this.reader(AT_ONCE, length, everywhere);
        const groups = this.task.groups(length).map(() => ({ right: 0, count: 0 }));
        /** @type {Vectors} */
        const vectors = { width, numbers: new Float32Array(HELD_OUT * width), labels: [] };
        const all = heldOut(this.settings, length);
        let [whole, count] = [0, 0];
        for (let from = 0; from < HELD_OUT; from += AT_ONCE) {
            const solved = this.fill(reader, all.slice(from, from + AT_ONCE));
            reader.tape.forward();
            lastVectors(reader, vectors, from);
            vectors.labels.push(...solved.map((one) => one.at(-questions)?.answer ?? -1));
            const flat = solved.flat();
            const named = flat.map((one, at) => {
                const shares = ofQuestion(reader, at, answers.length);
                return one?.answer === shares.indexOf(Math.max(...shares));
            });
            for (const [at, one] of flat.entries()) {
                if (!one) continue;
                groups[one.group].count++;
                if (named[at]) groups[one.group].right++;
            }
            for (let at = 0; at < flat.length; at += questions) {
                if ((flat[at]?.group ?? Infinity) >= counted) continue;
                count++;
                if (named.slice(at, at + questions).every(Boolean)) whole++;
            }
            yield;
        }
        return { whole: whole / count, groups, vectors };
    }

    /**
     * Return the weights of every head on a sequence, and the machine's answers.
     * @param {Sequence} sequence
     * @returns {Look}
     */
    look(sequence) {
        const length = sequence.length;
        const { answers, questions, everywhere, solve } = this.task;
        const reader = this.reader(1, length, true);
        reader.right.fill(-1);
        reader.symbols.set(sequence.flat());
        reader.tape.forward();
        const size = answers.length;
        const first = everywhere ? 0 : (length - 1) * questions;
        return {
            maps: reader.maps.map(({ shape: [, heads, queries, keys], data }) => ({
                ...{ heads, queries, keys, weights: data.slice() },
            })),
            answers: solve(sequence).map((one, at) => ({
                place: Math.floor((first + at) / questions),
                right: one?.answer ?? null,
                probabilities: ofQuestion(reader, first + at, size).slice(),
            })),
        };
    }
}

/**
 * Copy the read-out's input at the last place of each sequence.
 * @param {Graph} graph
 * @param {Vectors} to
 * @param {number} from the index of the first sequence
 */
function lastVectors({ vectors }, to, from) {
    const [batch, places, width] = vectors.shape;
    for (let b = 0; b < batch; b++) {
        const at = ((b + 1) * places - 1) * width;
        to.numbers.set(vectors.data.subarray(at, at + width), (from + b) * width);
    }
}

/**
 * Return the probabilities of the answers to a question.
 * @param {Graph} graph
 * @param {number} question its index in the batch
 * @param {number} count the number of answers
 */
const ofQuestion = ({ probabilities }, question, count) =>
    probabilities.subarray(question * count, (question + 1) * count);
