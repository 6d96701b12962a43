// @ts-check
// One word's journey through attention: the reader chooses the word and changes the numbers of W_q,
// W_k and q. The tables are in the page (solutions/drawing/journey.py); this fills them again.

import { cellsOf, changeable, fill, shade } from "./numbers.mjs";
import { button, choice, dataOf, element, task, toggle } from "./parts.mjs";
import { said } from "./six_words.mjs";
import { attend, blend, twoDigits } from "./small_attention.mjs";

/** @typedef {import("./small_attention.mjs").Matrix} Matrix */
/** @typedef {"W_q" | "W_k"} Changeable */

/**
 * @typedef {object} Layer the data in the page
 * @property {string[]} tokens
 * @property {string[]} features
 * @property {Matrix} X
 * @property {Matrix} W_q
 * @property {Matrix} W_k
 * @property {Matrix} W_v
 * @property {number} looks
 */

const LARGEST = 2; // number of a matrix
const LARGEST_OF_QUERY = 4; // the sum of two rows
const ENOUGH = 0.4;
const SAT = "sat";
const CAT = "cat";
/** The words that are to keep their weights: the articles and "on", which share a feature. */
const STAY = ["the", "on"];

/** Texts of a cell of W_q and W_k, for screen readers. @type {Record<Changeable, string>} */
const MEANS = { W_q: "looks for", W_k: "is found by" };

/**
 * Return the number after a key or a click: 0, 1, ... up to the largest, and 0 again.
 * @param {number} value
 * @param {number} by 1 or -1
 * @param {number} largest
 */
export const cycled = (value, by, largest) => (value + by + largest + 1) % (largest + 1);

/**
 * Return the weights of all words.
 * @param {Layer} layer
 * @param {{ scaled: boolean, causal: boolean }} [how] of the task, if nothing else is said
 */
export function weightsOf({ X, W_q, W_k, W_v }, how = { scaled: true, causal: false }) {
    const [Q, K, V] = [W_q, W_k, W_v].map((W) => blend(X, W));
    return Q.map((q, i) => attend(q, K, V, limits(K, i, how)).weights);
}

/**
 * Return what a word's scores are divided by, and the last key that it may see.
 * @param {Matrix} K
 * @param {number} looks
 * @param {{ scaled: boolean, causal: boolean }} how
 */
const limits = (K, looks, { scaled, causal }) => ({
    divisor: scaled ? Math.sqrt(K[0].length) : 1,
    last: causal ? looks : K.length - 1,
});

/**
 * Judge the task: "sat" finds "cat", and the words of `STAY` keep their weights.
 * @param {string[]} tokens
 * @param {Matrix} before the weights at the start
 * @param {Matrix} weights
 */
export function judged(tokens, before, weights) {
    const row = weights[tokens.indexOf(SAT)];
    const share = row[tokens.indexOf(CAT)];
    const first = row.filter((weight) => weight > share - 1e-9).length === 1;
    const changed = weights.map((now, i) =>
        now.some((weight, j) => Math.abs(weight - before[i][j]) > 1e-9),
    );
    const words = tokens.filter((_, i) => changed[i]);
    return {
        share,
        found: first && share > ENOUGH,
        first,
        changed,
        kept: !words.some((word) => STAY.includes(word)),
        words: [...new Set(words)],
    };
}

/**
 * Describe how far the task is solved.
 * @param {ReturnType<typeof judged>} result
 */
export function progress({ share, found, first, kept, words }) {
    const rival = first ? "" : ", and another word as much or more";
    const moved = words.length ? `${listed(words)} have moved` : "nothing has moved";
    const verb = found && kept ? "Solved" : "The task";
    return `${verb}: “${SAT}” gives “${CAT}” ${twoDigits(share)}${rival}; ${moved}.`;
}

/** Join words as a list, in quotes. @param {string[]} words */
function listed(words) {
    const quoted = words.map((word) => `“${word}”`);
    return quoted.length > 1 ? `${quoted.slice(0, -1).join(", ")} and ${quoted.at(-1)}` : quoted[0];
}

