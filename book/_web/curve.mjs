// @ts-check
// A curve that the reader draws with a pointer, a finger or the arrow keys, and the measured curve
// over it. The axes and the points are in the page, in `.predict-points` (course_predict.py).

import { drawn } from "./parts.mjs";

const HEIGHT = 280;
const EDGE = { left: 58, right: 18, top: 32, bottom: 46 };
const STEPS = 20; // presses of an arrow key from the bottom to the top
const KEYS = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 5, PageDown: -5 };
const LETTER = 7.5; // the approximate width of a letter of the labels

/**
 * @typedef {object} Axes
 * @property {string} label of the vertical axis
 * @property {string} against label of the horizontal axis
 * @property {string[]} places the points on the horizontal axis
 * @property {(share: number) => number} value maps a share of the height to a value
 * @property {(value: number) => number} share maps a value to a share of the height
 * @property {number[]} ticks
 * @property {(number | null)[]} measured
 */

/**
 * Return a number as text without an exponent, which assistive technology needs.
 * @param {number} value
 */
export const plain = (value) => value.toFixed(12).replace(/\.?0+$/, "");

/** @param {number} value */
export function shown(value) {
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size < 0.001 || size >= 1e6) return value.toExponential(0).replace("+", "");
    return String(Number(value.toPrecision(2)));
}

/**
 * Return the functions that convert between values and shares of the height.
 * @param {number} low @param {number} high @param {boolean} log
 */
export function scale(low, high, log) {
    const [to, back] = log ? [Math.log, Math.exp] : [Number, Number];
    const [bottom, top] = [to(low), to(high)];
    const clamp = (/** @type {number} */ share) => Math.min(1, Math.max(0, share));
    return {
        value: (/** @type {number} */ share) => back(bottom + clamp(share) * (top - bottom)),
        share: (/** @type {number} */ value) => clamp((to(value) - bottom) / (top - bottom)),
    };
}

/**
 * @param {HTMLElement} list
 * @returns {Axes}
 */
function read(list) {
    const { label = "", against = "", low, high, log } = list.dataset;
    const ways = scale(Number(low), Number(high), log === "1");
    const items = [...list.querySelectorAll("li")];
    const quarters = [0, 0.25, 0.5, 0.75, 1];
    return {
        label,
        against,
        places: items.map((item) => item.dataset.at ?? ""),
        ...ways,
        ticks: quarters.map(ways.value),
        measured: items.map((item) => (item.textContent ? Number(item.textContent) : null)),
    };
}

/**
 * Return the points of a line through the values that are not null.
 * @param {(number | null)[]} values @param {(at: number, value: number) => string} point
 */
const line = (values, point) =>
    values.flatMap((value, at) => (value === null ? [] : [point(at, value)])).join(" ");

/**
 * Return the field of a prediction that is a curve: see `Field` in predict.mjs.
 * @param {HTMLElement} box
 */
