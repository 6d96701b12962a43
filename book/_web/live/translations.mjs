// @ts-check
// The machines' translations, word by word, with their wrong words and their looks.

import { element } from "../parts.mjs";
import { inPlace } from "./compared.mjs";
import { asText } from "./sentence.mjs";

/**
 * @typedef {import("./translating.mjs").Written} Written
 * @typedef {import("./translating.mjs").Translator} Translator
 */

/** The milliseconds between two words, so that the eye can follow. */
const PAUSE = 70;

/**
 * Make the row of a machine.
 * @param {string} name
 * @param {number} at its number among the machines of the figure, from 1
 * @param {(look: Float32Array | null, word: string) => void} pointed is called with the look of a
 * written word (the mean of all its looks), and with null when the pointer leaves it
 */
export function translation(name, at, pointed) {
    const words = element("p", { class: "live-words", lang: "fr" });
    const told = element("p", { class: "live-told" });
    const heading = element("p", { class: `live-name live-${at}` }, name);
    const place = element("div", { class: "live-machine" }, heading, words, told);
    let turn = 0;

    /**
     * Write a translation word by word.
     * @param {Translator} translator
     * @param {string[]} source
     * @param {string[]} right
     * @param {import("./translating.mjs").Changed} changed
     * @returns {Promise<string[] | null>} the words; null if another translation has begun since
     */
    async function write(translator, source, right, changed) {
        const mine = ++turn;
        const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
        words.replaceChildren();
        told.textContent = "";
        /** @type {Written[]} */
        const all = [...translator.write(source, changed)];
        for (const [turned, one] of all.entries()) {
            if (!still && turned) await new Promise((done) => setTimeout(done, PAUSE));
            if (mine !== turn) return null;
            words.append(turned ? joint(all[turned - 1].word, one.word) : "", spoken(one, !turned));
        }
        const written = all.map(({ word }) => word);
        const placed = inPlace(written, right);
        for (const [at, mark] of [...words.querySelectorAll(".live-word")].entries())
            if (!placed[at]) mark.classList.add("live-wrong");
        told.textContent = verdict(placed);
        return written;
    }

    /** @param {Written} one @param {boolean} first whether it begins the sentence */
    function spoken({ word, looks }, first) {
        const made = element("span", { class: "live-word" }, first ? asText([word]) : word);
        if (!looks.length) return made;
        made.tabIndex = 0;
        const mean = looks[0].map(
            (_, at) => looks.reduce((sum, look) => sum + look[at], 0) / looks.length,
        );
        for (const event of ["pointerenter", "focus"])
            made.addEventListener(event, () => pointed(mean, word));
        for (const event of ["pointerleave", "blur"])
            made.addEventListener(event, () => pointed(null, word));
        return made;
    }

    /** @param {string} sentence the text to show until a translation is written */
    function wait(sentence) {
        turn++;
        words.replaceChildren();
        told.textContent = sentence;
    }

    return { place, write, wait };
}

/** Return the text between two words. @param {string} before @param {string} after */
const joint = (before, after) => (asText([before, after]).includes(" ") ? " " : "");

/** @param {boolean[]} placed whether the word at each position is the right one */
export function verdict(placed) {
    const right = placed.filter(Boolean).length;
    return right === placed.length
        ? "Right, every word."
        : `${right} of ${placed.length} words right and in their place.`;
}
