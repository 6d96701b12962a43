// @ts-check
// The reader's progress: pages read to their end, quizzes answered right, exercises ticked or
// checked. It is only stored in this browser; the front page sums it up, exports and deletes it.

import { standing, summary } from "./done.mjs";
import { get, keys, listen, remove, set } from "./storage.mjs";

const PRACTISE = "practise/";
const page = document.body.dataset.page ?? "";

/** Count the page as read when the reader reaches the links to the next pages. */
function noticeReading() {
    const end = document.querySelector(".onward");
    if (!end || page.startsWith(PRACTISE)) return;
    const seen = new IntersectionObserver((entries) => {
        if (!entries.some((one) => one.isIntersecting)) return;
        set(`read:${page}`, new Date().toISOString().slice(0, 10));
        seen.disconnect();
        tick();
    });
    seen.observe(end);
}

/** Note each quiz that is answered right, which `quiz.mjs` announces by an event. */
function noticeQuizzes() {
    document.addEventListener("course:right", (event) => {
        if (event.target instanceof HTMLElement) set(`quiz:${page}/${event.target.id}`, true);
    });
}

/** Functions that update whether an exercise is shown as done. @type {(() => void)[]} */
const showTicks = [];

/** Give each exercise of the assignment a box to tick, on this page and in the chapter. */
function offerTicks() {
    const chapter = page.startsWith(PRACTISE) ? page.slice(PRACTISE.length) : page;
    for (const [at, line] of document.querySelectorAll(".assignment li > p").entries()) {
        const key = `exercise:${chapter}/${line.querySelector("code")?.textContent ?? at + 1}`;
        const box = document.createElement("input");
        box.type = "checkbox";
        box.addEventListener("change", () => {
            if (box.checked) set(key, true);
            else remove(key);
            tick();
        });
        const label = document.createElement("label");
        const words = document.createElement("span");
        words.append(...line.childNodes);
        label.append(box, words);
        line.append(label);
        showTicks.push(() => {
            box.checked = Boolean(get(key));
            const tried =
                standing(key.split("/")[1], box.checked, get(`practise:${chapter}`)) === "tried";
            line.querySelector(".tried")?.remove();
            if (tried) words.append(tag("tried", " (tried)"));
        });
    }
}

/** @param {string} name @param {string} text */
function tag(name, text) {
    const made = document.createElement("span");
    made.className = name;
    made.textContent = text;
    return made;
}

/** Mark finished items in the contents, in the assignment, and on the cards of the front page. */
function tick() {
    const done = summary(keys());
    for (const show of showTicks) show();
    for (const entry of document.querySelectorAll("li[data-page]")) {
        if (!(entry instanceof HTMLElement)) continue;
        const name = entry.dataset.page ?? "";
        entry.toggleAttribute("data-read", done.read(name));
        if (name.startsWith(PRACTISE)) sayChecked(entry, done.checked(name.slice(PRACTISE.length)));
    }
    for (const part of document.querySelectorAll(".part")) {
        const chapters = [...part.querySelectorAll("li")];
        const pages = chapters.map((one) => one.dataset.page ?? "");
        /** @param {number[]} numbers */
        const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);
        /** @param {"quizzes" | "exercises"} kind */
        const all = (kind) => sum(chapters.map((one) => Number(one.dataset[kind])));
        const read = pages.filter(done.read).length;
        const quizzes = sum(pages.map(done.quizzes));
        const exercises = sum(pages.map(done.exercises));
        part.querySelector(".part-done")?.remove();
        if (read + quizzes + exercises === 0) continue;
        const line = document.createElement("p");
        line.className = "part-done";
        line.textContent =
            `You have read ${read} of ${pages.length}, answered ${quizzes} of ${all("quizzes")} ` +
            `quizzes and done ${exercises} of ${all("exercises")} exercises.`;
        part.lastElementChild?.append(line);
    }
}

/**
 * Show in the contents how many exercises of a practise page are done.
 * @param {HTMLElement} entry
 * @param {number} count
 */
function sayChecked(entry, count) {
    const of = Number(entry.dataset.exercises);
    entry.querySelector(".contents-done")?.remove();
    if (of && count) entry.querySelector("a")?.append(tag("contents-done", `${count} of ${of}`));
}

/** Show below the cards what is stored, with buttons that export and delete it. */
function offerKeeping() {
    const cards = document.querySelector(".parts");
    if (!cards) return;
    const place = document.createElement("div");
    place.className = "progress";
    const kept = keys().length > 0;
    const said = document.createElement("p");
    said.textContent = kept
        ? "What you have done is kept in this browser, and nowhere else."
        : "As you read, this page shows how far you are. It is kept in this browser, and nowhere else.";
    place.append(said);
    if (kept) place.append(button("Export my progress", exportAll), button("Delete it", deleteAll));
    cards.after(place);
}

/** @param {string} text @param {() => void} does */
function button(text, does) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "button quiet small";
    made.textContent = text;
    made.addEventListener("click", does);
    return made;
}

function exportAll() {
    const all = Object.fromEntries(keys().map((key) => [key, get(key)]));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(
        new Blob([JSON.stringify(all, null, 2)], { type: "application/json" }),
    );
    link.download = "attention-progress.json";
    link.click();
    URL.revokeObjectURL(link.href);
}

function deleteAll() {
    if (
        !window.confirm(
            "Delete what this browser has kept: pages, quizzes, predictions, exercises, and the answers " +
                "that you have typed on the practise pages? Download a notebook there to keep them.",
        )
    )
        return;
    for (const key of keys()) remove(key);
    changed();
}

/** Show what is stored now. */
function changed() {
    document.querySelector(".progress")?.remove();
    tick();
    offerKeeping();
}

noticeReading();
noticeQuizzes();
offerTicks();
tick();
offerKeeping();
listen(changed);
document.addEventListener("course:progress", tick);
