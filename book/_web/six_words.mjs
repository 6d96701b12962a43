// @ts-check
// Six words that look at each other: the reader chooses the word that looks, and the sharpness. The
// arcs are in the page (solutions/drawing/six_words.py); this script sets their weights.

/**
 * Return the weights of a row of scores.
 * @param {number[]} scores
 * @param {number} sharpness the factor of the scores
 * @returns {number[]}
 */
export function weightsOf(scores, sharpness) {
    const largest = Math.max(...scores);
    const raised = scores.map((one) => Math.exp(sharpness * (one - largest)));
    const sum = raised.reduce((total, one) => total + one, 0);
    return raised.map((one) => one / sum);
}

/**
 * Describe a row of weights for screen readers.
 * @param {string[]} words
 * @param {number} looks
 * @param {number[]} weights
 */
export function said(words, looks, weights) {
    const largest = Math.max(...weights);
    if (Math.min(...weights) > largest - 0.005)
        return `“${words[looks]}” looks at all ${words.length} alike: ${largest.toFixed(2)} each.`;
    const most = words.filter((_, at) => weights[at] > largest - 0.005);
    const whom =
        weights[looks] > largest - 0.005 && most.length === 1
            ? "itself"
            : most.map((one) => `“${one}”`).join(" and ");
    return `“${words[looks]}” looks most at ${whom}: ${largest.toFixed(2)}${most.length > 1 ? " each" : ""} of 1.`;
}

/** @param {HTMLElement} figure */
function bring(figure) {
    /** @type {number[][]} */
    const scores = JSON.parse(figure.dataset.scores ?? "[]");
    const choices = [...figure.querySelectorAll("input")];
    const words = choices.map((one) => one.nextElementSibling?.textContent ?? "");
    const shares = [...figure.querySelectorAll("output")];
    const arcs = [...figure.querySelectorAll("path")];

    const below = document.createElement("div");
    below.className = "six-below";
    below.innerHTML =
        '<label>softer <input type="range" min="0" max="4" step="0.1" value="1" aria-label="How sharply the words look"> sharper</label><p role="status"></p>';
    figure.append(below);
    const slider = /** @type {HTMLInputElement} */ (below.querySelector("input"));
    const status = /** @type {HTMLElement} */ (below.querySelector("p"));

    const show = () => {
        const looks = choices.findIndex((one) => one.checked);
        const rows = scores.map((row) => weightsOf(row, slider.valueAsNumber));
        for (const arc of arcs) {
            const from = Number(arc.dataset.from);
            arc.style.setProperty("--weight", rows[from][Number(arc.dataset.to)].toFixed(3));
            arc.classList.toggle("looks", from === looks);
        }
        rows[looks].forEach((weight, at) => {
            shares[at].textContent = weight.toFixed(2);
        });
        status.textContent = said(words, looks, rows[looks]);
    };
    for (const [at, label] of figure.querySelectorAll("label").entries()) {
        const input = choices[at];
        if (input)
            label.addEventListener("pointerenter", (event) => {
                if (event.pointerType !== "mouse" || input.checked) return;
                input.checked = true;
                show();
            });
    }
    figure.addEventListener("input", show);
    show();
}

if (typeof document !== "undefined")
    for (const figure of document.querySelectorAll(".six-words"))
        if (figure instanceof HTMLElement) bring(figure);
