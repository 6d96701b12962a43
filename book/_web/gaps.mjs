// @ts-check
// A sentence with gaps that a reader hides and fills, and the tasks, for open_masks.mjs.

/**
 * @typedef {{ title: string, causal: boolean, weights: string }} Kept
 * @typedef {{ words: string[], heads: number, sentence: number[], gap: number,
 *     tensors: [string, number[]][], machines: Kept[] } & Grammar} Data
 * @typedef {{ nouns: Record<string, string[]>, verbs: string[] }} Grammar
 */

/** The two forms of a sentence. */
const FORMS = ["when pronoun verb , the noun verb .", "the noun verb , and pronoun verb ."];

/**
 * Whether some words are a sentence of the language (solutions.experiments.gpt_and_bert.sentences).
 * @param {string[]} words
 * @param {Grammar} grammar
 */
export function isSentence(words, { nouns, verbs }) {
    return FORMS.some((form) => {
        const kinds = form.split(" ");
        const allowed = nouns[words[kinds.indexOf("pronoun")]] ?? [];
        return kinds.every((kind, at) => {
            if (kind === "verb") return verbs.includes(words[at]);
            if (kind === "noun") return allowed.includes(words[at]);
            return kind === "pronoun" || kind === words[at];
        });
    });
}

/**
 * Return the likeliest words, without the mask: [id, share], the likeliest first.
 * @param {number[]} shares
 * @param {number} count
 */
export function likeliest(shares, count) {
    return shares
        .slice(0, -1)
        .map((share, id) => /** @type {[number, number]} */ ([id, share]))
        .sort(([a, p], [b, q]) => q - p || a - b)
        .slice(0, count);
}

/**
 * Draw a word, but no mask. u is drawn evenly from 0 to 1.
 * @param {number[]} shares
 * @param {number} u
 */
export function drawn(shares, u) {
    const words = shares.slice(0, -1);
    let left = u * words.reduce((a, b) => a + b, 0);
    for (const [id, share] of words.entries()) {
        left -= share;
        if (left < 0) return id;
    }
    return words.length - 1;
}

/** Whether some places were filled in another order than from left to right. @param {number[]} order */
export const mixed = (order) => order.some((place, at) => at > 0 && place < order[at - 1]);
