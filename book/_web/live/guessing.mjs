// @ts-check
// A prediction within a figure: the machines wait until the reader's guess opens its answer.

/**
 * @typedef {Element | null} Answer the part of a figure that its prediction keeps closed, if it has
 * one
 */

/** @param {Answer} answer */
export const closed = (answer) => Boolean(answer?.hasAttribute("hidden"));

/** Focus the prediction. @param {Answer} answer */
export const toGuess = (answer) => answer?.previousElementSibling?.querySelector("input")?.focus();

/** Wait until the answer is open. @param {Answer} answer @returns {Promise<void>} */
export const opened = (answer) =>
    new Promise((done) => {
        if (!answer || !closed(answer)) return done();
        const watched = new MutationObserver(() => {
            if (closed(answer)) return;
            watched.disconnect();
            done();
        });
        watched.observe(answer, { attributeFilter: ["hidden"] });
    });
