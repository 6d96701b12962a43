// @ts-check
// Assembles all pages of the site into a single document, in a browser that has opened one of them:
// their text as it is without scripts, with anchors that are unique across pages.
// `make pdf` calls `assemble` and `numberContents` (book/_ext/course_pdf); no page of the site does.

import { element } from "./parts.mjs";

/** @typedef {{ name: string, below: string[] }} Entry a page, and the names of those below it */
/** @typedef {{ title: string, entries: Entry[] }} Part */
/** @typedef {{ title: string, sentence: string, author: string, parts: Part[] }} Book */

/** Attributes that hold the names of other elements, with spaces between them. */
const NAMES = ["for", "headers", "aria-controls", "aria-describedby", "aria-labelledby"];

/**
 * Replace the page by the whole book.
 * @param {Book} book
 */
export async function assemble(book) {
    const names = book.parts.flatMap(({ entries }) =>
        entries.flatMap(({ name, below }) => [name, ...below]),
    );
    const pages = new Map(await Promise.all(names.map(fetched)));
    for (const [name, page] of pages) keepApart(page, name, pages);
    document.title = book.title;
    const texts = [...pages.values()];
    const main = element("main", {}, titlePage(book), contents(book.parts, pages), ...texts);
    document.body.replaceChildren(main);
    refuseWhatLeadsNowhere(main);
    await loadFonts();
}

/**
 * Throw an error that names the links and parts of figures whose targets do not exist.
 * @param {HTMLElement} main
 */
function refuseWhatLeadsNowhere(main) {
    const lost = new Set();
    for (const one of main.querySelectorAll("*"))
        for (const { name, value } of one.attributes)
            for (const [, to] of value.matchAll(
                name.endsWith("href") ? /^#(.*)/g : /url\(#(.*?)\)/g,
            ))
                if (!document.getElementById(to)) lost.add(to);
    if (lost.size) throw new Error(`The book refers to what is not in it: ${[...lost].join(", ")}`);
}

/** Wait for every font, including those for which the site does not make its readers wait. */
async function loadFonts() {
    for (const face of document.fonts) face.display = "block";
    await Promise.all([...document.fonts].map((face) => face.load()));
    await document.fonts.ready;
}

/**
 * Write the page number of each page of the site into the contents.
 * @param {Record<string, number>} numbers
 */
export function numberContents(numbers) {
    for (const link of document.querySelectorAll(".paper-contents a")) {
        const name = link.getAttribute("href")?.slice(1) ?? "";
        link.append(element("span", { class: "at" }, String(numbers[name])));
    }
}

/**
 * Fetch a page of the site; return its part and its text, without the page's frame.
 * @param {string} name
 * @returns {Promise<[string, HTMLElement]>}
 */
async function fetched(name) {
    const answer = await fetch(`${name}.html`);
    if (!answer.ok) throw new Error(`The site has no page ${name}.html`);
    const whole = new DOMParser().parseFromString(await answer.text(), "text/html");
    const parts = whole.querySelectorAll("style.formulas, main > .kicker, main > article");
    const page = element("section", { class: "paper-page" }, ...parts);
    for (const script of page.querySelectorAll("script")) script.remove();
    return [name, page];
}

/**
 * Prefix a page's anchors with its name, and adapt its links to anchors, pages and the web.
 * @param {HTMLElement} page
 * @param {string} name
 * @param {Map<string, HTMLElement>} pages
 */
function keepApart(page, name, pages) {
    const root = new URL(".", location.href).pathname;
    page.id = name;
    for (const one of page.querySelectorAll("*")) {
        if (one.id) one.id = `${name}--${one.id}`;
        for (const { name: attribute, value } of one.attributes)
            if (value.includes("url(#"))
                one.setAttribute(attribute, value.replaceAll("url(#", `url(#${name}--`));
            else if (one instanceof SVGElement && /href$/.test(attribute))
                one.setAttribute(attribute, value.replace(/^#/, `#${name}--`));
            else if (NAMES.includes(attribute))
                one.setAttribute(attribute, value.replace(/\S+/g, `${name}--$&`));
    }
    for (const link of page.querySelectorAll("a[href]")) {
        const to = new URL(link.getAttribute("href") ?? "", new URL(`${name}.html`, location.href));
        if (to.origin !== location.origin) continue;
        const target = to.pathname.slice(root.length).replace(/\.html$/, "");
        const anchor = to.hash && `--${to.hash.slice(1)}`;
        if (pages.has(target)) link.setAttribute("href", `#${target}${anchor}`);
        else link.removeAttribute("href");
    }
}

/** @param {Book} book */
function titlePage({ title, sentence, author }) {
    return element(
        "header",
        { class: "text paper-title" },
        element("p", { class: "title" }, title),
        element("p", {}, sentence),
        element("p", { class: "author" }, author),
    );
}

/**
 * @param {Part[]} parts
 * @param {Map<string, HTMLElement>} pages
 */
function contents(parts, pages) {
    const lists = parts.flatMap(({ title, entries }) => [
        element("p", {}, title),
        element(
            "ul",
            {},
            ...entries.flatMap(({ name, below }) => [
                element("li", {}, link(name, pages)),
                ...below.map((one) => element("li", { class: "below" }, link(one, pages))),
            ]),
        ),
    ]);
    const title = element("h1", {}, "Contents");
    return element("nav", { class: "text paper-contents" }, title, ...lists);
}

/**
 * Return a link to a page: its title, and its number if it is a chapter.
 * @param {string} name
 * @param {Map<string, HTMLElement>} pages
 */
function link(name, pages) {
    const title = pages.get(name)?.querySelector("h1")?.cloneNode(true);
    if (!(title instanceof HTMLElement)) throw new Error(`${name}.html has no title`);
    const number = title.querySelector(".section-number");
    for (const one of title.querySelectorAll(".section-number, .headerlink")) one.remove();
    return element(
        "a",
        { href: `#${name}` },
        element("span", { class: "number" }, number?.textContent?.replace(". ", "") ?? ""),
        element("span", {}, ...title.childNodes),
    );
}
