// @ts-check
// The numbers of each machine as bars in a table: accuracy by group, gradients by layer.

import { element } from "../parts.mjs";

/**
 * @typedef {{ name: string, values: { share: number, text: string }[] }} Row a value for each
 * machine; share is the length of the bar
 */

/**
 * @param {string} caption
 * @param {string} first the heading of the rows' names
 * @param {string[]} machines their names
 */
export function bars(caption, first, machines) {
    const body = element("tbody");
    const heads = [first, ...machines].map((text) => element("th", { scope: "col" }, text));
    const table = element(
        "table",
        { class: "pg-bars" },
        element("caption", {}, caption),
        element("thead", {}, element("tr", {}, ...heads)),
        body,
    );
    return {
        node: element("div", { class: "table-scroll" }, table),
        /** @param {Row[]} rows */
        show(rows) {
            body.replaceChildren(
                ...rows.map(({ name, values }) =>
                    element(
                        "tr",
                        {},
                        element("th", { scope: "row" }, name),
                        ...values.map(({ share, text }, at) =>
                            element(
                                "td",
                                { class: `pg-${at + 1}`, style: `--share: ${share.toFixed(3)}` },
                                text,
                            ),
                        ),
                    ),
                ),
            );
        },
    };
}
