// @ts-check
// The search page: it searches while the reader types, and for the query in its address.

import { searcher, snippet } from "./searching.mjs";

const place = /** @type {HTMLElement} */ (document.querySelector(".search"));
const field = /** @type {HTMLInputElement} */ (place.querySelector("input"));
const count = /** @type {HTMLElement} */ (place.querySelector(".search-count"));
const list = /** @type {HTMLElement} */ (place.querySelector(".search-results"));
const NONE =
    "Nothing was found. Try one word only, or its beginning; the contents list every chapter.";
const LOST = "What can be found could not be loaded. Load this page again.";

/** @type {Promise<ReturnType<typeof searcher>>} */
const ready = fetch(place.dataset.entries ?? "")
    .then((answer) => answer.json())
    .then(searcher);

async function show() {
    const query = field.value.trim();
    const address = new URL(location.href);
    if (query) address.searchParams.set("q", query);
    else address.searchParams.delete("q");
    history.replaceState(null, "", address);
    const search = await ready.catch(() => null);
    if (!search) {
        count.textContent = LOST;
        return;
    }
    if (query !== field.value.trim()) return; // the reader has typed more since
    const hits = query ? search(query) : [];
    count.textContent = !query ? "" : hits.length ? said(hits.length) : NONE;
    list.replaceChildren(...hits.map(line));
}

/** @param {number} hits */
const said = (hits) => (hits === 1 ? "One section." : `${hits} sections, the best first.`);

/** @param {import("./searching.mjs").Hit} hit */
function line({ entry, address, words }) {
    const made = document.createElement("li");
    const link = document.createElement("a");
    link.href = address;
    const from = document.createElement("span");
    from.className = "search-from";
    from.textContent = entry.chapter;
    const title = document.createElement("span");
    title.className = "search-title";
    title.textContent = entry.title;
    link.append(from, title);
    const text = document.createElement("p");
    for (const piece of snippet(entry.text, words)) {
        const part = document.createElement(piece.hit ? "mark" : "span");
        part.textContent = piece.text;
        text.append(part);
    }
    made.append(link, text);
    return made;
}

/**
 * Move the focus with the arrow keys between the field and the results.
 * @param {KeyboardEvent} event
 */
function walk(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    /** @type {HTMLElement[]} */
    const stops = [field, ...list.querySelectorAll("a")];
    const at = stops.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (at < 0) return;
    stops[Math.min(stops.length - 1, Math.max(0, at + step))].focus();
    event.preventDefault();
}

field.value = new URL(location.href).searchParams.get("q") ?? "";
field.addEventListener("input", show);
place.addEventListener("keydown", walk);
place.querySelector("form")?.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.focus();
});
field.focus();
show();
