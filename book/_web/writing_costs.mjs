// @ts-check
// Writing with a published model: a roofline with a dot for the chosen model, context and batch.
// The data and a table are in the page (solutions/drawing/writing.py).

import { asBytes } from "./costs.mjs";
import { choice, dataOf, drawn, element, slider, strong, tableOf } from "./parts.mjs";
import { intensity, least, step } from "./writing.mjs";

/** @typedef {import("./writing.mjs").Published} Published */
/** @typedef {import("./writing.mjs").Machine} Machine */

/**
 * @typedef {object} Data the data in the page
 * @property {number} bytes of a number
 * @property {Published[]} models
 * @property {Machine[]} machines
 * @property {[number, number][]} measured operations per byte and a second, on the last machine
 * @property {number[]} contexts
 * @property {number[]} batches
 */

/** @typedef {{ model: number, machine: number, context: number, batch: number }} Chosen */

const WIDTH = 560;
const HEIGHT = 300;
const LEFT = 64;
const RIGHT = 26;
const TOP = 14;
const BOTTOM = 44;
const [LOWEST, HIGHEST] = [0.1, 1000];

const count = (/** @type {number} */ value) => value.toLocaleString("en");

/**
 * Return a number in digits, with two of them below 100.
 * @param {number} value
 */
const short = (value) =>
    value >= 100 ? count(Math.round(value)) : String(Number(value.toPrecision(2)));

/**
 * Return a power of ten for an axis.
 * @param {number} value
 */
const power = (value) =>
    `10${Math.round(Math.log10(value))
        .toString()
        .replace(/-/, "⁻")
        .replace(/\d/g, (one) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(one)])}`;

/**
 * @param {SVGElement} svg
 * @param {Chosen} chosen
 * @param {Data} data
 */
