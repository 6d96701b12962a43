// @ts-check
// What a machine is asked, in words and by an example.

import { TASKS } from "../learning/tasks.mjs";
import { element, strong } from "../parts.mjs";
import { tokensOf } from "./sequence.mjs";
import { TOLD } from "./words.mjs";

const SHOWN = 16; // places of an example; of longer ones, the last so many

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
 * What is right at the end of a sequence.
 * @param {string} name of the task
 * @param {number[][]} sequence
 */
export function right(name, sequence) {
    const { answers, questions, solve } = TASKS[name];
    const last = solve(sequence).slice(-questions);
    return last.map((one) => (one ? answers[one.answer] : "nothing")).join(" and ");
}
