// @ts-check
// The cost calculator: the predicted cost of a stack of blocks at each length, and measured points.
// Its data and a table of these points are in the page (solutions/drawing/calculator.py).

import { asBytes, asFlops, asSeconds, atSeconds, predicted } from "./costs.mjs";
import { choice, dataOf, drawn, element, slider, strong, tableOf } from "./parts.mjs";

/** @typedef {import("./costs.mjs").Model} Model */
/** @typedef {"seconds" | "bytes"} Shown */
/** @typedef {[number, number]} Point tokens, and seconds or bytes */
/** @typedef {{ name: string, colour: number, joined: boolean, points: Point[] }} Curve */

/**
 * @typedef {object} Data the data in the page
 * @property {number} d_model
 * @property {number} n_heads
 * @property {number} block
 * @property {number} speed operations a second
 * @property {number[]} lengths
 * @property {Record<string, Record<Shown, number[]>>} layers
 */

const WIDTH = 560;
const HEIGHT = 300;
const LEFT = 76;
const RIGHT = 12;
const TOP = 12;
const BOTTOM = 40;
const SHORTEST = 64;
const LONGEST = 2 ** 20;
const LENGTHS = Array.from({ length: 15 }, (_, i) => SHORTEST * 2 ** i);

/** @type {[keyof Model, string, number[], number][]} name, text, values, place of the first one */
const CHOICES = [
    ["n", "Tokens", LENGTHS, 7],
    ["d", "Features", Array.from({ length: 8 }, (_, i) => 2 ** (i + 7)), 0],
    ["heads", "Heads", [1, 2, 4, 8, 16, 32, 64, 128], 1],
    ["layers", "Layers", [1, 2, 4, 6, 12, 24, 32, 48, 96], 0],
];

/** @type {Record<Shown, string>} */
const SHOWN = { seconds: "Seconds of attention layers", bytes: "Bytes of scores in one layer" };

/**
 * Return a function that maps a value to its position on a logarithmic axis.
 * @param {number} low
 * @param {number} high
 * @param {number} from the position of `low`
 * @param {number} to the position of `high`
 * @returns {(value: number) => number}
 */
function axis(low, high, from, to) {
    const scale = (to - from) / (Math.log10(high) - Math.log10(low));
    return (value) => from + (Math.log10(value) - Math.log10(low)) * scale;
}

/**
 * Return the lines and points of the chart.
 * @param {Shown} shown
 * @param {Model} chosen
 * @param {Data} data
 * @returns {Curve[]}
 */
function curves(shown, chosen, data) {
    /**
     * @param {string} name
     * @param {number} colour
     * @param {(cost: ReturnType<typeof predicted>) => number} what
     * @returns {Curve}
     */
    const counted = (name, colour, what) => ({
        name,
        colour,
        joined: true,
        points: LENGTHS.map((n) => [n, what(predicted({ ...chosen, n }, data.block))]),
    });
    /**
     * @param {string} layer
     * @param {number} colour
     * @param {string} [name]
     * @returns {Curve}
     */
    const measured = (layer, colour, name = layer) => ({
        name: `${name}, measured`,
        colour,
        joined: false,
        points: data.lengths.map((n, at) => [n, data.layers[layer][shown][at]]),
    });
    if (shown === "bytes")
        return [
            counted("the whole table", 1, ({ bytes }) => bytes.table),
            counted(`blocks of ${data.block}`, 2, ({ bytes }) => bytes.blocks),
            measured("attention", 1),
            measured("in blocks", 2, "attention in blocks"),
        ];
    return [
        counted("predicted", 1, ({ flops }) => (flops.projections + flops.meet) / data.speed),
        measured("attention", 1),
        measured("GRU", 4),
    ];
}

/**
 * @param {SVGElement} svg
 * @param {Element} legend
 * @param {Shown} shown
 * @param {Model} chosen
 * @param {Data} data
 */
