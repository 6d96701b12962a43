// @ts-check
// What the reader has done, told from the keys that the browser keeps: `read:PAGE`,
// `quiz:PAGE/NAME` and `exercise:PAGE/NAME`.

/**
 * The pages that were read, and how many quizzes and exercises of each page are done.
 * @param {string[]} kept the keys that the browser keeps
 */
export function summary(kept) {
    /** @param {string} kind @param {string} of */
    const count = (kind, of) => kept.filter((key) => key.startsWith(`${kind}:${of}/`)).length;
    return {
        /** @param {string} of */
        read: (of) => kept.includes(`read:${of}`),
        /** @param {string} of */
        quizzes: (of) => count("quiz", of),
        /** @param {string} of */
        exercises: (of) => count("exercise", of),
    };
}