/** @param {number[]} values */
const vector = (values) => values.join(" ");

/**
 * @param {HTMLElement} figure
 * @param {number} number of the figure on its page
 */
function bring(figure, number) {
    /** @type {Layer} */
    const start = dataOf(figure);
    const { tokens, features, X } = start;
    const d = features.length;
    const before = weightsOf(start);
    let layer = start;
    let looks = start.looks;
    let scaled = true;
    let causal = false;
    /** A query in place of the word's own. @type {number[] | null} */
    let own = null;

    const matrixCells = cellsOf(figure, "matrices");
    const matrixRows = matrixCells.map((row) => /** @type {Element} */ (row[0].parentElement));
    const footRow = /** @type {HTMLElement} */ (figure.querySelector(".matrices tfoot tr"));
    const foot = [...footRow.querySelectorAll("td")];
    const steps = cellsOf(figure, "steps");
    const stepsOutput = /** @type {Element} */ (figure.querySelector(".steps tfoot td"));
    const stepsCaption = /** @type {Element} */ (figure.querySelector(".steps caption"));
    const divisorHead = figure.querySelectorAll(".steps thead th")[2];
    const weightCells = cellsOf(figure, "weights");
    const weightRows = weightCells.map((row) => /** @type {Element} */ (row[0].parentElement));
    const changes = weightRows.map((row) => row.appendChild(element("td", { class: "moved" })));
    figure.querySelector(".weights thead tr")?.append(element("td"));

    /** @param {Changeable} name @param {number} row @param {number} column @param {number} by */
    function change(name, row, column, by) {
        const matrix = layer[name].map((values) => [...values]);
        matrix[row][column] = cycled(matrix[row][column], by, LARGEST);
        layer = { ...layer, [name]: matrix };
        if (name === "W_q") own = null;
        update();
    }
    const queryOf = () => own ?? blend([X[looks]], layer.W_q)[0];
    const buttons = {
        W_q: changeable(
            matrixCells.map((row) => row.slice(0, d)),
            (row, column, by) => change("W_q", row, column, by),
        ),
        W_k: changeable(
            matrixCells.map((row) => row.slice(d, 2 * d)),
            (row, column, by) => change("W_k", row, column, by),
        ),
    };
    const query = changeable([foot.slice(0, d)], (_, column, by) => {
        own = queryOf().map((value, at) =>
            at === column ? cycled(value, by, LARGEST_OF_QUERY) : value,
        );
        update();
    })[0];

    const find = task(
        "By the matrices, with the division and without a mask, make ",
        `“${SAT}” look most at “${CAT}”, with a weight above ${ENOUGH} …`,
    );
    const keep = task("… while the two “the” and “on” keep their weights.");
    const status = element("div", { class: "play-told", role: "status" });
    /** @type {[number, string][]} */
    const words = tokens.map((token, at) => [at, token]);
    const choose = () =>
        choice(
            `journey-${number}-word`,
            "The word that looks",
            words,
            (at) => {
                looks = Number(at);
                own = null;
                update();
            },
            start.looks,
        );
    const scale = toggle("Divide the scores", true, (on) => {
        scaled = on;
        update();
    });
    const mask = toggle("Causal mask", false, (on) => {
        causal = on;
        update();
    });
    let chooser = choose();
    const restart = button("Start again", () => {
        layer = start;
        looks = start.looks;
        own = null;
        const fresh = choose();
        chooser.replaceWith(fresh);
        chooser = fresh;
        for (const [label, on] of /** @type {const} */ ([
            [scale, !scaled],
            [mask, causal],
        ]))
            if (on) label.querySelector("input")?.click();
        update();
    });

    /** Show the matrices, and the query, key and value of the word. @param {number[]} q */
    function showMatrices(q) {
        for (const name of /** @type {Changeable[]} */ (["W_q", "W_k"]))
            for (const [i, row] of buttons[name].entries())
                for (const [j, cell] of row.entries()) {
                    const value = layer[name][i][j];
                    cell.textContent = String(value);
                    cell.classList.toggle("zero", value === 0);
                    cell.classList.toggle("changed", value !== start[name][i][j]);
                    cell.setAttribute(
                        "aria-label",
                        `${name}: ${features[i]} ${MEANS[name]} ${features[j]}, ${value}`,
                    );
                }
        for (const [i, row] of matrixRows.entries()) row.classList.toggle("has", X[looks][i] > 0);
        const word = tokens[looks];
        const name = footRow.querySelector("th");
        if (name) name.textContent = word;
        for (const [at, cell] of query.entries()) {
            cell.textContent = String(q[at]);
            cell.classList.toggle("zero", q[at] === 0);
            cell.classList.toggle("changed", own !== null);
            cell.setAttribute("aria-label", `Query of ${word}: ${features[at]}, ${q[at]}`);
        }
        const rest = [layer.W_k, layer.W_v].flatMap((W) => blend([X[looks]], W)[0]);
        for (const [at, value] of rest.entries()) {
            foot[d + at].textContent = String(value);
            foot[d + at].classList.toggle("zero", value === 0);
        }
    }

    /** Show the way from the keys to the output. @param {number[]} q */
    function showSteps(q) {
        const [K, V] = [layer.W_k, layer.W_v].map((W) => blend(X, W));
        const { divisor, last } = limits(K, looks, { scaled, causal });
        const way = attend(q, K, V, { divisor, last });
        stepsCaption.textContent = `The way of “${tokens[looks]}”`;
        divisorHead.textContent = `÷ ${divisor}`;
        for (const [j, [key, score, divided, weight, value, part]] of steps.entries()) {
            key.textContent = vector(K[j]);
            score.textContent = String(way.scores[j]);
            divided.textContent = j > last ? "masked" : twoDigits(way.divided[j]);
            weight.textContent = twoDigits(way.weights[j]);
            value.textContent = vector(V[j]);
            part.textContent = V[j].map((one) => twoDigits(one * way.weights[j])).join(" ");
            key.parentElement?.classList.toggle("masked", j > last);
        }
        shade(
            steps.map((row) => [row[3]]),
            way.weights.map((weight) => [weight]),
        );
        stepsOutput.textContent = way.output.map(twoDigits).join(" ");
        return way.weights;
    }

    /** Show the weights of all words. */
    function showRows() {
        const weights = weightsOf(layer, { scaled, causal });
        fill(weightCells, weights);
        shade(weightCells, weights);
        for (const [i, row] of weightRows.entries()) row.classList.toggle("looks", i === looks);
    }

    /** Mark the two halves of the task, and return how far the reader is. */
    function judge() {
        const result = judged(tokens, before, weightsOf(layer));
        find.mark(result.found);
        keep.mark(result.kept);
        for (const [i, cell] of changes.entries())
            cell.textContent = result.changed[i] ? "moved" : "";
        return progress(result);
    }

    function update() {
        const q = queryOf();
        showMatrices(q);
        const weights = showSteps(q);
        showRows();
        const usual = blend([X[looks]], layer.W_q)[0].join(", ");
        const note = own ? ` This query is your own; W_q gives (${usual}).` : "";
        status.replaceChildren(
            element("p", {}, said(tokens, looks, weights) + note),
            element("p", {}, judge()),
        );
    }

    const tasks = element("ul", { class: "play-tasks" }, find.node, keep.node);
    const actions = element("div", { class: "play-actions" }, scale, mask, restart);
    figure.prepend(tasks, chooser);
    figure
        .querySelector(".matrices")
        ?.after(element("div", { class: "journey-side" }, actions, status));
    update();
}

if (typeof document !== "undefined")
    for (const [number, figure] of [...document.querySelectorAll("div.journey")].entries())
        if (figure instanceof HTMLElement) bring(figure, number);