export function curve(box) {
    const place = /** @type {HTMLElement} */ (box.querySelector(".predict-chart"));
    const axes = read(/** @type {HTMLElement} */ (box.querySelector(".predict-points")));
    const { places } = axes;
    /** @type {(number | null)[]} */
    let guess = places.map(() => null);
    let locked = false;
    let width = 0;

    const svg = drawn("svg", { role: "group", height: HEIGHT });
    place.replaceChildren(svg);
    const right = () => width - EDGE.right;
    const x = (/** @type {number} */ at) =>
        EDGE.left + ((right() - EDGE.left) * at) / (places.length - 1);
    const bottom = HEIGHT - EDGE.bottom;
    const y = (/** @type {number} */ value) => bottom - axes.share(value) * (bottom - EDGE.top);
    const point = (/** @type {number} */ at, /** @type {number} */ value) => `${x(at)},${y(value)}`;

    const handles = places.map((name, at) => {
        const handle = drawn("g", { class: "handle", role: "slider", "aria-label": "" });
        handle.setAttribute("aria-label", `${axes.label}, at ${name} ${axes.against}`);
        handle.setAttribute("aria-orientation", "vertical");
        handle.append(drawn("circle", { r: 13, class: "reach" }), drawn("circle", { r: 5 }));
        handle.addEventListener("keydown", (event) => byKey(/** @type {any} */ (event), at));
        return handle;
    });

    /** Draw the parts that do not move: the axes and the measured curve. */
    function drawAxes() {
        width = place.clientWidth;
        svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
        svg.setAttribute("width", String(width));
        const longest = Math.max(...places.map((name) => name.length));
        const room = (right() - EDGE.left) / (places.length - 1);
        const every = Math.ceil(((longest + 1) * LETTER) / room);
        const middle = (right() + EDGE.left) / 2;
        svg.replaceChildren(
            ...axes.ticks.flatMap((value) => [
                drawn("line", {
                    class: "grid",
                    x1: EDGE.left,
                    x2: right(),
                    y1: y(value),
                    y2: y(value),
                }),
                drawn(
                    "text",
                    { x: EDGE.left - 8, y: y(value) + 4, "text-anchor": "end" },
                    shown(value),
                ),
            ]),
            ...places.flatMap((name, at) =>
                at % every
                    ? []
                    : [drawn("text", { x: x(at), y: bottom + 20, "text-anchor": "middle" }, name)],
            ),
            drawn("text", { x: middle, y: HEIGHT - 6, "text-anchor": "middle" }, axes.against),
            drawn("text", { x: 0, y: 14 }, axes.label),
            drawn(
                "text",
                { class: "hint", x: middle, y: EDGE.top + 28, "text-anchor": "middle" },
                "",
            ),
            drawn("polyline", { class: "measured" }),
            drawn("polyline", { class: "guess" }),
            ...handles,
        );
        draw();
    }

    /** Draw the parts that the reader moves. */
    function draw() {
        const [measured, drawnOne] = svg.querySelectorAll("polyline");
        const known = axes.measured.some((one) => one !== null);
        measured.setAttribute("points", locked ? line(axes.measured, point) : "");
        drawnOne.setAttribute("points", line(guess, point));
        const hint = svg.querySelector(".hint");
        const empty = guess.every((one) => one === null);
        if (hint) hint.textContent = empty && !locked ? "Draw here" : "";
        svg.setAttribute("aria-label", description(known));
        for (const [at, handle] of handles.entries()) {
            const value = guess[at];
            const height = y(value ?? axes.value(0.5));
            handle.setAttribute("transform", `translate(${x(at)} ${height})`);
            handle.classList.toggle("unset", value === null);
            handle.setAttribute("aria-valuemin", plain(axes.value(0)));
            handle.setAttribute("aria-valuemax", plain(axes.value(1)));
            handle.setAttribute("aria-valuenow", plain(value ?? axes.value(0.5)));
            handle.setAttribute("aria-valuetext", value === null ? "not yet" : shown(value));
            handle.setAttribute("aria-disabled", String(locked));
            handle.setAttribute("tabindex", locked ? "-1" : "0");
        }
    }

    /** @param {(number | null)[]} values */
    const inWords = (values) =>
        values
            .flatMap((one, at) => (one === null ? [] : [`${shown(one)} at ${places[at]}`]))
            .join(", ");

    /** @param {boolean} known */
    function description(known) {
        const what = `${axes.label} against ${axes.against}.`;
        const yours = guess.some((one) => one !== null) ? ` Your curve: ${inWords(guess)}.` : "";
        return what + yours + (locked && known ? ` Measured: ${inWords(axes.measured)}.` : "");
    }

    /** @param {KeyboardEvent} event @param {number} at */
    function byKey(event, at) {
        const step = KEYS[/** @type {keyof typeof KEYS} */ (event.key)];
        if (locked || !step) return;
        event.preventDefault();
        const now = guess[at];
        guess[at] = axes.value(now === null ? 0.5 : axes.share(now) + step / STEPS);
        draw();
    }

    /** @type {{ at: number, share: number } | null} */
    let last = null;

    /** Set each point that the pointer has passed to its height. @param {PointerEvent} event */
    function follow(event) {
        const frame = svg.getBoundingClientRect();
        const across = (event.clientX - frame.left - EDGE.left) / (right() - EDGE.left);
        const at = Math.min(1, Math.max(0, across)) * (places.length - 1);
        const share = (bottom - (event.clientY - frame.top)) / (bottom - EDGE.top);
        const from = last ?? { at: Math.round(at), share };
        const [low, high] = [Math.min(from.at, at), Math.max(from.at, at)];
        for (let one = Math.ceil(low); one <= high; one++) {
            const way = at === from.at ? 1 : (one - from.at) / (at - from.at);
            guess[one] = axes.value(from.share + way * (share - from.share));
        }
        if (!last) guess[from.at] = axes.value(share);
        last = { at, share };
        draw();
    }

    svg.addEventListener("pointerdown", (event) => {
        if (locked) return;
        event.preventDefault();
        svg.setPointerCapture(event.pointerId);
        last = null;
        follow(event);
    });
    svg.addEventListener("pointermove", (event) => {
        if (last && !locked && svg.hasPointerCapture(event.pointerId)) follow(event);
    });

    new ResizeObserver(() => {
        if (place.clientWidth !== width) drawAxes();
    }).observe(place);
    drawAxes();

    return {
        read: () => (guess.some((one) => one !== null) ? guess : null),
        /** @param {(number | null)[] | null} values */
        write(values) {
            guess = places.map((_, at) => values?.[at] ?? null);
            draw();
        },
        /** @param {boolean} wanted */
        lock(wanted) {
            locked = wanted;
            place.classList.toggle("locked", locked);
            draw();
        },
        said: () =>
            axes.measured.some((one) => one !== null)
                ? "Dashed is your curve; the line is what was measured."
                : "Compare your curve with what follows.",
        focus: () => handles[0].focus(),
    };
}
