// @ts-check
// A sequence as text that a reader can edit: spaces separate places, and a colon separates the two
// symbols of a place, as in “A:7 C:12 A:?”.

/** @param {string} name */
const plain = (name) => name.replaceAll(" ", "-");

/**
 * @param {number[][]} sequence
 * @param {string[]} symbols the name of each
 */
export const tokensOf = (sequence, symbols) =>
    sequence.map((place) => place.map((one) => plain(symbols[one])).join(":"));

/**
 * Parse a reader's text. Throws an Error whose message says which place is wrong, and how.
 * @param {string} text
 * @param {string[]} symbols
 * @param {number} each the number of symbols in a place
 * @returns {number[][]}
 */
export function parsed(text, symbols, each) {
    const names = symbols.map(plain);
    return text
        .trim()
        .split(/\s+/)
        .map((token, at) => {
            const parts = token.split(":");
            const place = parts.map((one) => names.indexOf(one));
            if (parts.length === each && !place.includes(-1)) return place;
            const unknown = parts[place.indexOf(-1)];
            const why =
                parts.length === each
                    ? `“${unknown}” is none of this task's symbols (${names.join(" ")})`
                    : `a place has ${each === 1 ? "one symbol" : "two, such as A:7"}`;
            throw new Error(`Place ${at + 1}, “${token}”: ${why}.`);
        });
}
