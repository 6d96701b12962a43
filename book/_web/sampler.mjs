// @ts-check
// A distribution over the next token, with temperature, top-k and top-p for the reader to turn.
// Its logits and a table for whoever has no scripts stand in the page (solutions/drawing/sampler.py).

import { choice, dataOf, drawn, element, facts, slider, tableOf } from "./parts.mjs";
import { drawnBy, openness, shaped } from "./sampling.mjs";

/** @typedef {{ text: string, tokens: string[], logits: number[] }} Beginning the likeliest first */

const WIDTH = 560;
const BAR = 22;
const LEFT = 130;
const RIGHT = 60;
const SHOWN = 16;
const DRAWN = 20;
const LEAST_FULL = 0.3; // the probability of a bar of full width, unless one is larger
const TEMPERATURES = Array.from({ length: 20 }, (_, i) => (i + 1) / 10);
const SHARES = Array.from({ length: 20 }, (_, i) => (i + 1) / 20);

/** @param {number} value */
const asShare = (value) => (value >= 0.0995 ? value.toFixed(2) : value.toPrecision(1));

/**
 * @param {SVGElement} svg
 * @param {string[]} names of the tokens
 * @param {number[]} shares as shaped
 * @param {number[]} before as the model gave them
 */
function draw(svg, names, shares, before) {
    const shown = Math.min(SHOWN, names.length);
    const full = Math.max(LEAST_FULL, shares[0], before[0]);
    const x = (/** @type {number} */ value) => (value / full) * (WIDTH - LEFT - RIGHT);
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${shown * BAR}`);
    svg.replaceChildren();
    for (let at = 0; at < shown; at++) {
        const top = at * BAR;
        const share = shares[at] ?? 0;
        svg.append(
            drawn("text", { x: LEFT - 8, y: top + 15, "text-anchor": "end" }, names[at]),
            drawn("rect", {
                x: LEFT,
                y: top + 3,
                width: x(share),
                height: BAR - 6,
                style: "--line: var(--figure-1)",
            }),
            drawn("line", {
                x1: LEFT + x(before[at]),
                x2: LEFT + x(before[at]),
                y1: top + 1,
                y2: top + BAR - 1,
                class: "before",
            }),
            drawn("text", { x: LEFT + x(share) + 6, y: top + 15 }, share ? asShare(share) : "–"),
        );
    }
}

/**
 * @param {number[]} shares
 * @param {number} size how many tokens there are
 * @returns {[string, string][]}
 */
function words(shares, size) {
    const rest = shares.slice(SHOWN).reduce((sum, one) => sum + one, 0);
    return [
        ["Tokens that can be drawn", `${shares.length} of ${size.toLocaleString("en")}`],
        ["The likeliest", asShare(shares[0])],
        ["All below the bars together", rest ? asShare(rest) : "0"],
        ["As open as a fair draw among", openness(shares).toFixed(1)],
    ];
}

/**
 * @param {Element} place
 * @param {number} number of the sampler on its page
 */
function sampler(place, number) {
    /** @type {{ beginnings: Beginning[] }} */
    const { beginnings } = dataOf(place);
    for (const one of beginnings)
        one.tokens = one.tokens.map((token) => token.replaceAll(" ", "␣"));
    const table = tableOf(place);
    let { tokens, logits } = beginnings[0];
    const chosen = { temperature: 1, k: tokens.length, p: 1 };
    const counts = [1, 2, 3, 5, 10, 20, 50, 100]
        .filter((k) => k < tokens.length)
        .concat(tokens.length);
    const svg = drawn("svg", { role: "img" });
    const found = element("dl", { "aria-live": "polite" });
    const form = element("div", { class: "play-choices" });
    const button = element("button", { type: "button" }, `Draw ${DRAWN} tokens`);
    const said = element("p", { class: "play-drawn", "aria-live": "polite" });
    /** @type {number[]} */
    let shares;

    function update() {
        shares = shaped(logits, chosen.temperature, chosen.k, chosen.p);
        const known = words(shares, tokens.length);
        facts(found, known);
        svg.setAttribute(
            "aria-label",
            `The probabilities of the likeliest tokens: ${tokens
                .slice(0, 5)
                .map((one, at) => `${one} ${asShare(shares[at] ?? 0)}`)
                .join(", ")}.`,
        );
        draw(svg, tokens, shares, shaped(logits, 1, logits.length, 1));
        said.replaceChildren();
    }

    /** @param {keyof typeof chosen} name */
    const set = (name) => (/** @type {number} */ value) => {
        chosen[name] = value;
        update();
    };
    const id = `sampler-${number}`;
    /** @type {[number, string][]} */
    const texts = beginnings.map(({ text }, at) => [at, text]);
    form.append(
        ...choice(`${id}-beginning`, "After", texts, (at) => {
            ({ tokens, logits } = beginnings[Number(at)]);
            update();
        }),
        ...slider(
            `${id}-temperature`,
            "Temperature",
            TEMPERATURES,
            9,
            (value) => value.toFixed(1),
            set("temperature"),
        ),
        ...slider(
            `${id}-k`,
            "Top-k",
            counts,
            counts.length - 1,
            (k) => (k === tokens.length ? "all" : String(k)),
            set("k"),
        ),
        ...slider(
            `${id}-p`,
            "Top-p",
            SHARES,
            SHARES.length - 1,
            (p) => (p === 1 ? "all" : p.toFixed(2)),
            set("p"),
        ),
    );
    button.addEventListener("click", () => {
        said.replaceChildren(
            ...Array.from({ length: DRAWN }, () => drawnBy(Math.random(), shares)).flatMap((at) => [
                element("code", {}, tokens[at]),
                " ",
            ]),
        );
    });
    const note = element(
        "p",
        { class: "play-note" },
        "Bars: as shaped. Upright lines: as the model gave them.",
    );
    table.replaceWith(form, found, svg, note, button, said);
    update();
}

for (const [number, place] of [...document.querySelectorAll("div.sampler")].entries())
    sampler(place, number);
