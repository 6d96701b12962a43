// @ts-check
// The attention maps of every head of a model, on a few sentences. The page has them as bytes, 255
// for a weight of 1 (solutions/drawing/head_maps.py), and a table of a single head for readers
// without scripts.

import { moved } from "./cells.mjs";
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
 * Return the weights of a head, as rows.
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
 * Describe a cell in words.
 * @param {string[]} tokens
 * @param {number} row
 * @param {number} column
 * @param {number} weight
 */
export const said = (tokens, row, column, weight) =>
    `“${tokens[row]}” looks at “${tokens[column]}” with a weight of ${weight.toFixed(2)}.`;

/**
 * Draw the map; return its cells, row by row, and the tokens at its two sides.
 * @param {SVGElement} svg
 * @param {string[]} tokens
 * @param {number[][]} weights
 */
function draw(svg, tokens, weights) {
    const size = tokens.length * SIDE;
    svg.setAttribute("viewBox", `0 0 ${LEFT + size + GAP} ${TOP + size + GAP}`);
    const looking = tokens.map((token, at) =>
        drawn("text", { x: LEFT - 6, y: TOP + (at + 0.5) * SIDE + 4, "text-anchor": "end" }, token),
    );
    const lookedAt = tokens.map((token, at) => {
        const turn = `translate(${LEFT + (at + 0.5) * SIDE + 4} ${TOP - 6}) rotate(-90)`;
        return drawn("text", { transform: turn }, token);
    });
    const names = drawn("g", { "aria-hidden": "true" });
    names.append(...looking, ...lookedAt);
    const cells = weights.map((row, i) =>
        row.map((weight, j) =>
            drawn("rect", {
                x: LEFT + j * SIDE,
                y: TOP + i * SIDE,
                width: SIDE - GAP,
                height: SIDE - GAP,
                class: "cell",
                role: "gridcell",
                style: `--weight: ${weight}`,
                tabindex: -1,
                "aria-label": said(tokens, i, j, weight),
            }),
        ),
    );
    const rows = cells.map((row) => {
        const group = drawn("g", { role: "row" });
        group.append(...row);
        return group;
    });
    svg.replaceChildren(names, ...rows);
    return { cells, looking, lookedAt };
}

/**
 * Return the rows of the table: the token that each token looks at most.
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
    const svg = drawn("svg", { role: "grid", class: "heads-map" });
    const told = element("p", { class: "play-told" });
    const form = element("div", { class: "play-sliders" });
    /** @type {ReturnType<typeof draw>} */
    let map;
    let row = 0;
    let column = 0;

    /** Describe the cell at `row` and `column`, and make it the keyboard's stop in the map. */
    function point() {
        for (const one of svg.querySelectorAll(".pointed")) one.classList.remove("pointed");
        const cell = map.cells[row][column];
        for (const one of [cell, map.looking[row], map.lookedAt[column]])
            one.classList.add("pointed");
        svg.querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1");
        cell.setAttribute("tabindex", "0");
        told.textContent = cell.getAttribute("aria-label");
    }

    /** @param {Event} event over a cell or elsewhere */
    function pointed({ target }) {
        if (!(target instanceof SVGRectElement)) return;
        row = map.cells.findIndex((cells) => cells.includes(target));
        column = map.cells[row].indexOf(target);
        point();
    }

    function update() {
        const sentence = sentences[chosen.sentence];
        const weights = weightsOf(sentence, heads, chosen.layer, chosen.head);
        const which = `Layer ${chosen.layer + 1}, head ${chosen.head + 1}`;
        map = draw(svg, sentence.tokens, weights);
        svg.setAttribute("aria-label", `${which}: how much each row looks at each column`);
        table.tBodies[0].replaceChildren(...rows(sentence.tokens, weights));
        caption.textContent = `${which}: where each token looks most`;
        row = Math.min(row, sentence.tokens.length - 1);
        column = Math.min(column, sentence.tokens.length - 1);
        point();
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
        ...slider(`${id}-layer`, "Layer", count(layers), start[0], say, set("layer")),
        ...slider(`${id}-head`, "Head", count(heads), start[1], say, set("head")),
    );
    // The box has the listeners, since an SVG with listeners is a stop for Tab. It listens to
    // pointermove, since pointerover also fires when a new map appears under the pointer.
    const around = element("div", {}, svg);
    around.addEventListener("pointermove", pointed);
    around.addEventListener("focusin", pointed);
    around.addEventListener("keydown", (event) => {
        const to = moved(event.key, row, column, map.cells.length - 1);
        if (!to) return;
        event.preventDefault();
        map.cells[to[0]][to[1]].focus();
    });
    const folded = element("details", {}, element("summary", {}, "The same as a table"));
    table.before(
        choice(`${id}-sentence`, "Sentence", texts, set("sentence")),
        form,
        around,
        told,
        folded,
    );
    folded.append(table);
    update();
}

if (typeof document !== "undefined")
    for (const [number, place] of [...document.querySelectorAll("div.heads")].entries())
        headsOf(place, number);
