// @ts-check
// What the reader has done, told from the keys that the browser keeps: `read:PAGE`,
// `quiz:PAGE/NAME` and `exercise:PAGE/NAME`, and from the answers under `practise:PAGE`.

/**
 * The pages that were read, and how many quizzes and exercises of each page are done.
 * @param {string[]} kept the keys that the browser keeps
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
        /** Exercises with a name, which are checked: a written question has a number. @param {string} of */
        checked: (of) => all("exercise", of).filter((key) => !/\/\d+$/.test(key)).length,
    };
}

/**
 * What became of an exercise: done, begun, or nothing yet.
 * @param {string} exercise
 * @param {boolean} ticked by a check or by hand
 * @param {any} answers what is kept of the page's answers, or null
 * @returns {"right" | "tried" | ""}
 */
export function standing(exercise, ticked, answers) {
    if (ticked) return "right";
    return typeof answers?.sources?.[exercise] === "string" ? "tried" : "";
}
