// @ts-check
// The explanation for a reader whose word cannot come next.

import { capital } from "./english.mjs";

/**
 * @typedef {import("./language.mjs").Group} Group
 * @typedef {import("./language.mjs").Language} Language
 * @typedef {{ word: string, group: Group }} Offered
 */

/** The order in which the groups are named. @type {Group[]} */
const ORDER = [
    ...["determiner", "adjective", "noun", "pronoun", "verb", "adverb", "preposition"],
    ...["question word", "joining word", "mark"],
].map((group) => /** @type {Group} */ (group));

/**
 * Return all words of the language, by group.
 * @param {Language} language
 * @returns {Map<Group, Set<string>>}
 */
export function vocabulary({ nouns, verbs, be, adjectives, determiners, pronouns, phrases }) {
    const phrased = (/** @type {string[]} */ ...groups) =>
        groups.flatMap((group) => phrases[group].flatMap(({ english }) => english));
    const fixed = phrased("time", "frequency", "place", "degree");
    const names = nouns.flatMap((noun) => noun.adjectives.map((one) => capital(one.english)));
    const prepositions = nouns.flatMap(({ place }) => place.slice(0, 1));
    const verbForms = verbs.filter(({ frame }) => frame !== "copula").flatMap((one) => one.english);
    const particles = verbs.map(({ particle }) => particle);
    /** @type {[Group, string[]][]} */
    const all = [
        ["noun", nouns.flatMap(({ english }) => english)],
        ["verb", [...verbForms, ...be, "do", "does"]],
        ["adjective", [...adjectives.map(({ english }) => english), ...names]],
        ["determiner", [...determiners.flatMap(({ english }) => english), "an"]],
        ["pronoun", pronouns.map(({ english }) => english)],
        ["preposition", [...prepositions, ...particles, "to", "from"]],
        ["adverb", fixed],
        ["question word", phrased("question")],
        ["joining word", [...phrased("coordinator", "subordinator", "that"), "who", "whom"]],
        ["mark", [",", ".", "?"]],
    ];
    return new Map(all.map(([group, words]) => [group, new Set(words.filter(Boolean))]));
}

/**
 * Return why a word cannot follow others.
 * @param {Map<Group, Set<string>>} vocabulary
 * @param {readonly string[]} words
 * @param {string} word
 * @param {Offered[]} offered the words that can
 * @param {boolean} complete whether the words are a complete sentence
 */
export function refusal(vocabulary, words, word, offered, complete) {
    const known = [...vocabulary].filter(([, all]) => all.has(word)).map(([group]) => group);
    if (!known.length) return `“${word}” is not among the words of this language.`;
    if (!offered.length)
        return complete
            ? "The sentence is complete: nothing comes after its mark."
            : `No sentence of this language begins with “${words.join(" ")}”.`;
    const groups = ORDER.filter((group) => offered.some((one) => one.group === group));
    const wanted = groups.flatMap((group) => (group === "mark" ? marks(offered) : a(group)));
    const where = words.length
        ? `After “${words.slice(-2).join(" ")}” comes`
        : "A sentence begins with";
    const fitting = offered.find(({ group }) => group !== "mark" && known.includes(group));
    const but = fitting ? `: “${fitting.word}” would fit, “${word}” does not` : "";
    return `${where} ${either(wanted)}${but}.`;
}

/** @param {string} name */
const a = (name) => (/^[aeiou]/.test(name) ? `an ${name}` : `a ${name}`);

/** @param {Offered[]} offered */
const marks = (offered) =>
    offered.filter(({ group }) => group === "mark").map(({ word }) => `“${word}”`);

/** @param {string[]} all */
const either = (all) =>
    all.length > 1 ? `${all.slice(0, -1).join(", ")} or ${all.at(-1)}` : all.join("");
