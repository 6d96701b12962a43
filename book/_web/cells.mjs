// @ts-check
// The keys that lead from cell to cell of a map.

/** @type {Record<string, (row: number, column: number, last: number) => [number, number]>} */
const MOVES = {
    ArrowUp: (row, column) => [Math.max(0, row - 1), column],
    ArrowDown: (row, column, last) => [Math.min(last, row + 1), column],
    ArrowLeft: (row, column) => [row, Math.max(0, column - 1)],
    ArrowRight: (row, column, last) => [row, Math.min(last, column + 1)],
    Home: (row) => [row, 0],
    End: (row, _, last) => [row, last],
};

/**
 * The cell that a key leads to, or undefined.
 * @param {string} key
 * @param {number} row
 * @param {number} column
 * @param {number} last of the rows and of the columns
 */
export const moved = (key, row, column, last) => MOVES[key]?.(row, column, last);
