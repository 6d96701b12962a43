// @ts-check
// The figures of a training run: loss and accuracy by step, accuracy by group, attention maps, the
// vectors in the plane, and the sizes of gradients.

import { HELD_OUT } from "../learning/held_out.mjs";
import { chance, TASKS } from "../learning/tasks.mjs";
import { element } from "../parts.mjs";
import { bars } from "./bars.mjs";
import { chart } from "./chart.mjs";
import { howToRead, maps } from "./maps.mjs";
import { plane } from "./plane.mjs";
import { tokensOf } from "./sequence.mjs";
import { names } from "./words.mjs";

/**
 * @typedef {import("./words.mjs").Settings} Settings
 * @typedef {import("../learning/run.mjs").Accuracy} Accuracy
 * @typedef {import("../learning/run.mjs").Look} Look
 * @typedef {{ state: string, sentence: string, loss: number, losses: number[], accuracy: Accuracy | null, gradients: { layer: string, norm: number }[], look: Look }} Seen of one machine
 * @typedef {{ symbols: string[], answers: string[], groups: string[], chance: number, parameters: number[], sequence: number[][] }} Ready
 */

/** The property by which accuracy is grouped, for each task. @type {Record<string, string>} */
const GROUPS = { both: "relation", before: "places back", copying: "what can be known" };
const OFTEN = 200; // milliseconds between two drawings of the gradients
const [SMALLEST, LARGEST] = [-6, 1]; // the range of a gradient's bar, in powers of ten

/** @param {number} share */
export function percent(share) {
    const near = (share > 0 && share < 0.1) || (share > 0.99 && share < 1); // 100 % is all of them
    return `${(100 * share).toFixed(near ? 1 : 0)} %`;
}

/**
 * @param {Settings[]} machines
 * @param {number[][]} sequence whose maps will be shown; empty if the settings are invalid
 * @param {(sentence: string) => void} said
 */
