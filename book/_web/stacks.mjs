// @ts-check
// Stacks of blocks, what was measured on them, and the reader's tasks, for stack_switches.mjs. The
// drawing has the measures of solutions/drawing/stack_switches.py.

import { twoDigits } from "./small_attention.mjs";

/** @typedef {{ size: number[], gradient: number[], unlike: number[], right: number[] }} Measured */
/** @typedef {{ residual: boolean, norm: string, smaller: boolean }} Switches */
/** @typedef {Switches & Record<string, any>} Stack the switches, and depth -> Measured */
/** @typedef {{ depths: number[], rates: number[], stacks: Stack[] }} Stacks the data in the page */

const LEFT = 44;
const TOP = 8;
const WIDTH = 300;
const HEIGHT = 110;

/** A guess among ten letters is right so often. */
const GUESS = 0.1;
/** The accuracies that count as learned, and as not learned. */
const LEARNT = 0.95;
const NOTHING = 0.3;
/** A stream or gradient that changes by no more than this factor has kept its size. */
const SAME = 10;

/**
 * Return the points of a line, on a logarithmic axis; what is outside lies on the edge.
 * @param {number[]} values
 * @param {number} low the exponent of ten at the lower edge
 * @param {number} high
 */
export function pointsOf(values, low, high) {
    const step = WIDTH / (values.length - 1);
    return values
        .map((value, at) => {
            const exponent = Math.min(Math.max(Math.log10(value), low), high);
            const y = TOP + (HEIGHT * (high - exponent)) / (high - low);
            return `${(LEFT + at * step).toFixed(1)},${y.toFixed(1)}`;
        })
        .join(" ");
}

/**
 * Return the stack with these switches. Without the residual, first weights are always usual.
 * @param {Stack[]} stacks
 * @param {Switches} switches
 */
export function stackOf(stacks, { residual, norm, smaller }) {
    const found = stacks.find(
        (stack) =>
            stack.residual === residual &&
            stack.norm === norm &&
            stack.smaller === (smaller && residual),
    );
    if (found === undefined) throw new Error("the figure's data lack a stack");
    return found;
}

/** @param {number[]} values */
const growth = (values) => (values.at(-1) ?? 0) / values[0];

/** Whether the end is about as large as the beginning. @param {number[]} values */
const kept = (values) => growth(values) <= SAME && growth(values) >= 1 / SAME;

/**
 * Judge a stack in the two tasks, which are about the greatest depth.
 * @param {Switches} switches
 * @param {Measured} measured
 * @param {boolean} deepest
 */
export function judged({ norm }, { size, gradient, right }, deepest) {
    const best = Math.max(...right);
    return {
        best,
        withoutNorm: deepest && norm === "none" && best >= LEARNT,
        healthyInVain: deepest && best < NOTHING && kept(size) && kept(gradient),
    };
}

/**
 * Describe what happens on the way through the stack, and what it learns.
 * @param {Measured} measured
 * @param {number} depth
 */
export function described({ size, gradient, unlike, right }, depth) {
    const best = Math.max(...right);
    const learns =
        best >= LEARNT
            ? "It learns the task"
            : best < NOTHING
              ? "It learns next to nothing"
              : "It learns a part of the task";
    return (
        `Through ${depth} blocks the stream goes from ${short(size[0])} to ${short(size.at(-1))}, and ` +
        `the gradient, on its way back, from ${short(gradient.at(-1))} to ${short(gradient[0])}. At the ` +
        `end the tokens differ by ${short(unlike.at(-1))}. ${learns}: ${twoDigits(best)} at the ` +
        `best rate, where a guess has ${twoDigits(GUESS)}.`
    );
}

/**
 * Return a number of any size with two digits.
 * @param {number | undefined} value
 */
export function short(value = 0) {
    if (value >= 0.01 && value < 1000) return String(Number(value.toPrecision(2)));
    const [digits, exponent] = value.toExponential(1).split("e");
    const raised = [...exponent.replace("+", "")].map(
        (sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)],
    );
    return `${digits}\u00a0·\u00a010${raised.join("")}`;
}