function draw(svg, legend, shown, chosen, data) {
    const all = curves(shown, chosen, data);
    const values = all.flatMap(({ points }) => points.map(([, value]) => value));
    const low = 10 ** Math.floor(Math.log10(Math.min(...values)));
    const high = 10 ** Math.ceil(Math.log10(Math.max(...values)));
    const x = axis(SHORTEST, LONGEST, LEFT, WIDTH - RIGHT);
    const y = axis(low, high, HEIGHT - BOTTOM, TOP);
    const name = shown === "bytes" ? asBytes : atSeconds;
    svg.replaceChildren();
    for (let n = SHORTEST; n <= LONGEST; n *= 16)
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
    for (const { colour, joined, points } of all) {
        const style = `--line: var(--figure-${colour})`;
        if (joined) {
            const path = points.map(([n, value]) => `${x(n)},${y(value)}`).join(" ");
            svg.append(drawn("polyline", { points: path, style }));
        } else
            for (const [n, value] of points)
                svg.append(drawn("circle", { cx: x(n), cy: y(value), r: 4, style }));
    }
    legend.replaceChildren(
        ...all.map(({ name: text, colour, joined }) => {
            const mark = element("span", {
                "aria-hidden": "true",
                style: `color: var(--figure-${colour})`,
            });
            mark.textContent = joined ? "—" : "●";
            return element("li", {}, mark, text);
        }),
    );
}

/**
 * Describe the cost of a model in sentences.
 * @param {Model} chosen
 * @param {Data} data
 */
function told(chosen, data) {
    const { flops, bytes } = predicted(chosen, data.block);
    const all = flops.projections + flops.meet + flops.feedForward;
    const share = (100 * flops.meet) / all;
    return [
        "Such a model does ",
        strong(asFlops(all)),
        " operations on its way forwards, ",
        strong(`${share < 1 ? share.toPrecision(1) : share.toFixed(0)}%`),
        " of them where tokens meet. The scores of a layer take ",
        strong(asBytes(bytes.table)),
        " as a whole table, and ",
        strong(asBytes(bytes.blocks)),
        ` in blocks of ${data.block} keys. To write on, the model remembers `,
        strong(asBytes(bytes.cache)),
        " of keys and values. At the measured speed, its attention layers take ",
        strong(asSeconds((flops.projections + flops.meet) / data.speed)),
        ".",
    ];
}

/**
 * @param {Element} place
 * @param {number} number of the calculator on its page
 */
function calculator(place, number) {
    /** @type {Data} */
    const data = dataOf(place);
    const table = tableOf(place);
    const chosen = { n: 0, d: 0, heads: 0, layers: 0 };
    const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
    const legend = element("ul", { class: "play-legend" });
    const note = element(
        "p",
        { class: "play-note" },
        `Measured: one layer of ${data.d_model} features; attention has ${data.n_heads} heads.`,
    );
    const form = element("div", { class: "play-sliders" });
    const found = element("p", { class: "play-told", "aria-live": "polite" });
    /** @type {Shown} */
    let shown = "seconds";

    function update() {
        found.replaceChildren(...told(chosen, data));
        svg.setAttribute(
            "aria-label",
            `${SHOWN[shown]} against the number of tokens; the sentences and the table below say what it shows.`,
        );
        draw(svg, legend, shown, chosen, data);
    }

    for (const [name, text, values, start] of CHOICES) {
        chosen[name] = values[start];
        const id = `calculator-${number}-${name}`;
        const say = (/** @type {number} */ value) => value.toLocaleString("en");
        form.append(
            ...slider(id, text, values, start, say, (value) => {
                chosen[name] = value;
                update();
            }),
        );
    }
    const what = choice(`calculator-${number}-shown`, "Show", Object.entries(SHOWN), (value) => {
        shown = value === "bytes" ? "bytes" : "seconds";
        update();
    });
    const folded = element("details", {}, element("summary", {}, "The measured points as a table"));
    table.before(what, svg, legend, note, form, found, folded);
    folded.append(table);
    update();
}

for (const [number, place] of [...document.querySelectorAll("div.cost-calculator")].entries())
    calculator(place, number);
