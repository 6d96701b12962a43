// @ts-check
// Puzzles: machines that do not learn their task, but would with one switch changed.

import { element } from "../parts.mjs";
import { read } from "./address.mjs";
import { inWords, LABELS, OWN } from "./words.mjs";

/**
 * @typedef {import("./words.mjs").Settings} Settings
 * @typedef {import("./words.mjs").Name} Name
 * @typedef {{ name: string, settings: string, answer: string, why: string, section: string }} Puzzle
 */

/** A machine has learned its task if its accuracy on held-out sequences is at least this. */
export const LEARNED = 0.9;

/**
 * Return the machine of a puzzle, with or without its answer.
 * @param {Puzzle} puzzle
 * @param {boolean} [solved]
 */
export const machineOf = ({ settings, answer }, solved = false) =>
    read(solved ? `${settings}&${answer}` : settings).machines[0];

/**
 * Return a sentence on a finished run in view of a puzzle.
 * @param {Settings} puzzle
 * @param {Settings} machine
 * @param {number} accuracy
 */
export function verdict(puzzle, machine, accuracy) {
    if (puzzle.task !== machine.task)
        return "That is another task. “Surprise me” brings the puzzle back.";
    const changed = OWN.filter((name) => puzzle[name] !== machine[name]);
    if (accuracy < LEARNED)
        return changed.length
            ? "Not yet: it has not learned the task."
            : "So it fails. Now change one switch, and train it again.";
    if (changed.length === 1) {
        const [name] = changed;
        return `Solved, by one switch: ${LABELS[name]}, ${inWords(machine[name])}.`;
    }
    return changed.length
        ? `It learns, and you have changed ${changed.length} switches. Which one of them was needed?`
        : "It learns as it is, with other settings than the puzzle's. Take the puzzle's own.";
}

/**
 * Make the button for puzzles, and the texts on them.
 * @param {HTMLElement} place the playground, which dispatches an event after each run
 * @param {(machines: Settings[]) => void} write
 */
export function puzzles(place, write) {
    const coming = fetch(new URL("puzzles.json", import.meta.url)).then((all) => all.json());
    /** @type {Puzzle | null} */
    let now = null;
    let shown = 0;
    const button = element("button", { type: "button" }, "Surprise me");
    const asked = element("p", { role: "status" });
    const answer = element("details", { class: "pg-answer" });
    answer.hidden = true;

    button.addEventListener("click", async () => {
        /** @type {Puzzle[]} */
        const all = await coming;
        shown = now ? shown + 1 : Math.floor(Math.random() * all.length);
        now = all[shown % all.length];
        write([machineOf(now)]);
        asked.textContent =
            "This machine does not learn its task. Train it and see; then make it learn by changing one switch.";
        const [name, value] = /** @type {[Name, string]} */ (now.answer.split("="));
        answer.replaceChildren(
            element("summary", {}, "Answer"),
            element(
                "p",
                {},
                element("strong", {}, `${LABELS[name]}: ${inWords(value)}. `),
                `${now.why} `,
                element("a", { href: now.section }, "Read more"),
            ),
        );
        answer.open = false;
        answer.hidden = false;
    });
    place.addEventListener("learned", (event) => {
        if (!now || !(event instanceof CustomEvent)) return;
        const { machines, accuracies } = event.detail;
        asked.textContent = verdict(machineOf(now), machines[0], accuracies[0]);
    });
    return element("div", { class: "pg-puzzles" }, button, asked, answer);
}
