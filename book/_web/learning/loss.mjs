// @ts-check
// The loss of a machine.

/**
 * @typedef {import("./tape.mjs").Tape} Tape
 * @typedef {import("./tape.mjs").Tensor} Tensor
 */

/**
 * Return the mean of -log p(right answer) over all answers, where p is the softmax of the logits.
 * @param {Tape} tape
 * @param {Tensor} logits (..., q c) for q answers of c classes each
 * @param {Int32Array} right (R q), each below c; R is the product of the other axes. An answer of
 * -1 means that there is no question; it is not counted
 * @returns {{ loss: Tensor, probabilities: Float32Array }} the loss is one number; the
 * probabilities have shape (R, q c)
 */
export function crossEntropy(tape, logits, right) {
    const loss = tape.tensor(1);
    const probabilities = new Float32Array(logits.size);
    const c = logits.size / right.length;
    let asked = 0;
    tape.record(
        () => {
            let sum = 0;
            asked = 0;
            for (const [at, answer] of right.entries()) {
                const [from, end] = [at * c, (at + 1) * c];
                let [largest, total] = [-Infinity, 0];
                for (let j = from; j < end; j++) largest = Math.max(largest, logits.data[j]);
                for (let j = from; j < end; j++)
                    total += probabilities[j] = Math.exp(logits.data[j] - largest);
                for (let j = from; j < end; j++) probabilities[j] /= total;
                if (answer < 0) continue;
                asked++;
                sum += Math.log(total) + largest - logits.data[from + answer];
            }
            loss.data[0] = sum / asked;
        },
        () => {
            for (const [at, answer] of right.entries()) {
                if (answer < 0) continue;
                for (let j = 0; j < c; j++) {
                    const share = probabilities[at * c + j] - (j === answer ? 1 : 0);
                    logits.grad[at * c + j] += (loss.grad[0] * share) / asked;
                }
            }
        },
    );
    return { loss, probabilities };
}
