// @ts-check
// Settings in an address: those of the first machine that differ from the defaults and, after
// `vs.`, those of the second that differ from the first. So a link shows what its sender saw.

import { completed, flaws, RANGES } from "../learning/settings.mjs";
import { OWN, SHARED } from "./words.mjs";

/** @typedef {import("./words.mjs").Settings} Settings @typedef {import("./words.mjs").Name} Name */

const SECOND = "vs.";

/**
 * @param {Settings[]} machines
 * @returns {string} for example `task=both&heads=1&vs.heads=2`
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
 * Return the machines that an address asks for, and the faults in it.
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
            faults.push(`The address has “${key}”, which is not a setting; it is left out.`);
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
 * Return settings without invalid values, which are reported in `faults`. Conflicts between
 * settings stay: the switches show them, and the reader can resolve them there.
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
