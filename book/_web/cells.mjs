// @ts-check
// Keyboard navigation between the cells of a map.

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
 * Return the cell that a key leads to, or undefined.
 * @param {string} key
 * @param {number} row
 * @param {number} column
 * @param {number} last the index of the last row and column
 */
export const moved = (key, row, column, last) => MOVES[key]?.(row, column, last);
