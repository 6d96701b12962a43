// @ts-check
// The cost calculator: what a stack of blocks costs at a length, and the measured points beside it.
// Its data and a table of the measured points stand in the page (solutions/drawing/calculator.py).
// The formulas of `predicted` are those of that file.

import { choice, dataOf, drawn, element, facts, slider } from "./parts.mjs";

const WIDTH = 560;
const HEIGHT = 300;
const LEFT = 76;
const RIGHT = 12;
const TOP = 12;
const BOTTOM = 40;
const LENGTHS = [64, 2 ** 20];
const CHOICES = [
    // name, text, values, chosen at the start
    ["n", "Tokens", Array.from({ length: 15 }, (_, i) => 2 ** (i + 6)), 7],
    ["d", "Features", Array.from({ length: 8 }, (_, i) => 2 ** (i + 7)), 0],
    ["heads", "Heads", [1, 2, 4, 8, 16, 32, 64, 128], 1],
    ["layers", "Layers", [1, 2, 4, 6, 12, 24, 32, 48, 96], 0],
];
const SHOWN = { seconds: "Seconds of attention layers", bytes: "Bytes of scores in one layer" };

export function predicted({ n, d, heads, layers }, block) {
    const each = layers * n * d;
    return {
        flops: { projections: 8 * each * d, meet: 4 * each * n, feedForward: 16 * each * d },
        bytes: {
            table: 8 * heads * n * n,
            blocks: 8 * heads * n * Math.min(n, block),
            cache: 8 * each,
        },
    };
}

const UNITS = ["", " thousand", " million", " billion", " trillion", " quadrillion"];
const SIZES = ["bytes", "kB", "MB", "GB", "TB", "PB"];

const TIMES = [
    [31536000, "years"],
    [86400, "days"],
    [3600, "hours"],
    [60, "minutes"],
    [1, "s"],
    [0.001, "ms"],
];

const rounded = (value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(2));

function inWords(value, names, space) {
    const step = Math.max(0, Math.min(names.length - 1, Math.floor(Math.log10(value) / 3)));
    return rounded(value / 1000 ** step) + space + names[step];
}

const asFlops = (value) => inWords(value, UNITS, "");
const asBytes = (value) => inWords(value, SIZES, " ");

function asSeconds(value) {
    const [unit, name] = TIMES.find(([least]) => value >= least) ?? TIMES.at(-1);
    return `${rounded(value / unit)} ${name}`;
}

// A power of ten at an axis.
function atSeconds(value) {
    const power = Math.round(Math.log10(value));
    if (power > 3) return `10${[...String(power)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")} s`;
    return power < 0 ? `${Number((1000 * value).toPrecision(1))} ms` : `${10 ** power} s`;
}

function axis(low, high, from, to) {
    const scale = (to - from) / (Math.log10(high) - Math.log10(low));
    return (value) => from + (Math.log10(value) - Math.log10(low)) * scale;
}

// Lines and points of what is shown: {name, colour, dashed, points: [[n, value]]}.
function curves(shown, chosen, data) {
    const lengths = CHOICES[0][2];
    const of = (what) => lengths.map((n) => [n, what(predicted({ ...chosen, n }, data.block))]);
    const measured = (name, colour) => ({
        name: `${name}, measured (${data.d_model} features, ${data.n_heads} heads, 1 layer)`,
        colour,
        points: data.lengths.map((n, at) => [n, data.layers[name][shown][at]]),
    });
    if (shown === "bytes")
        return [
            { name: "the whole table", colour: 1, line: of((cost) => cost.bytes.table) },
            { name: `blocks of ${data.block}`, colour: 2, line: of((cost) => cost.bytes.blocks) },
            measured("attention", 1),
            measured("in blocks", 2),
        ];
    const seconds = (flops) => (flops.projections + flops.meet) / data.speed;
    return [
        { name: "predicted", colour: 1, line: of((cost) => seconds(cost.flops)) },
        measured("attention", 1),
        measured("GRU", 4),
    ];
}

