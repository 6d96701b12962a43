// @ts-check
// Compare a translation with the right one: right, wrong and missing words.

/**
 * Find the longest common subsequence of two rows of words (Hunt and McIlroy 1976).
 * @param {string[]} written
 * @param {string[]} right
 * @returns {{ kept: boolean[], missing: number }} kept: whether each written word is in it.
 * missing: the number of words that only `right` has
 */
export function compared(written, right) {
    const [m, n] = [written.length, right.length];
    const shared = Array.from({ length: m + 1 }, () => new Uint8Array(n + 1));
    for (let i = m - 1; i >= 0; i--)
        for (let j = n - 1; j >= 0; j--)
            shared[i][j] =
                written[i] === right[j]
                    ? shared[i + 1][j + 1] + 1
                    : Math.max(shared[i + 1][j], shared[i][j + 1]);
    const kept = written.map(() => false);
    for (let i = 0, j = 0; i < m && j < n; )
        if (written[i] === right[j]) {
            kept[i++] = true;
            j++;
        } else if (shared[i + 1][j] >= shared[i][j + 1]) i++;
        else j++;
    return { kept, missing: n - kept.filter(Boolean).length };
}

/**
 * Return for each position of the longer row whether the two rows agree.
 * @param {string[]} written
 * @param {string[]} right
 */
export const inPlace = (written, right) =>
    (written.length > right.length ? written : right).map((_, at) => written[at] === right[at]);

/**
 * Return the share of positions of the longer row at which the two agree: the book's token
 * accuracy.
 * @param {string[]} written
 * @param {string[]} right
 */
export function accuracy(written, right) {
    const placed = inPlace(written, right);
    return placed.filter(Boolean).length / Math.max(placed.length, 1);
}
