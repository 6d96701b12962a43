// @ts-check
// Settings in an address: what is not as usual of the first machine, and after `vs.` what is
// different in the second. A link so shows what its sender saw.

import { completed, differences, problems, RANGES } from "../learning/settings.mjs";
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
    const second = usable({ ...first, ...found[1] }, faults);
    const shared = differences(first, second).length === 0;
    return { machines: shared ? [first, second] : [first], faults };
}

/** @param {Name} name @param {string} text */
function value(name, text) {
    const range = RANGES[name];
    if (!("options" in range)) return text.trim() === "" ? text : Number(text);
    return range.options.find((one) => String(one) === text) ?? text;
}

/**
 * Settings without what cannot be: a field that is wrong gets its usual value, and is told.
 * @param {Partial<Settings>} wanted
 * @param {string[]} faults
 * @returns {Settings}
 */
function usable(wanted, faults) {
    const settings = { ...wanted };
    for (;;) {
        const [fault] = problems(settings);
        if (!fault) return completed(settings);
        const name = /** @type {Name} */ (fault.field);
        const known = Object.hasOwn(settings, name);
        faults.push(`${fault.sentence} The address asked for it; it is as usual now.`);
        if (known) delete settings[name];
        else return completed({});
    }
}
