// @ts-check
// The reader's progress, derived from the keys in the browser's storage: `read:PAGE`,
// `quiz:PAGE/NAME` and `exercise:PAGE/NAME`, and from the answers under `practise:PAGE`.

/**
 * Return which pages were read, and how many quizzes and exercises of a page are done.
 * @param {string[]} kept the stored keys
 */
export function summary(kept) {
    /** @param {string} kind @param {string} of */
    const all = (kind, of) => kept.filter((key) => key.startsWith(`${kind}:${of}/`));
    return {
        /** @param {string} of */
        read: (of) => kept.includes(`read:${of}`),
        /** @param {string} of */
        quizzes: (of) => all("quiz", of).length,
        /** @param {string} of */
        exercises: (of) => all("exercise", of).length,
        /** Count exercises with checks; written questions are numbered. @param {string} of */
        checked: (of) => all("exercise", of).filter((key) => !/\/\d+$/.test(key)).length,
    };
}

/**
 * Return the state of an exercise: done, begun, or not begun.
 * @param {string} exercise
 * @param {boolean} ticked by a check or by hand
 * @param {any} answers the page's stored answers, or null
 * @returns {"right" | "tried" | ""}
 */
export function standing(exercise, ticked, answers) {
    if (ticked) return "right";
    return typeof answers?.sources?.[exercise] === "string" ? "tried" : "";
}
