// @ts-check
// Searching the sections of the book: terms and titles first, then the text.

import MiniSearch from "./minisearch.mjs";

/**
 * A section, as course_search.py writes it.
 * @typedef {object} Entry
 * @property {number} id
 * @property {string} address
 * @property {string} chapter
 * @property {boolean} first whether it is the beginning of its page
 * @property {string} title
 * @property {string[]} terms what it defines
 * @property {string} text
 */

/** @typedef {{ entry: Entry, words: string[] }} Hit */

const MOST = 20;
const BEFORE = 70;
const AFTER = 150;
const BOOST = { terms: 8, title: 4, text: 1 };

/**
 * How often a section counts that defines exactly what is asked for; or whose title it is.
 * @param {Entry} entry
 * @param {string} query
 */
function closeness(entry, query) {
    const asked = plain(query);
    if (entry.terms.some((term) => plain(term) === asked)) return 8;
    return plain(entry.title) === asked ? 4 : 1;
}

/** @param {string} text without case, and in the singular */
const plain = (text) => text.toLowerCase().trim().replace(/s$/, "");

/**
 * A function that finds sections, the best first.
 * @param {Entry[]} entries
 * @returns {(query: string) => Hit[]}
 */
export function searcher(entries) {
    const index = new MiniSearch({
        fields: ["title", "terms", "text"],
        extractField: (entry, name) =>
            Array.isArray(entry[name]) ? entry[name].join(" . ") : entry[name],
        searchOptions: {
            boost: BOOST,
            prefix: (term) => term.length > 2,
            fuzzy: (term) => (term.length > 5 ? 0.15 : false),
        },
    });
    index.addAll(entries);
    return (query) => {
        const all = index.search(query, { combineWith: "AND" });
        const found = all.length ? all : index.search(query);
        return found
            .map(({ id, score, terms }) => {
                const entry = entries[id];
                return { entry, words: terms, score: score * closeness(entry, query) };
            })
            .sort((one, other) => other.score - one.score)
            .slice(0, MOST);
    };
}

/**
 * A stretch of a section's text around the first of the words, in pieces: what is between them, and
 * them.
 * @param {string} text
 * @param {string[]} words
 * @returns {{ text: string, hit: boolean }[]}
 */
export function snippet(text, words) {
    const escaped = words.map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const hits = new RegExp(`(?<![\\p{L}\\p{N}])(?:${escaped.join("|")})`, "giu");
    const at = Math.max(0, text.search(hits));
    const start = at < BEFORE ? 0 : text.indexOf(" ", at - BEFORE) + 1;
    const end = text.length <= at + AFTER ? text.length : text.lastIndexOf(" ", at + AFTER);
    const shown = (start ? "… " : "") + text.slice(start, end) + (end < text.length ? " …" : "");
    const pieces = [];
    let done = 0;
    for (const hit of words.length ? shown.matchAll(hits) : []) {
        pieces.push({ text: shown.slice(done, hit.index), hit: false });
        pieces.push({ text: hit[0], hit: true });
        done = hit.index + hit[0].length;
    }
    pieces.push({ text: shown.slice(done), hit: false });
    return pieces.filter((one) => one.text);
}
