// @ts-check
// The score of rotary heads by distance, which the reader stretches. The picture and the tables are
// in the page (solutions/drawing/distance_curves.py); this adds the controls and fills them again.

import {
    described,
    explained,
    grouped,
    home,
    judged,
    METHODS,
    measured,
    oneDigit,
    pairsCaption,
    STRETCHED,
    verdict,
} from "./distances.mjs";
import { drawing } from "./distances_drawing.mjs";
import { choice, dataOf, element, slider, task } from "./parts.mjs";
import { twoDigits } from "./small_attention.mjs";

const LISTED = 5;
const LONGEST = 16;
/** From 100 to 1,000,000, ten steps for each factor of ten. */
const BASES = Array.from({ length: 41 }, (_, at) => 10 ** (2 + at / 10));

/** @param {HTMLElement} figure @param {number} number of the figure on its page */
function bring(figure, number) {
    /** @type {import("./distances.mjs").Heads} */
    const data = dataOf(figure);
    const { heads, base, trained_length: reach } = data;
    const svg = /** @type {SVGElement} */ (figure.querySelector("svg"));
    const draw = drawing(svg);
    const peaks = /** @type {Element} */ (figure.querySelector(".peaks tbody"));
    const pairs = /** @type {Element} */ (figure.querySelector(".pairs tbody"));
    const caption = /** @type {Element} */ (figure.querySelector(".pairs caption"));
    const asked = Array.from({ length: reach }, (_, at) => at + 1);
    const lengths = Array.from({ length: 4 * (LONGEST - 1) + 1 }, (_, at) => reach * (1 + at / 4));
    const state = {
        head: 0,
        asked: home(data, 0),
        base,
        length: STRETCHED * reach,
        method: METHODS[0],
    };

    const farther = task(
        `Method none, length ${STRETCHED * reach}: find a base at which the first false peak is farther away, and the head still has a peak at the distance asked for.`,
    );
    const single = task(
        `Length ${STRETCHED * reach}: find a method or a base that leaves a single peak. Is it where you asked?`,
    );
    const status = element("p", { class: "play-told", role: "status" });
    const about = element("p", { class: "play-told" });

    /** @param {Partial<typeof state>} changes */
    function change(changes) {
        Object.assign(state, changes);
        update();
    }
    const id = (/** @type {string} */ name) => `distances-${number}-${name}`;
    const whichHead = choice(
        id("head"),
        "Head",
        heads.map(({ name }, at) => [at, name]),
        (value) => change({ head: Number(value) }),
    );
    const method = choice(
        id("method"),
        "Method",
        METHODS.map((name) => [name, name]),
        (value) => change({ method: value }),
    );
    const [askedLabel, askedInput] = slider(
        id("asked"),
        "Distance asked for",
        asked,
        asked.indexOf(state.asked),
        String,
        (value) => change({ asked: value }),
    );
    const [baseLabel, baseInput] = slider(
        id("base"),
        "Base",
        BASES,
        BASES.findIndex((value) => value > 0.99 * base),
        grouped,
        (value) => change({ base: value }),
    );
    const [lengthLabel, lengthInput] = slider(
        id("length"),
        "Length",
        lengths,
        lengths.indexOf(state.length),
        String,
        (value) => change({ length: value }),
    );

    /** @param {string} heading @param {string[]} cells @param {boolean} looks */
    const row = (heading, cells, looks = false) =>
        element(
            "tr",
            looks ? { class: "looks" } : {},
            element("th", { scope: "row" }, heading),
            ...cells.map((cell) => element("td", {}, cell)),
        );

    function update() {
        const result = measured(data, state);
        const { scores, weights, wrong, turning, turns, adds, head } = result;
        draw(result, state.asked, reach);
        peaks.replaceChildren(
            ...[state.asked, ...wrong.slice(0, LISTED)].map((d, at) =>
                row(String(d), [oneDigit(scores[d]), twoDigits(weights[d])], at === 0),
            ),
        );
        pairs.replaceChildren(
            ...turning.map((speed, pair) =>
                row(String(pair), [
                    grouped((2 * Math.PI) / speed),
                    twoDigits(turns[pair]),
                    oneDigit(adds[pair]),
                    oneDigit(head.amplitudes[pair]),
                ]),
            ),
        );
        caption.textContent = pairsCaption(state, result);
        const tasks = judged(data, state, result);
        farther.mark(tasks.farther);
        single.mark(tasks.single);
        about.textContent = explained(data, state);
        const text = described(state, result);
        status.textContent = `${text} ${verdict(state, result, tasks)}`.trim();
        const name = `Score and weight of ${head.name} by distance, from 0 to ${state.length}.`;
        svg.setAttribute("aria-label", `${name} ${text}`);
    }

    const form = element(
        "div",
        { class: "play-sliders" },
        ...[askedLabel, askedInput, lengthLabel, lengthInput, baseLabel, baseInput],
    );
    figure.prepend(
        element("ul", { class: "play-tasks" }, farther.node, single.node),
        ...(heads.length > 1 ? [whichHead] : []),
        method,
        form,
    );
    figure.querySelector(".distances-picture")?.append(about, status);
    update();
}

if (typeof document !== "undefined")
    for (const [number, figure] of [...document.querySelectorAll("div.distances")].entries())
        if (figure instanceof HTMLElement) bring(figure, number);