function draw(svg, legend, shown, chosen, data) {
    const all = curves(shown, chosen, data);
    const values = all.flatMap(({ line, points }) => (line ?? points).map(([, value]) => value));
    const low = 10 ** Math.floor(Math.log10(Math.min(...values)));
    const high = 10 ** Math.ceil(Math.log10(Math.max(...values)));
    const x = axis(...LENGTHS, LEFT, WIDTH - RIGHT);
    const y = axis(low, high, HEIGHT - BOTTOM, TOP);
    const name = shown === "bytes" ? asBytes : atSeconds;
    svg.replaceChildren();
    for (let n = LENGTHS[0]; n <= LENGTHS[1]; n *= 16)
        svg.append(
            drawn("line", { x1: x(n), x2: x(n), y1: TOP, y2: HEIGHT - BOTTOM, class: "grid" }),
            drawn(
                "text",
                { x: x(n), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" },
                n.toLocaleString("en"),
            ),
        );
    svg.append(
        drawn("text", { x: (LEFT + WIDTH) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, "tokens"),
    );
    const decades = Math.round(Math.log10(high / low));
    const every = Math.ceil(decades / 5);
    for (let at = 0; at <= decades; at += every) {
        const value = low * 10 ** at;
        svg.append(
            drawn("line", {
                x1: LEFT,
                x2: WIDTH - RIGHT,
                y1: y(value),
                y2: y(value),
                class: "grid",
            }),
            drawn("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, name(value)),
        );
    }
    svg.append(
        drawn("line", {
            x1: x(chosen.n),
            x2: x(chosen.n),
            y1: TOP,
            y2: HEIGHT - BOTTOM,
            class: "chosen",
        }),
    );
    for (const { colour, line, points } of all) {
        const style = `--line: var(--figure-${colour})`;
        if (line) {
            const path = line.map(([n, value]) => `${x(n)},${y(value)}`).join(" ");
            svg.append(drawn("polyline", { points: path, style }));
        } else
            for (const [n, value] of points)
                svg.append(drawn("circle", { cx: x(n), cy: y(value), r: 4, style }));
    }
    legend.replaceChildren(
        ...all.map(({ name: text, colour, line }) => {
            const mark = element("span", {
                "aria-hidden": "true",
                style: `color: var(--figure-${colour})`,
            });
            mark.textContent = line ? "— " : "● ";
            return element("li", {}, mark, text);
        }),
    );
}

function words(chosen, data) {
    const { flops, bytes } = predicted(chosen, data.block);
    const all = flops.projections + flops.meet + flops.feedForward;
    const share = (100 * flops.meet) / all;
    return [
        ["Operations, forwards", asFlops(all)],
        ["of which tokens meet", `${share < 1 ? share.toPrecision(1) : share.toFixed(0)} %`],
        ["Scores of a layer, as a table", asBytes(bytes.table)],
        [`the same, ${data.block} keys at a time`, asBytes(bytes.blocks)],
        ["Keys and values to remember", asBytes(bytes.cache)],
        [
            "Attention, at the measured speed",
            asSeconds((flops.projections + flops.meet) / data.speed),
        ],
    ];
}

function calculator(place, number) {
    const data = dataOf(place);
    const table = place.querySelector("table");
    const chosen = {};
    const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
    const legend = element("ul", { class: "play-legend" });
    const found = element("dl", { "aria-live": "polite" });
    const form = element("div", { class: "play-choices" });
    let shown = "seconds";

    function update() {
        const known = words(chosen, data);
        facts(found, known);
        svg.setAttribute(
            "aria-label",
            `${SHOWN[shown]} against the number of tokens. ${known.map((one) => one.join(": ")).join("; ")}.`,
        );
        draw(svg, legend, shown, chosen, data);
    }

    for (const [name, text, values, start] of CHOICES) {
        chosen[name] = values[start];
        const say = (value) => value.toLocaleString("en");
        form.append(
            ...slider(`calculator-${number}-${name}`, text, values, start, say, (value) => {
                chosen[name] = value;
                update();
            }),
        );
    }
    form.append(
        ...choice(`calculator-${number}-shown`, "Show", Object.entries(SHOWN), (value) => {
            shown = value;
            update();
        }),
    );
    const folded = element("details", {}, element("summary", {}, "The measured points as a table"));
    table.before(form, found, svg, legend, folded);
    folded.append(table);
    update();
}

for (const [number, place] of [...document.querySelectorAll("div.cost-calculator")].entries())
    calculator(place, number);
