// @ts-check
// The attention maps of every head on a sequence, and below them the row of the last place, which
// answers the question.

import { moved } from "../cells.mjs";
import { TASKS } from "../learning/tasks.mjs";
import { element } from "../parts.mjs";

/**
 * @typedef {import("./words.mjs").Settings} Settings
 * @typedef {import("../learning/run.mjs").Weights} Weights
 * @typedef {Pick<import("../learning/run.mjs").Look, "maps">} Seen
 * @typedef {{ node: HTMLElement, begin: (tokens: string[]) => void, show: (look: Seen, tokens: string[]) => void, tell: () => void }} Maps
 */

/** @type {Record<string, string>} */
const NONE = {
    mean: "The mean has no map: every place has the same weight.",
    gru: "A GRU has no map: it hands its state from place to place.",
    convolution:
        "A convolution has no map: each place reads those in its window, with weights that do not depend on what stands there.",
};

/** Return how to read the maps, or an empty text if there are none. @param {Settings[]} machines */
export function howToRead(machines) {
    if (machines.every(({ body }) => NONE[body])) return "";
    const asked = TASKS[machines[0].task].everywhere
        ? ""
        : ", and the last row is the one that answers";
    return `In a map, each row is a place of the sequence${asked}. The stronger the colour, the more that place takes from the place of the column.`;
}

/**
 * The maps of one machine.
 * @param {number} at the index of the machine, 0 or 1
 * @param {Settings} settings
 * @param {(sentence: string) => void} said receives a description of the weight that the reader
 * points at
 * @returns {Maps}
 */
