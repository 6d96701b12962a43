// @ts-check
// The attention maps of every head of a model, on a few sentences.
// They stand in the page as bytes, 255 for a weight of 1 (solutions/drawing/head_maps.py), with a table
// of one head for whoever has no scripts.

import { choice, dataOf, drawn, element, slider, tableOf } from "./parts.mjs";

/**
 * @typedef {{ text: string, tokens: string[], maps: string }} Packed with its maps in Base64
 * @typedef {{ text: string, tokens: string[], maps: Uint8Array }} Sentence
 */

const SIDE = 26;
const LEFT = 96;
const TOP = 92;
const GAP = 2;

/**
 * The weights of one head, as rows.
 * @param {Pick<Sentence, "tokens" | "maps">} sentence with `maps` of (layers, heads, n, n) bytes
 * @param {number} heads in a layer
 * @param {number} layer
 * @param {number} head
 */
export function weightsOf({ tokens, maps }, heads, layer, head) {
    const n = tokens.length;
    const begin = (layer * heads + head) * n * n;
    return tokens.map((_, row) =>
        Array.from(maps.subarray(begin + row * n, begin + (row + 1) * n), (one) => one / 255),
    );
}

/**
 * @param {SVGElement} svg
 * @param {string[]} tokens
 * @param {number[][]} weights
 */
function draw(svg, tokens, weights) {
    const size = tokens.length * SIDE;
    svg.setAttribute("viewBox", `0 0 ${LEFT + size + GAP} ${TOP + size + GAP}`);
    svg.replaceChildren();
    tokens.forEach((token, at) => {
        const middle = (at + 0.5) * SIDE;
        const turn = `translate(${LEFT + middle + 4} ${TOP - 6}) rotate(-90)`;
        svg.append(
            drawn("text", { x: LEFT - 6, y: TOP + middle + 4, "text-anchor": "end" }, token),
            drawn("text", { transform: turn }, token),
        );
    });
    for (const [i, row] of weights.entries())
        for (const [j, weight] of row.entries()) {
            const at = {
                x: LEFT + j * SIDE,
                y: TOP + i * SIDE,
                width: SIDE - GAP,
                height: SIDE - GAP,
            };
            svg.append(drawn("rect", { ...at, class: "cell", style: `--weight: ${weight}` }));
        }
}

/**
 * The rows of the table: where each token looks most.
 * @param {string[]} tokens
 * @param {number[][]} weights
 */
function rows(tokens, weights) {
    return tokens.map((token, i) => {
        const most = weights[i].indexOf(Math.max(...weights[i]));
        const cells = [tokens[most], weights[i][most].toFixed(2)].map((text) =>
            element("td", {}, text),
        );
        return element("tr", {}, element("th", { scope: "row" }, token), ...cells);
    });
}

/** @param {string} text bytes, in Base64 */
const bytesOf = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));

/**
 * @param {Element} place
 * @param {number} number of the figure on its page
 */
function headsOf(place, number) {
    /** @type {{ layers: number, heads: number, start: [number, number], sentences: Packed[] }} */
    const { layers, heads, start, sentences: packed } = dataOf(place);
    /** @type {Sentence[]} */
    const sentences = packed.map((one) => ({ ...one, maps: bytesOf(one.maps) }));
    const table = tableOf(place);
    const caption = table.createCaption();
    const chosen = { sentence: 0, layer: start[0], head: start[1] };
    const svg = drawn("svg", { role: "img", class: "heads-map" });
    const form = element("div", { class: "play-choices" });

    function update() {
        const sentence = sentences[chosen.sentence];
        const weights = weightsOf(sentence, heads, chosen.layer, chosen.head);
        draw(svg, sentence.tokens, weights);
        svg.setAttribute(
            "aria-label",
            `Weights of layer ${chosen.layer + 1}, head ${chosen.head + 1}; the table below says where each token looks most.`,
        );
        table.tBodies[0].replaceChildren(...rows(sentence.tokens, weights));
        caption.textContent = `Layer ${chosen.layer + 1}, head ${chosen.head + 1}: where each token looks most`;
    }

    /** @param {keyof typeof chosen} name */
    const set = (name) => (/** @type {string | number} */ value) => {
        chosen[name] = Number(value);
        update();
    };
    const count = (/** @type {number} */ n) => Array.from({ length: n }, (_, at) => at);
    const say = (/** @type {number} */ at) => String(at + 1);
    /** @type {[number, string][]} */
    const texts = sentences.map(({ text }, at) => [at, text]);
    const id = `heads-${number}`;
    form.append(
        ...choice(`${id}-sentence`, "Sentence", texts, set("sentence")),
        ...slider(`${id}-layer`, "Layer", count(layers), start[0], say, set("layer")),
        ...slider(`${id}-head`, "Head", count(heads), start[1], say, set("head")),
    );
    const folded = element("details", {}, element("summary", {}, "The same as a table"));
    table.before(form, svg, folded);
    folded.append(table);
    update();
}

if (typeof document !== "undefined")
    for (const [number, place] of [...document.querySelectorAll("div.heads")].entries())
        headsOf(place, number);
