// @ts-check
// Searching the sections of the book: terms and titles first, then the text.

import MiniSearch from "./minisearch.mjs";

/**
 * A section, as course_search.py writes it.
 * @typedef {object} Entry
 * @property {number} id
 * @property {string} address
 * @property {string} chapter
 * @property {string} title
 * @property {string[]} terms the terms that it defines
 * @property {Record<string, string>} places the address of the paragraph that defines a term
 * @property {string} text
 */

/** @typedef {{ entry: Entry, address: string, words: string[] }} Hit */

const MOST = 20;
const SNIPPET = 200;
const BOOST = { terms: 8, title: 4, text: 1 };
const WORD = /[\p{L}\p{N}]+/gu;

/** Common words, which are ignored in a query. */
const EMPTY = new Set(
    "a an and are as at be by do does for from how i in is it of on or that the this to what why".split(
        " ",
    ),
);

/** British spellings and their American forms. @type {[RegExp, string][]} */
const SPELLINGS = [
    [/is(e|ed|er|ers|es|ing|ation|ations)$/, "iz$1"],
    [/our(s|ed|ing|al)?$/, "or$1"],
    [/tre(s?)$/, "ter$1"],
    [/ll(ed|er|ing)$/, "l$1"],
];

/** Return a word as it is indexed: lower case, American spelling. @param {string} word */
const spelled = (word) =>
    SPELLINGS.reduce((text, [end, other]) => text.replace(end, other), word.toLowerCase());

/** @param {string} text */
const wordsOf = (text) => (text.replaceAll("√", " sqrt ").match(WORD) ?? []).map(spelled);

/**
 * Return a text in lower case, without punctuation and common words, in the singular.
 * @param {string} text
 */
const plain = (text) =>
    wordsOf(text)
        .filter((word) => !EMPTY.has(word))
        .join(" ")
        .replace(/s$/, "");

/**
 * Return the weight of a section, which is higher if the query is one of its terms or its title.
 * @param {Entry} entry
 * @param {string} asked as `plain` gives it
 */
function closeness(entry, asked) {
    if (entry.terms.some((term) => plain(term) === asked)) return 8;
    return plain(entry.title) === asked ? 4 : 1;
}

/**
 * Return the address of the paragraph that defines the query, or of the section's beginning.
 * @param {Entry} entry
 * @param {string} asked as `plain` gives it
 */
function addressOf(entry, asked) {
    const term = Object.keys(entry.places).find((one) => plain(one) === asked);
    return term === undefined ? entry.address : entry.places[term];
}

/**
 * Return a function that finds sections, the best first.
 * @param {Entry[]} entries
 * @returns {(query: string) => Hit[]}
 */
export function searcher(entries) {
    const index = new MiniSearch({
        fields: ["title", "terms", "text"],
        extractField: (entry, name) =>
            Array.isArray(entry[name]) ? entry[name].join(" . ") : entry[name],
        tokenize: wordsOf,
        processTerm: (word) => (EMPTY.has(word) ? null : word),
        searchOptions: {
            boost: BOOST,
            prefix: (term) => term.length > 2,
            fuzzy: (term) => (term.length > 5 ? 0.15 : false),
        },
    });
    index.addAll(entries);
    return (query) => {
        const asked = plain(query);
        const options = {
            boostDocument: (/** @type {number} */ id) => closeness(entries[id], asked),
        };
        const all = index.search(query, { ...options, combineWith: "AND" });
        const found = all.length ? all : index.search(query, options);
        return found.slice(0, MOST).map(({ id, terms }) => ({
            entry: entries[id],
            address: addressOf(entries[id], asked),
            words: terms,
        }));
    };
}

/**
 * Return the excerpt of a section's text with the most query words, split into pieces that are
 * query words and pieces between them. It begins and ends at the boundary of a word.
 * @param {string} text
 * @param {string[]} words
 * @returns {{ text: string, hit: boolean }[]}
 */
export function snippet(text, words) {
    const all = [...text.matchAll(WORD)].map(({ 0: word, index }) => ({
        start: index,
        end: index + word.length,
        hit: words.includes(spelled(word)),
    }));
    const hits = all.filter(({ hit }) => hit);
    /** @param {number} from */
    const within = (from) => hits.filter(({ start }) => start >= from && start < from + SNIPPET);
    const best = hits.reduce(
        (most, { start }) => (within(start).length > within(most).length ? start : most),
        hits[0]?.start ?? 0,
    );
    const from = all.find(({ start }) => start >= best - SNIPPET / 4)?.start ?? 0;
    const last = all.findLastIndex(({ end }) => end <= from + SNIPPET);
    const to = all[last + 1] ? all[last].end : text.length;
    const pieces = [{ text: from ? "… " : "", hit: false }];
    let done = from;
    for (const { start, end } of hits.filter((one) => one.start >= from && one.end <= to)) {
        pieces.push({ text: text.slice(done, start), hit: false });
        pieces.push({ text: text.slice(start, end), hit: true });
        done = end;
    }
    pieces.push({ text: text.slice(done, to), hit: false });
    pieces.push({ text: to < text.length ? " …" : "", hit: false });
    return pieces.filter((one) => one.text);
}
