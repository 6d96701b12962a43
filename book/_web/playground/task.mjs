// @ts-check
// A description of a task, with an example.

import { TASKS } from "../learning/tasks.mjs";
import { element, strong } from "../parts.mjs";
import { tokensOf } from "./sequence.mjs";
import { TOLD } from "./words.mjs";

const SHOWN = 16; // the most places that an example shows, counted from its end

/**
 * @param {string} name of the task
 * @param {number[][]} sequence an example; empty if there is none
 * @returns {HTMLElement[]}
 */
export function task(name, sequence) {
    const told = element("p", {}, TOLD[name]);
    if (!sequence.length) return [told];
    const text = tokensOf(sequence.slice(-SHOWN), TASKS[name].symbols).join(" ");
    const example = element(
        "p",
        { class: "pg-example" },
        "For example: ",
        element("code", {}, sequence.length > SHOWN ? `… ${text}` : text),
        ". The right answer at its end: ",
        strong(right(name, sequence)),
    );
    return [told, example];
}

/**
 * Return the right answer at the end of a sequence.
 * @param {string} name of the task
 * @param {number[][]} sequence
 */
export function right(name, sequence) {
    const { answers, questions, solve } = TASKS[name];
    const last = solve(sequence).slice(-questions);
    return last.map((one) => (one ? answers[one.answer] : "nothing")).join(" and ");
}
