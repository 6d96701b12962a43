// @ts-check
// The bar of a practise page: the reader's progress, whether the answers are stored, and the
// buttons that download, open and delete them.
//
// The elements of `.practise-bar` (styled in practise.css):
//   p.practise-progress            "3 of 10 right, 1 tried"
//   p.practise-kept                whether answers are stored; data-state is the store's state;
//                                  role=status; in the state "elsewhere" with button.practise-take
//   p.practise-said                the result of the last button; role=status; data-error if it
//                                  failed
//   div.practise-files             buttons `.button.quiet.small`, and
//     label.button.quiet.small.practise-open > input[type=file]
//                                  the invisible input covers its label, and gets the focus
//   details.practise-aside > summary, (h4, pre)...   answers that have no cell in this edition

import { standing } from "../done.mjs";
import { button, element } from "../parts.mjs";
import { listen } from "../storage.mjs";
import { merge } from "./kept.mjs";
import { fromNotebook, LARGEST, NotebookError, toNotebook } from "./notebook_file.mjs";
import { ticked } from "./ticks.mjs";

/** @typedef {import("./answers.mjs").AnswerStore} AnswerStore */
/** @typedef {import("./answers.mjs").State} State */
/** @typedef {import("./released.mjs").Notebook} Notebook */
/** The page's data about its assignment. @typedef {{ assignment: string, title: string, exercises: { name: string }[], written: { name: string }[] }} Data */

/** @type {Record<State, string>} */
const KEPT = {
    kept: "Your answers are kept in this browser, and nowhere else.",
    full: "This browser's storage is full: your last changes are not kept. Download your notebook before you leave this page.",
    forbidden:
        "This browser does not let the site store anything. Download your notebook before you leave this page.",
    elsewhere:
        "This assignment is open in another tab, where you work on it. This tab only shows your answers. ",
    deleted:
        "Your answers were deleted in another tab. What stands here is still here, and is kept again from your next change on.",
};

/**
 * Fill the bar.
 * @param {Element} place
 * @param {object} page
 * @param {AnswerStore} page.store
 * @param {Notebook} page.released
 * @param {Data} page.data
 * @param {() => void} page.onReplaced called when the editors must show other answers
 */
export function makeBar(place, { store, released, data, onReplaced }) {
    const progress = element("p", { class: "practise-progress" });
    const kept = element("p", { class: "practise-kept", role: "status" });
    const said = element("p", { class: "practise-said", role: "status" });
    const aside = element("details", { class: "practise-aside" });
    const take = button("Work here instead", () => store.takeOver());
    take.className = "button small practise-take";
    const input = element("input", { type: "file", accept: ".ipynb,application/json" });
    const open = element(
        "label",
        { class: "button quiet small practise-open" },
        element("span", {}, "Open a notebook..."),
        input,
    );
    const wipe = quiet("Delete my answers", clear);
    const files = element("div", { class: "practise-files" }, quiet("Download as notebook", save));
    files.append(open, wipe);

    /** @param {string} text @param {boolean} [failed] */
    function say(text, failed = false) {
        said.textContent = text;
        said.toggleAttribute("data-error", failed);
    }

    function save() {
        const file = new Blob([toNotebook(released, store.answers)], { type: "application/json" });
        const link = element("a", { href: URL.createObjectURL(file) });
        link.download = `${data.assignment}.ipynb`;
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // some browsers read it late
        say(`${link.download} is among your downloads: the assignment with your answers in it.`);
    }

    async function openFile() {
        const [file] = input.files ?? [];
        input.value = ""; // so that the same file can be opened again
        if (file) await takeIn(file);
    }

    /** @param {File} file */
    async function takeIn(file) {
        try {
            // A file that is too large is refused without reading it.
            const text = file.size < LARGEST ? await file.text() : " ".repeat(LARGEST);
            const opened = fromNotebook(text, released, data.title);
            const { merged, replaced } = merge(store.answers, opened);
            const names = replaced.join(", ");
            const question =
                replaced.length === 1
                    ? `1 answer here differs from that in ${file.name}: ${names}. Replace it?`
                    : `${replaced.length} answers here differ from those in ${file.name}: ${names}. Replace them?`;
            if (replaced.length > 0 && !window.confirm(question))
                return say(`Nothing was changed: ${file.name} was not opened.`);
            store.replace(merged);
            say(whatCame(file.name, opened));
        } catch (error) {
            if (error instanceof NotebookError) return say(`${file.name}: ${error.message}`, true);
            say(
                `${file.name} could not be read. Look whether it is still there, and open it again.`,
                true,
            );
        }
    }

    function clear() {
        const question =
            `Delete your answers to “${data.title}”, your own cells, and what was checked? ` +
            "Download them as a notebook first to keep them.";
        if (!window.confirm(question)) return;
        store.clear();
        say("Your answers were deleted.");
    }

    function showProgress() {
        const { sources, verdicts } = store.answers;
        /** @param {string} name */
        const done = (name) =>
            ticked(data.assignment, name) || (store.state !== "kept" && verdicts[name] === "right"); // if ticks cannot be stored
        const stand = data.exercises.map(({ name }) => standing(name, done(name), { sources }));
        const right = stand.filter((one) => one === "right").length;
        const tried = stand.filter((one) => one === "tried").length;
        const written = data.written.filter(({ name }) => name in sources).length;
        progress.textContent =
            `${right} of ${data.exercises.length} right${tried ? `, ${tried} tried` : ""}` +
            (data.written.length ? `; ${written} of ${data.written.length} written answers` : "");
    }

    function showAside() {
        const all = store.answers.aside;
        aside.hidden = all.length === 0;
        aside.replaceChildren(
            element("summary", {}, `Kept aside: ${all.map((one) => one.cell).join(", ")}`),
            element(
                "p",
                {},
                "This edition of the assignment has no place for these. They stay here, and are not in the notebook that you download.",
            ),
            ...all.flatMap(({ cell, source }) => [
                element("h4", {}, cell),
                element("pre", {}, source),
            ]),
        );
    }

    function showState() {
        kept.dataset.state = store.state;
        kept.replaceChildren(KEPT[store.state]);
        if (store.state === "elsewhere") kept.append(take);
        input.disabled = wipe.disabled = store.state === "elsewhere";
    }

    input.addEventListener("change", openFile);
    store.on("state", showState);
    store.on("answers", onReplaced);
    store.on("change", showProgress);
    store.on("change", showAside);
    listen(showProgress);
    document.addEventListener("course:progress", showProgress);
    showProgress();
    showAside();
    showState();
    place.replaceChildren(progress, kept, files, said, aside);
}

/**
 * Say what was taken from a file.
 * @param {string} name
 * @param {import("./opened.mjs").Opened} opened
 */
function whatCame(name, { sources, own, aside }) {
    const answers = Object.keys(sources).length;
    if (answers + own.length + aside.length === 0)
        return `${name} was opened: no exercise has been started in it.`;
    const cells = own.length
        ? ` and ${own.length} ${own.length === 1 ? "cell" : "cells"} of your own`
        : "";
    const left = aside.length
        ? ` This edition of the assignment has no place for: ${aside.map((one) => one.cell).join(", ")}. ${aside.length === 1 ? "It is" : "They are"} kept aside, below.`
        : "";
    return `${name} was opened: ${answers} ${answers === 1 ? "answer" : "answers"}${cells}.${left}`;
}

/** @param {string} text @param {() => void} pressed */
function quiet(text, pressed) {
    const made = button(text, pressed);
    made.className = "button quiet small";
    return made;
}