export function maps(at, { body, layers, heads }, said) {
    const node = element("div", { class: "pg-maps" });
    if (NONE[body]) {
        node.append(element("p", { class: "pg-quiet" }, NONE[body]));
        return { node, begin: () => {}, show: () => {}, tell: () => {} };
    }
    /** @type {Seen | undefined} */
    let now;
    /** @type {string[]} */
    let tokens = [];
    /** @type {{ canvas: HTMLCanvasElement, block: number, head: number }[]} */
    let drawnOn = [];
    const strip = element("table", { class: `pg-strip pg-${at + 1}` });
    const all = element("div", { class: "pg-heads" });
    const wide = element("div", { class: "table-scroll" }, strip);
    node.append(all, wide);

    function build(/** @type {Seen} */ look) {
        drawnOn = look.maps.flatMap(({ heads, queries, keys }, block) =>
            Array.from({ length: heads }, (_, head) => {
                const canvas = element("canvas", {
                    width: keys,
                    height: queries,
                    role: "img",
                    tabindex: 0,
                });
                point(canvas, block, head);
                return { canvas, block, head };
            }),
        );
        const many = look.maps.length > 1;
        all.replaceChildren(
            ...drawnOn.map(({ canvas, block, head }) => {
                const heads = look.maps[block].heads;
                const name = [many && `block ${block + 1}`, heads > 1 && `head ${head + 1}`];
                const caption = name.filter(Boolean).join(", ");
                return element("figure", {}, canvas, element("figcaption", {}, caption));
            }),
        );
    }

    /** @param {number} block @param {number} head @param {number} row @param {number} column */
    function sentence(block, head, row, column) {
        if (!now) return "";
        const { heads, keys, queries, weights } = now.maps[block];
        const weight = weights[(head * queries + row) * keys + column];
        if (Number.isNaN(weight)) return "No machine has been trained yet.";
        const which = [
            now.maps.length > 1 && `block ${block + 1}`,
            heads > 1 && `head ${head + 1}`,
        ];
        const where = [...which.filter(Boolean), `place ${row + 1}`].join(", ");
        return `${where[0].toUpperCase()}${where.slice(1)} (${tokens[row]}) looks at place ${column + 1} (${tokens[column]}) with a weight of ${weight.toFixed(2)}.`;
    }

    /** @param {HTMLCanvasElement} canvas @param {number} block @param {number} head */
    function point(canvas, block, head) {
        let [row, column] = [canvas.height - 1, 0];
        const tell = () => said(sentence(block, head, row, column));
        canvas.addEventListener("pointermove", (event) => {
            const frame = canvas.getBoundingClientRect();
            const place = (/** @type {number} */ share, /** @type {number} */ count) =>
                Math.min(count - 1, Math.max(0, Math.floor(share * count)));
            row = place((event.clientY - frame.top) / frame.height, canvas.height);
            column = place((event.clientX - frame.left) / frame.width, canvas.width);
            tell();
        });
        canvas.addEventListener("focus", tell);
        canvas.addEventListener("keydown", (event) => {
            const to = moved(event.key, row, column, canvas.width - 1);
            if (!to) return;
            event.preventDefault();
            [row, column] = to;
            tell();
        });
    }

    /** @param {HTMLCanvasElement} canvas @param {Weights} weights @param {number} head @param {number[]} colour */
    function paint(canvas, { queries, keys, weights }, head, [red, green, blue]) {
        const image = new ImageData(keys, queries);
        for (let cell = 0; cell < queries * keys; cell++)
            image.data.set(
                [red, green, blue, 255 * weights[head * queries * keys + cell]],
                4 * cell,
            );
        canvas.getContext("2d")?.putImageData(image, 0, 0);
    }

    /** The row of the last place in every head, as a table with a column for each token. */
    function row() {
        if (!now) return;
        const last = tokens.length - 1;
        const head = element(
            "tr",
            {},
            element("td"),
            ...tokens.map((one) => element("th", { scope: "col" }, one)),
        );
        const rows = drawnOn.map(({ block, head: number }) => {
            const { queries, keys, weights } = /** @type {Seen} */ (now).maps[block];
            const from = (number * queries + queries - 1) * keys;
            const cells = Array.from(weights.subarray(from, from + keys), (weight) =>
                element(
                    "td",
                    { style: `--weight: ${weight.toFixed(3)}` },
                    Number.isNaN(weight) ? "" : weight.toFixed(2).replace(/^0/, ""),
                ),
            );
            const name = element(
                "th",
                { scope: "row" },
                drawnOn.length > 1 ? `${block + 1}.${number + 1}` : "weight",
            );
            return element("tr", {}, name, ...cells);
        });
        strip.replaceChildren(
            element(
                "caption",
                {},
                `What place ${last + 1}, ${tokens[last]}, looks at${drawnOn.length > 1 ? "; block and head at the left" : ""}`,
            ),
            element("thead", {}, head),
            element("tbody", {}, ...rows),
        );
    }

    return {
        node,
        /** Draw empty maps in their final size. */
        begin(tokens) {
            const [queries, keys] = [tokens.length, tokens.length];
            const weights = new Float32Array(heads * queries * keys).fill(NaN);
            const all = Array.from({ length: layers }, () => ({ heads, queries, keys, weights }));
            if (queries) this.show({ maps: all }, tokens);
            for (const { canvas } of drawnOn)
                canvas.setAttribute("aria-label", "No machine has been trained yet.");
        },
        show(look, names) {
            const same = now && names.length === tokens.length;
            [now, tokens] = [look, names];
            if (!same) build(look);
            const colour = rgb(node, `--figure-${at + 1}`);
            for (const { canvas, block, head } of drawnOn)
                paint(canvas, look.maps[block], head, colour);
            row();
        },
        /** Describe the maps of a machine that has stopped, and scroll to the largest weight. */
        tell() {
            for (const { canvas, block, head } of drawnOn) {
                const { queries, keys, weights } = /** @type {Seen} */ (now).maps[block];
                const from = (head * queries + queries - 1) * keys;
                const last = weights.subarray(from, from + keys);
                const most = last.indexOf(Math.max(...last));
                if (canvas === drawnOn[0].canvas)
                    wide.scrollLeft =
                        strip.rows[0].cells[most + 1].offsetLeft - wide.clientWidth / 2;
                canvas.setAttribute(
                    "aria-label",
                    `${sentence(block, head, queries - 1, most)} That is its largest weight. The arrow keys go to others.`,
                );
            }
        },
    };
}

/**
 * Return a colour of the page, as red, green and blue.
 * @param {HTMLElement} node
 * @param {string} name
 */
function rgb(node, name) {
    const probe = element("span", { style: `color: var(${name})` });
    node.append(probe);
    const colour = getComputedStyle(probe).color.match(/[\d.]+/g) ?? [];
    probe.remove();
    return colour.slice(0, 3).map(Number);
}
