// @ts-check
// Long lines are broken where the editor ends, as a docstring must be readable on a phone. What
// follows a break stands below the line's own beginning, not below its indentation.

import { RangeSetBuilder } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin } from "@codemirror/view";

/** Where a line's text begins, as `LOOKS` of the editor says. */
export const PADDING = "1rem - 1px";

/** @param {EditorView} view */
function hanging(view) {
    const marks = /** @type {RangeSetBuilder<Decoration>} */ (new RangeSetBuilder());
    for (const { from, to } of view.visibleRanges)
        for (let at = from; at <= to; ) {
            const line = view.state.doc.lineAt(at);
            const indent = line.text.length - line.text.trimStart().length;
            if (indent) {
                const style = `padding-left: calc(${PADDING} + ${indent}ch); text-indent: -${indent}ch`;
                marks.add(line.from, line.from, Decoration.line({ attributes: { style } }));
            }
            at = line.to + 1;
        }
    return marks.finish();
}

/** The extension of an editor. */
export const WRAPPING = [
    EditorView.lineWrapping,
    ViewPlugin.define(
        (view) => ({
            lines: hanging(view),
            /** @param {import("@codemirror/view").ViewUpdate} update */
            update(update) {
                if (update.docChanged || update.viewportChanged) this.lines = hanging(update.view);
            },
        }),
        { decorations: (plugin) => plugin.lines },
    ),
];