function draw(svg, chosen, data) {
    const machine = data.machines[chosen.machine];
    const model = data.models[chosen.model];
    const roof = (/** @type {number} */ at) => Math.min(machine.peak, machine.bandwidth * at);
    const top = 10 ** Math.ceil(Math.log10(machine.peak) + 0.1);
    const bottom = 10 ** Math.floor(Math.log10(roof(LOWEST)));
    const across = (WIDTH - RIGHT - LEFT) / Math.log10(HIGHEST / LOWEST);
    const up = (HEIGHT - BOTTOM - TOP) / Math.log10(top / bottom);
    const x = (/** @type {number} */ at) => LEFT + Math.log10(at / LOWEST) * across;
    const y = (/** @type {number} */ at) => HEIGHT - BOTTOM - Math.log10(at / bottom) * up;
    svg.replaceChildren();
    for (let at = LOWEST; at < HIGHEST * 1.1; at *= 10)
        svg.append(
            drawn("line", { x1: x(at), x2: x(at), y1: TOP, y2: HEIGHT - BOTTOM, class: "grid" }),
            drawn(
                "text",
                { x: x(at), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" },
                String(Number(at.toPrecision(1))),
            ),
        );
    for (let at = bottom; at < top * 1.1; at *= 10)
        svg.append(
            drawn("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(at), y2: y(at), class: "grid" }),
            drawn("text", { x: LEFT - 6, y: y(at) + 5, "text-anchor": "end" }, power(at)),
        );
    svg.append(
        drawn(
            "text",
            { x: (LEFT + WIDTH) / 2, y: HEIGHT - 6, "text-anchor": "middle" },
            "operations per byte",
        ),
    );
    const ridge = machine.peak / machine.bandwidth;
    const corners = [LOWEST, Math.min(ridge, HIGHEST), HIGHEST];
    svg.append(
        drawn("polyline", {
            points: corners.map((at) => `${x(at)},${y(roof(at))}`).join(" "),
            style: "--line: var(--figure-1)",
        }),
    );
    if (chosen.machine === data.machines.length - 1)
        for (const [at, speed] of data.measured)
            svg.append(
                drawn("circle", {
                    cx: x(at),
                    cy: y(speed),
                    r: 3,
                    style: "--line: var(--figure-1)",
                }),
            );
    for (const batch of data.batches) {
        const at = intensity(step(model, data.contexts[chosen.context], batch, data.bytes));
        const now = batch === data.batches[chosen.batch];
        svg.append(
            drawn("circle", {
                cx: x(at),
                cy: y(roof(at)),
                r: now ? 9 : 4,
                class: now ? "dot" : "other",
                style: "--line: var(--figure-2)",
            }),
        );
    }
    const dot = svg.querySelector(".dot");
    if (dot) svg.append(dot); // above the others
}

/**
 * Describe the chosen step in sentences.
 * @param {Chosen} chosen
 * @param {Data} data
 */
function told(chosen, data) {
    const machine = data.machines[chosen.machine];
    const model = data.models[chosen.model];
    const batch = data.batches[chosen.batch];
    const cost = step(model, data.contexts[chosen.context], batch, data.bytes);
    const { seconds, byMemory } = least(cost, machine);
    const held = data.bytes * model.parameters + cost.caches;
    const many = Math.ceil(held / machine.memory);
    const fits =
        machine.memory && many > 1
            ? ` All of it needs the memory of ${count(many)} such processors; the speed is that of one.`
            : "";
    return [
        `A step reads ${asBytes(cost.weights)} of weights and `,
        strong(asBytes(cost.caches)),
        ` of cache, ${short(intensity(cost))} operations per byte. On ${machine.name} it writes at most `,
        strong(`${short(batch / seconds)} tokens a second`),
        batch > 1 ? `, ${short(1 / seconds)} for each text` : "",
        `. ${byMemory ? "Memory" : "Arithmetic"} sets the limit.${fits}`,
    ];
}

/**
 * @param {Element} place
 * @param {number} number of the figure on its page
 */
function figure(place, number) {
    /** @type {Data} */
    const data = dataOf(place);
    const table = tableOf(place);
    /** @type {Chosen} */
    const chosen = { model: 1, machine: 0, context: 3, batch: 0 };
    const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
    const note = element("p", { class: "play-note" });
    const form = element("div", { class: "play-sliders" });
    const found = element("p", { class: "play-told", "aria-live": "polite" });

    function update() {
        found.replaceChildren(...told(chosen, data));
        svg.setAttribute(
            "aria-label",
            "The most operations a second against operations per byte; the sentences below say where the dot is.",
        );
        const here = chosen.machine === data.machines.length - 1;
        note.textContent =
            "Up: operations a second. Large dot: the chosen batch; small ones: the other batches." +
            (here ? " On the way up: measured with 1 to 128 vectors at once." : "");
        draw(svg, chosen, data);
    }

    const name = `writing-${number}`;
    const models = data.models.map((one, at) => /** @type {[number, string]} */ ([at, one.name]));
    const machines = data.machines.map(
        (one, at) => /** @type {[number, string]} */ ([at, one.name]),
    );
    const asked = choice(
        `${name}-model`,
        "Model",
        models,
        (value) => {
            chosen.model = Number(value);
            update();
        },
        chosen.model,
    );
    const where = choice(`${name}-machine`, "On", machines, (value) => {
        chosen.machine = Number(value);
        update();
    });
    form.append(
        ...slider(
            `${name}-context`,
            "Tokens of each text",
            data.contexts,
            chosen.context,
            count,
            (value) => {
                chosen.context = data.contexts.indexOf(value);
                update();
            },
        ),
        ...slider(`${name}-batch`, "Texts at once", data.batches, chosen.batch, count, (value) => {
            chosen.batch = data.batches.indexOf(value);
            update();
        }),
    );
    const folded = element("details", {}, element("summary", {}, "The models as a table"));
    table.before(asked, where, svg, note, form, found, folded);
    folded.append(table);
    update();
}

for (const [number, place] of [...document.querySelectorAll("div.writing-costs")].entries())
    figure(place, number);
