// @ts-check
// The page's messages about Python and runs.

/** The states of Python, shown above all cells. */
export const PYTHON = {
    absent: "Python is loaded when you begin to type: about 9 MB, the first time.",
    loading: "Python is on its way.",
    ready: "Python is ready.",
    failed: "Python did not start.",
};

/** @param {number} bytes */
const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

/** Return the progress of the fetching in words. @param {number} bytes @param {number} total */
export function loading(bytes, total) {
    if (bytes === 0) return "fetching Python";
    if (bytes >= total) return "starting Python";
    return `fetching Python, ${megabytes(bytes)} of ${megabytes(total)} MB`;
}

/** @param {number} seconds */
export const time = (seconds) =>
    seconds < 0.1 ? "in less than 0.1 s" : `in ${seconds.toFixed(1)} s`;

/**
 * Say how a run ended.
 * @param {{ ok: boolean, seconds: number }} result
 * @param {string} error the name of the exception, if there was one
 */
export const ended = ({ ok, seconds }, error) =>
    ok ? `It ran ${time(seconds)}.` : `It stopped with ${error || "an error"}: see below.`;
