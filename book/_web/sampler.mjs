// @ts-check
// A distribution over the next token, shaped by temperature, top-k and top-p.
// Its logits and a table for whoever has no scripts stand in the page (solutions/drawing/sampler.py).
// `shaped` keeps the order of the course's `sample_next`: temperature, then top-k, then top-p.

import { choice, dataOf, drawn, element, facts, slider } from "./parts.mjs";

const WIDTH = 560;
const BAR = 22;
const LEFT = 130;
const RIGHT = 60;
const SHOWN = 16;
const DRAWN = 20;
const LEAST_FULL = 0.3; // the probability of a bar of full width, unless one is larger
const TEMPERATURES = Array.from({ length: 20 }, (_, i) => (i + 1) / 10);
const SHARES = Array.from({ length: 20 }, (_, i) => (i + 1) / 20);

// logits: from the largest to the smallest. Returns the probabilities of those that are kept.
export function shaped(logits, temperature, topK, topP) {
    const weights = logits.slice(0, topK).map((one) => Math.exp((one - logits[0]) / temperature));
    const sum = weights.reduce((total, one) => total + one, 0);
    let before = 0;
    let kept = 0;
    while (kept < weights.length && before < topP) before += weights[kept++] / sum;
    return weights.slice(0, kept).map((one) => one / sum / before);
}

const asShare = (value) => (value >= 0.0995 ? value.toFixed(2) : value.toPrecision(1));

function draw(svg, names, shares, before) {
    const shown = Math.min(SHOWN, names.length);
    const full = Math.max(LEAST_FULL, shares[0], before[0]);
    const x = (value) => (value / full) * (WIDTH - LEFT - RIGHT);
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

function words(shares, size) {
    const entropy = shares.reduce((sum, one) => (one ? sum - one * Math.log(one) : sum), 0);
    const rest = shares.slice(SHOWN).reduce((sum, one) => sum + one, 0);
    return [
        ["Tokens that can be drawn", `${shares.length} of ${size.toLocaleString("en")}`],
        ["The likeliest", asShare(shares[0])],
        ["All below the bars together", rest ? asShare(rest) : "0"],
        ["As open as a fair draw among", Math.exp(entropy).toFixed(1)],
    ];
}

// Which of the tokens a number from 0 to 1 falls on. The shares sum to 1, but for rounding.
export function drawnBy(number, shares) {
    let end = 0;
    for (const [at, share] of shares.entries()) {
        end += share;
        if (number < end) return at;
    }
    return shares.length - 1;
}

function sampler(place, number) {
    const { beginnings } = dataOf(place);
    for (const one of beginnings)
        one.tokens = one.tokens.map((token) => token.replaceAll(" ", "␣"));
    const table = place.querySelector("table");
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

    const set = (name) => (value) => {
        chosen[name] = value;
        update();
    };
    const id = `sampler-${number}`;
    const texts = beginnings.map(({ text }, at) => [at, text]);
    form.append(
        ...choice(`${id}-beginning`, "After", texts, (at) => {
            ({ tokens, logits } = beginnings[at]);
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
