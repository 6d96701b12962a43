// @ts-check
// The tables of numbers in figures (solutions/drawing/figure_tables.py): this fills them again, and
// makes numbers changeable.

import { moved } from "./cells.mjs";
import { button } from "./parts.mjs";
import { twoDigits } from "./small_attention.mjs";

/**
 * Return the cells of the table of a kind, without its headings.
 * @param {Element} figure
 * @param {string} kind the table's class
 */
export function cellsOf(figure, kind) {
    const rows = figure.querySelectorAll(`table.${kind} tbody tr`);
    return [...rows].map((row) => [...row.querySelectorAll("td")]);
}

/**
 * Write a matrix into the cells of its table.
 * @param {HTMLElement[][]} cells
 * @param {number[][]} values
 */
export function fill(cells, values) {
    for (const [i, row] of cells.entries())
        for (const [j, cell] of row.entries()) cell.textContent = twoDigits(values[i][j]);
}

/**
 * Colour the cells of weights by their size.
 * @param {HTMLElement[][]} cells
 * @param {number[][]} weights
 */
export function shade(cells, weights) {
    for (const [i, row] of cells.entries())
        for (const [j, cell] of row.entries())
            cell.style.setProperty("--weight", weights[i][j].toFixed(3));
}

/**
 * Turn cells of a table into buttons: one stop for Tab, the arrow keys between them.
 * @param {HTMLElement[][]} rows
 * @param {(row: number, column: number, by: number) => void} change
 */
export function changeable(rows, change) {
    const buttons = rows.map((cells, row) =>
        cells.map((cell, column) => {
            const made = button("", () => change(row, column, 1));
            made.className = "play-number";
            made.tabIndex = row + column === 0 ? 0 : -1;
            cell.replaceChildren(made);
            made.addEventListener("focus", () => {
                for (const other of buttons.flat()) other.tabIndex = -1;
                made.tabIndex = 0;
            });
            made.addEventListener("keydown", (event) => {
                if (event.ctrlKey || event.metaKey || event.altKey) return;
                if (event.key === "+" || event.key === "-")
                    change(row, column, event.key === "+" ? 1 : -1);
                const to = moved(event.key, row, column, cells.length - 1);
                if (to && buttons[to[0]]) {
                    event.preventDefault();
                    buttons[to[0]][to[1]].focus();
                }
            });
            return made;
        }),
    );
    return buttons;
}
