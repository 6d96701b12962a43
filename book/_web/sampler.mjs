// @ts-check
// A distribution over the next token, with sliders for temperature, top-k and top-p.

import { drawn, element, slider, strong } from "./parts.mjs";
import { counted, drawnBy, openness, ranked, shaped, sum } from "./sampling.mjs";

const WIDTH = 560;
const ROW = 22;
const BARS = 110; // x coordinate of the left ends of the bars
const LONGEST = 280;
const PROBABILITY = 475; // x coordinate of the right ends of these columns
const COUNT = 556;
const SHOWN = 16;
const DRAWN = 20;
const LEAST_FULL = 0.3; // the probability of a bar of full width, unless a token has a larger one
const TEMPERATURES = Array.from({ length: 20 }, (_, i) => (i + 1) / 10);
const SHARES = Array.from({ length: 20 }, (_, i) => (i + 1) / 20);

/** @param {number} value */
const asShare = (value) => (value >= 0.0995 ? value.toFixed(2) : value.toPrecision(1));

/**
 * @param {SVGElement} svg
 * @param {string[]} names of the tokens
 * @param {number[]} shares the probabilities after shaping
 * @param {number[]} before the model's probabilities
 * @param {number[]} [counts] how often each token was drawn
 */
function draw(svg, names, shares, before, counts) {
    const shown = Math.min(SHOWN, names.length);
    const full = Math.max(LEAST_FULL, shares[0], before[0]);
    const length = (/** @type {number} */ value) => (value / full) * LONGEST;
    /**
     * @param {number} row below the head
     * @param {(string | undefined)[]} words of the token, its probability and its count
     */
    const line = (row, words) =>
        [BARS - 8, PROBABILITY, COUNT].map((x, at) =>
            drawn("text", { x, y: (row + 1) * ROW + 15, "text-anchor": "end" }, words[at] ?? ""),
        );
    /** @param {number} count */
    const asCount = (count) => (count ? `${count} ×` : "");
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${(shown + 2) * ROW}`);
    svg.replaceChildren(...line(-1, ["next", "probability", counts && "drawn"]));
    for (let at = 0; at < shown; at++) {
        const top = (at + 1) * ROW;
        const share = shares[at] ?? 0;
        const mark = BARS + length(before[at]);
        svg.append(
            ...line(at, [names[at], share ? asShare(share) : "–", counts && asCount(counts[at])]),
            drawn("rect", {
                x: BARS,
                y: top + 3,
                width: length(share),
                height: ROW - 6,
                style: "--line: var(--figure-1)",
            }),
            drawn("line", { x1: mark, x2: mark, y1: top + 1, y2: top + ROW - 1, class: "before" }),
        );
    }
    const rest = sum(shares.slice(SHOWN));
    svg.append(
        ...line(shown, [
            "all others",
            rest ? asShare(rest) : "–",
            counts && asCount(sum(counts.slice(SHOWN))),
        ]),
    );
}

/**
 * Describe in sentences what can be drawn.
 * @param {number[]} shares
 * @param {number} size how many tokens there are
 */
const told = (shares, size) => [
    strong(`${shares.length} of ${size.toLocaleString("en")}`),
    " tokens can be drawn, and the draw is as open as a fair one among ",
    strong(openness(shares).toFixed(1)),
    ".",
];

/**
 * Describe in sentences what was drawn.
 * @param {string[]} tokens
 * @param {number[]} counts
 */
function came(tokens, counts) {
    const most = Math.max(...counts);
    return [
        `${DRAWN} draws, all for the same place: `,
        strong(`${counts.filter((one) => one > 0).length} different tokens`),
        " came. The most frequent is ",
        element("code", {}, tokens[counts.indexOf(most)]),
        ", with ",
        strong(String(most)),
        "; the other counts stand beside the bars.",
    ];
}

/**
 * Return the elements of a distribution, a function that shows the logits of all tokens in it, and
 * one that draws a token from it.
 * @param {string} id unique on the page
 * @param {string[]} names of the tokens
 */
export function sampler(id, names) {
    const chosen = { temperature: 1, k: names.length, p: 1 };
    const kept = [1, 2, 3, 5, 10, 20, 50, 100].filter((k) => k < names.length).concat(names.length);
    const svg = drawn("svg", { role: "img" });
    const note = element(
        "p",
        { class: "play-note" },
        "Bars: as shaped. Upright lines: as the model gave them.",
    );
    const form = element("div", { class: "play-sliders" });
    const found = element("p", { class: "play-told", "aria-live": "polite" });
    const button = element("button", { type: "button" }, `Draw the next token ${DRAWN} times`);
    const said = element("p", { class: "play-told", "aria-live": "polite" });
    /** The ids of the tokens and their logits, the likeliest first, and the shares of the first ones. */
    let ranking = /** @type {number[]} */ ([]);
    let logits = /** @type {number[]} */ ([]);
    let shares = /** @type {number[]} */ ([]);
    const tokens = () => ranking.map((id) => names[id]);

    /** @param {number[]} [counts] */
    function show(counts) {
        draw(svg, tokens(), shares, shaped(logits, 1, logits.length, 1), counts);
    }

    function update() {
        shares = shaped(logits, chosen.temperature, chosen.k, chosen.p);
        found.replaceChildren(...told(shares, names.length));
        said.replaceChildren();
        svg.setAttribute(
            "aria-label",
            `The probabilities of the likeliest tokens: ${tokens()
                .slice(0, 5)
                .map((one, at) => `${one} ${asShare(shares[at] ?? 0)}`)
                .join(", ")}.`,
        );
        show();
    }

    /** @param {keyof typeof chosen} name */
    const set = (name) => (/** @type {number} */ value) => {
        chosen[name] = value;
        update();
    };
    form.append(
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
            kept,
            kept.length - 1,
            (k) => (k === names.length ? "all" : String(k)),
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
        const draws = Array.from({ length: DRAWN }, () => drawnBy(Math.random(), shares));
        const counts = counted(draws, names.length);
        show(counts);
        said.replaceChildren(...came(tokens(), counts));
    });
    return {
        nodes: [svg, note, form, found, button, said],
        /** @param {number[]} all the logits of all tokens, by their ids */
        show(all) {
            ranking = ranked(all);
            logits = ranking.map((id) => all[id]);
            update();
        },
        /** Return the id of a token. @param {number} number from 0 to 1 */
        draw: (number) => ranking[drawnBy(number, shares)],
    };
}
