// @ts-check
// Answers as the browser stores them: their form, and how stored answers are fitted to the page's
// edition of the assignment. Answers without a cell in this edition are set aside, never deleted.

import { stubsOf } from "./released.mjs";

/** @typedef {import("./released.mjs").OwnCell} OwnCell */
/** @typedef {import("./released.mjs").Notebook} Notebook */
/** @typedef {import("./opened.mjs").Aside} Aside */
/**
 * @typedef {object} Answers
 * @property {string} edition
 * @property {Record<string, string>} sources by cell: answers that differ from the release
 * @property {OwnCell[]} own
 * @property {string[]} ran cells that the reader has run
 * @property {Record<string, "right" | "tried">} verdicts by exercise: the result of its last check
 * @property {Aside[]} aside answers whose cell does not exist in this edition
 */

/** @param {string} edition @returns {Answers} */
export const noAnswers = (edition) => ({
    edition,
    sources: {},
    own: [],
    ran: [],
    verdicts: {},
    aside: [],
});

/**
 * Return the valid part of stored answers, which any page may have written, fitted to this edition.
 * @param {any} kept
 * @param {string} edition
 * @param {Notebook} released
 */
export function fitted(kept, edition, released) {
    const answers = noAnswers(edition);
    const stubs = stubsOf(released);
    for (const [cell, source] of Object.entries(kept?.sources ?? {})) {
        if (typeof source !== "string" || source === stubs.get(cell)) continue;
        if (stubs.has(cell)) answers.sources[cell] = source;
        else answers.aside.push({ cell, source });
    }
    answers.own = list(kept?.own).filter((one) => texts(one?.id, one?.after, one?.source));
    answers.aside.push(...list(kept?.aside).filter((one) => texts(one?.cell, one?.source)));
    const cells = new Set([...stubs.keys(), ...answers.own.map((one) => one.id)]);
    answers.ran = list(kept?.ran).filter((cell) => cells.has(cell));
    for (const [exercise, verdict] of Object.entries(kept?.verdicts ?? {}))
        if (stubs.has(exercise) && (verdict === "right" || verdict === "tried"))
            answers.verdicts[exercise] = verdict;
    return answers;
}

/** @param {unknown[]} values */
const texts = (...values) => values.every((value) => typeof value === "string");

/** @param {unknown} value @returns {any[]} */
const list = (value) => (Array.isArray(value) ? value : []);

/**
 * Merge the answers from a file into the current ones. Answers that are not in the file stay.
 * @param {Answers} answers
 * @param {import("./opened.mjs").Opened} opened
 * @returns {{ merged: Answers, replaced: string[] }} `replaced` names the answers that are lost
 */
export function merge(answers, opened) {
    const replaced = Object.keys(opened.sources).filter(
        (cell) => cell in answers.sources && answers.sources[cell] !== opened.sources[cell],
    );
    const there = new Map(answers.own.map((one) => [one.id, one]));
    const own = [...answers.own];
    for (const one of opened.own) {
        const before = there.get(one.id);
        if (before && before.source !== one.source) {
            own[own.indexOf(before)] = { ...before, source: one.source };
            replaced.push("a cell of your own");
        } else if (!before && !own.some((two) => two.source === one.source)) own.push(one);
    }
    const fresh = Object.keys(opened.sources).filter(
        (cell) => answers.sources[cell] !== opened.sources[cell],
    );
    /** @template Value @param {[string, Value]} entry */
    const unchanged = ([cell]) => !fresh.includes(cell);
    const aside = [...answers.aside, ...opened.aside].filter(
        (one, at, all) => all.findIndex((two) => same(one, two)) === at,
    );
    const merged = {
        ...answers,
        sources: { ...answers.sources, ...opened.sources },
        own,
        ran: answers.ran.filter((cell) => !fresh.includes(cell)),
        verdicts: Object.fromEntries(Object.entries(answers.verdicts).filter(unchanged)),
        aside,
    };
    return { merged, replaced };
}

/** @param {Aside} one @param {Aside} other */
const same = (one, other) => one.cell === other.cell && one.source === other.source;
