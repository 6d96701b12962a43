// @ts-check
// Settings in an address: what is not as usual of the first machine, and after `vs.` what is
// different in the second. A link so shows what its sender saw.

import { completed, flaws, RANGES } from "../learning/settings.mjs";
import { OWN, SHARED } from "./words.mjs";

/** @typedef {import("./words.mjs").Settings} Settings @typedef {import("./words.mjs").Name} Name */

const SECOND = "vs.";

/**
 * @param {Settings[]} machines
 * @returns {string} such as `task=both&heads=1&vs.heads=2`
 */
export function written(machines) {
    const [first, second] = machines;
    const usual = completed({ task: first.task });
    const text = new URLSearchParams({ task: first.task });
    for (const name of [...SHARED, ...OWN])
        if (name !== "task" && first[name] !== usual[name]) text.set(name, String(first[name]));
    if (!second) return text.toString();
    const differ = OWN.filter((name) => first[name] !== second[name]);
    for (const name of differ) text.set(SECOND + name, String(second[name]));
    if (!differ.length) text.set(`${SECOND}body`, second.body);
    return text.toString();
}

/**
 * The machines that an address asks for, and what in it could not be followed.
 * @param {string} search
 * @returns {{ machines: Settings[], faults: string[] }}
 */
export function read(search) {
    /** @type {Record<string, unknown>[]} */
    const found = [{}, {}];
    /** @type {string[]} */
    const faults = [];
    for (const [key, text] of new URLSearchParams(search)) {
        const second = key.startsWith(SECOND);
        const name = second ? key.slice(SECOND.length) : key;
        if (!Object.hasOwn(RANGES, name) || (second && SHARED.includes(/** @type {Name} */ (name))))
            faults.push(`The address has “${key}”, which is no setting here; it is left out.`);
        else found[Number(second)][name] = value(/** @type {Name} */ (name), text);
    }
    const first = usable(found[0], faults);
    if (!Object.keys(found[1]).length) return { machines: [first], faults };
    return { machines: [first, usable({ ...first, ...found[1] }, faults)], faults };
}

/** @param {Name} name @param {string} text */
function value(name, text) {
    const range = RANGES[name];
    if (!("options" in range)) {
        const number = Number(text);
        return text.trim() === "" || Number.isNaN(number) ? text : number;
    }
    return range.options.find((one) => String(one) === text) ?? text;
}

/**
 * Settings without the values that cannot be, which are told. What does not go together stays: the
 * switches show it, and the reader mends it there.
 * @param {Partial<Settings>} wanted
 * @param {string[]} faults
 */
function usable(wanted, faults) {
    const found = flaws(wanted);
    for (const { sentence } of found) faults.push(`${sentence} Here it is as usual.`);
    const wrong = new Set(found.map(({ field }) => field));
    return completed(
        Object.fromEntries(Object.entries(wanted).filter(([name]) => !wrong.has(name))),
    );
}