export function seen(machines, sequence, said) {
    const called = names(machines);
    const accuracies = chart(`right, of ${HELD_OUT} new sequences`, machines.length);
    const losses = chart("loss in each step", machines.length);
    const by = GROUPS[machines[0].task] ?? "distance";
    const groups = bars(`Right, by ${by}`, by, called);
    const layers = bars("Size of the gradient in each layer", "layer", called);
    const looking = machines.map((one, at) => maps(at, one, said));
    const answering = machines.map(() =>
        element("p", { class: "pg-quiet pg-answering" }, "Its answer at the end: none yet."),
    );
    /** @type {ReturnType<typeof plane>[]} */
    let planes = [];
    /** @type {Ready} */
    let ready;
    let drawn = -Infinity;
    /** @type {(Accuracy | null)[]} */
    const last = machines.map(() => null);

    const legend = element(
        "p",
        { class: "pg-legend" },
        ...machines.map((_, at) => element("span", { class: `pg-key pg-${at + 1}` }, called[at])),
        element("span", { class: "pg-key pg-level" }, "a guess"),
    );
    const panels = machines.map((_, at) =>
        element(
            "section",
            {},
            ...(machines.length > 1
                ? [element("p", { class: `pg-key pg-${at + 1}` }, called[at])]
                : []),
            looking[at].node,
            answering[at],
        ),
    );
    const vectors = element("div", { class: "pg-planes" });
    const node = element(
        "div",
        { class: "pg-seen" },
        legend,
        accuracies.node,
        losses.node,
        groups.node,
        element("div", { class: "pg-panels" }, ...panels),
        element("p", { class: "pg-quiet" }, howToRead(machines)),
    );
    const more = element(
        "div",
        {},
        fold(
            "The vectors in the plane",
            element(
                "p",
                { class: "pg-quiet" },
                `What the read-out reads at the last place of ${HELD_OUT} sequences, along the two directions in which it varies most; each is written as its right answer.`,
            ),
            vectors,
        ),
        fold("The gradients", layers.node),
    );

    function empty() {
        const [{ task, length, steps }] = machines;
        const { answers, groups: names, symbols } = TASKS[task];
        accuracies.clear(steps, 1, chance(TASKS[task]));
        losses.clear(steps, 1.15 * Math.log(answers.length));
        byGroup(names(length));
        const tokens = tokensOf(sequence, symbols);
        for (const one of looking) one.begin(tokens);
        accuracies.say("Accuracy against the step: no machine has been trained yet.");
        losses.say("Loss against the step: no machine has been trained yet.");
    }

    /** @param {Accuracy} accuracy */
    const shares = (accuracy) =>
        accuracy.groups.map(({ right, count }) => (count ? right / count : NaN));

    /** @param {string[]} names of the groups */
    function byGroup(names) {
        const all = last.map((one) => (one ? shares(one) : []));
        groups.show(
            names.map((name, group) => ({
                name,
                values: all.map((one) => {
                    const share = one[group] ?? NaN;
                    return {
                        share: share || 0,
                        text: Number.isNaN(share) ? "" : percent(share),
                    };
                }),
            })),
        );
    }

    empty();
    return {
        node,
        more,
        /** The last accuracy of each machine. */
        last,
        /** Start the figures of a run. @param {Ready} message */
        begin(message) {
            ready = message;
            planes = machines.map(() => plane(message.answers));
            vectors.replaceChildren(
                ...planes.map((one, at) => {
                    if (machines.length > 1) one.node.append(element("figcaption", {}, called[at]));
                    return one.node;
                }),
            );
        },
        /**
         * Keep the losses and the accuracy of a message.
         * @param {number} step
         * @param {Seen[]} all
         */
        note(step, all) {
            for (const [at, one] of all.entries()) {
                const from = step - one.losses.length + 1;
                losses.add(
                    at,
                    one.losses.map((loss, more) => [from + more, loss]),
                );
                if (!one.accuracy) continue;
                last[at] = one.accuracy;
                accuracies.add(at, [[step, one.accuracy.whole]]);
                planes[at].show(one.accuracy.vectors);
            }
            if (all.some((one) => one.accuracy)) byGroup(ready.groups);
        },
        /**
         * Show the figures of a message until the next one.
         * @param {Seen[]} all
         * @param {number[][]} sequence
         */
        show(all, sequence) {
            const tokens = tokensOf(sequence, ready.symbols);
            for (const [at, one] of all.entries()) {
                looking[at].show(one.look, tokens);
                const count = ready.parameters[at].toLocaleString("en");
                answering[at].textContent =
                    `${answered(machines[0].task, one.look.answers)} It has ${count} parameters.`;
            }
            if (performance.now() - drawn < OFTEN) return;
            drawn = performance.now();
            layers.show(gradients(all));
        },
        /** Describe the figures after the machines have stopped. @param {number} step */
        rest(step) {
            const reached = last.map(
                (one, at) => `${called[at]} ${one ? percent(one.whole) : "nothing"}`,
            );
            accuracies.say(`Accuracy against the step, up to step ${step}: ${reached.join(", ")}.`);
            losses.say(`Loss against the step, up to step ${step}.`);
            for (const one of looking) one.tell();
            window.dispatchEvent(new Event("resize")); // so that wide tables can be scrolled by key
        },
    };
}

/**
 * Return the machine's answer at the end of the shown sequence, and the right answer.
 * @param {string} task
 * @param {Look["answers"]} all
 */
export function answered(task, all) {
    const { answers, questions } = TASKS[task];
    const last = all.slice(-questions);
    const own = last.map(({ probabilities }) => {
        const most = Math.max(...probabilities);
        return `${answers[probabilities.indexOf(most)]} (${percent(most)})`;
    });
    const right = last.map((one) => (one.right === null ? "nothing" : answers[one.right]));
    return `Its answer at the end: ${own.join(" and ")}. Right: ${right.join(" and ")}.`;
}

/** @param {Seen[]} all */
function gradients(all) {
    const longest = all.reduce((one, other) =>
        other.gradients.length > one.gradients.length ? other : one,
    );
    return longest.gradients.map(({ layer }) => ({
        name: layer,
        values: all.map((one) => {
            const norm = one.gradients.find((each) => each.layer === layer)?.norm;
            if (norm === undefined) return { share: 0, text: "" };
            const share = (Math.log10(norm) - SMALLEST) / (LARGEST - SMALLEST);
            return { share: Math.min(1, Math.max(0, share)), text: norm.toPrecision(2) };
        }),
    }));
}

/** @param {string} title @param {Node[]} inside */
const fold = (title, ...inside) => element("details", {}, element("summary", {}, title), ...inside);
