// @ts-check
// An editor for a cell of Python: CodeMirror, with the site's colours and the keys of a notebook.

import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import {
    history,
    historyKeymap,
    indentLess,
    indentMore,
    isolateHistory,
    standardKeymap,
    toggleComment,
} from "@codemirror/commands";
import {
    bracketMatching,
    HighlightStyle,
    indentOnInput,
    indentUnit,
    StreamLanguage,
    syntaxHighlighting,
} from "@codemirror/language";
import { python } from "@codemirror/legacy-modes/mode/python";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** `@codemirror/lang-python` is not used, since its tables would be a fifth of the page's bytes. */
const PYTHON = StreamLanguage.define(python);
/** The colours that `code.css` uses in the chapters. */
const COLOURS = HighlightStyle.define([
    { tag: tags.comment, color: "var(--code-comment)" },
    { tag: tags.keyword, color: "var(--code-word)" },
    { tag: tags.string, color: "var(--code-text)" },
    { tag: tags.number, color: "var(--code-number)" },
    { tag: [tags.definition(tags.variableName), tags.meta], color: "var(--code-name)" },
]);

/** CodeMirror's own style is in no cascade layer, so our style sheets cannot override it. */
const LOOKS = EditorView.theme({
    "&": {
        background: "var(--tint)",
        border: "1px solid var(--quiet)",
        borderRadius: "var(--radius)",
        color: "var(--ink)",
        fontSize: "var(--code-size)",
    },
    "&.cm-focused": { outline: "var(--focus)", outlineOffset: "1px" },
    ".cm-scroller": { fontFamily: "var(--font-code)", lineHeight: "1.5" },
    ".cm-content": { caretColor: "var(--ink)", padding: "calc(0.85rem - 1px) 0", tabSize: "4" },
    // Typed over, the colour of the first word that was selected would stay, in the line's style.
    ".cm-line": { color: "var(--ink) !important", padding: "0 calc(1rem - 1px)" },
    "&.cm-focused .cm-matchingBracket": { background: "var(--mark)" },
    "&.cm-focused .cm-nonmatchingBracket": { background: "none", color: "var(--wrong)" },
});

/** After `Escape`, `Tab` leads on to the next thing on the page, as long as no other key is pressed. */
const LEAVING = EditorView.domEventHandlers({
    keydown({ key }, view) {
        if (key === "Escape") view.setTabFocusMode(true);
        else if (key !== "Tab" && key !== "Shift") view.setTabFocusMode(false);
        return false;
    },
    focus(_, view) {
        view.setTabFocusMode(false);
        return false;
    },
});

/**
 * @typedef {object} Asked
 * @property {string} name for a screen reader: "Your answer to additive_scores"
 * @property {string} hint the id of the line that tells how to leave the editor by keyboard
 * @property {string} text
 * @property {(text: string) => void} typed called with the text after each change by the reader
 * @property {() => void} run
 * @property {() => void} check
 */

/** @param {Asked} asked */
export function editor({ name, hint, text, typed, run, check }) {
    const locked = new Compartment();
    /** @param {() => void} does */
    const command = (does) => () => {
        does();
        return true;
    };
    let replacing = false;
    const view = new EditorView({
        state: EditorState.create({
            doc: text,
            extensions: [
                history(),
                PYTHON,
                indentUnit.of("    "),
                EditorState.tabSize.of(4),
                indentOnInput(),
                bracketMatching(),
                closeBrackets(),
                syntaxHighlighting(COLOURS),
                LOOKS,
                LEAVING,
                locked.of([]),
                keymap.of([
                    { key: "Ctrl-Enter", run: command(run) },
                    { key: "Mod-Enter", run: command(run) },
                    { key: "Shift-Enter", run: command(check) },
                    { key: "Mod-/", run: toggleComment },
                    { key: "Tab", run: indentMore, shift: indentLess },
                    ...closeBracketsKeymap,
                    ...historyKeymap,
                    ...standardKeymap,
                ]),
                EditorView.contentAttributes.of({
                    "aria-label": name,
                    "aria-describedby": hint,
                    tabindex: "0", // so that the keyboard can also reach the scrolling box around it
                }),
                EditorView.updateListener.of((update) => {
                    if (update.docChanged && !replacing) typed(update.state.doc.toString());
                }),
            ],
        }),
    });
    return {
        node: view.dom,
        focus: () => view.focus(),
        /**
         * Replace the text, as a change that can be undone; return whether the text is different.
         * @param {string} now
         */
        replace(now) {
            if (now === view.state.doc.toString()) return false;
            replacing = true;
            view.dispatch({
                changes: { from: 0, to: view.state.doc.length, insert: now },
                annotations: isolateHistory.of("full"),
            });
            replacing = false;
            return true;
        },
        /** @param {boolean} now whether nothing may be typed */
        lock(now) {
            view.dispatch({ effects: locked.reconfigure(EditorState.readOnly.of(now)) });
        },
    };
}
