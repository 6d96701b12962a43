// @ts-check
// Chapter 10's tokens: the bytes of a text, of which some pairs are merged, one merge after the
// other (solutions/experiments/gpt_and_bert/tokens.py). A token is the Latin-1 text of its bytes.

/** What Python's \s and \w match; but for the line end, a reader can hardly type what is rare. */
const SPACE = "\\s\\x1c-\\x1f\\x85";
const LETTER = "\\p{L}\\p{Nl}\\p{No}";
const WORD = new RegExp(
    `\\n| ?[${LETTER}]+| ?\\p{Nd}| ?[^${SPACE}${LETTER}\\p{Nd}_]+|[${SPACE}]|_`,
    "gu",
);
const BYTES = 256;

export class Tokens {
    /** @param {[string, string][]} merges in the order in which they were learned */
    constructor(merges) {
        this.merges = merges;
        this.pieces = [
            ...Array.from({ length: BYTES }, (_, byte) => String.fromCharCode(byte)),
            ...merges.map((pair) => pair.join("")),
        ];
        /** Of equal pieces, the first id counts. @type {Map<string, number>} */
        this.ids = new Map();
        for (const [id, piece] of this.pieces.entries())
            if (!this.ids.has(piece)) this.ids.set(piece, id);
    }

    /** Return the ids of a text. @param {string} text */
    encode(text) {
        const words = text.match(WORD) ?? [];
        return words.flatMap((word) =>
            this.#cut(bytesOf(word)).map((piece) => /** @type {number} */ (this.ids.get(piece))),
        );
    }

    /** Return the text of ids; bytes that are no UTF-8 become the replacement character. @param {number[]} ids */
    decode(ids) {
        const bytes = ids.map((id) => this.pieces[id]).join("");
        return new TextDecoder().decode(Uint8Array.from(bytes, (one) => one.charCodeAt(0)));
    }

    /** Make the merges in a word, in their order. @param {string} word @returns {string[]} */
    #cut(word) {
        let tokens = [...word];
        for (const [left, right] of this.merges) {
            if (!word.includes(left + right)) continue;
            const merged = [];
            for (let at = 0; at < tokens.length; at++) {
                const both = tokens[at] === left && tokens[at + 1] === right;
                merged.push(both ? left + right : tokens[at]);
                if (both) at++;
            }
            tokens = merged;
        }
        return tokens;
    }
}

/** Return the bytes of a text in UTF-8, each as a character. @param {string} text */
const bytesOf = (text) => String.fromCharCode(...new TextEncoder().encode(text));
