// @ts-check
// The script of every page: the reader's choice of light or dark, the mark at the section that is
// being read, copy buttons, and formulas that the keyboard can scroll.

import { offerCopies } from "./copy.mjs";
import { fragment } from "./parts.mjs";
import "./progress.mjs";
import { chooseTheme } from "./theme.mjs";

/** Let the keyboard reach boxes that scroll because their content is wider than the page. */
function reachable() {
    for (const box of document.querySelectorAll(
        "mjx-container[display], .table-scroll, .figure-scroll, pre",
    )) {
        if (!(box instanceof HTMLElement)) continue;
        if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
        else box.removeAttribute("tabindex");
    }
}

/** Mark in the contents the section at the top of the window. */
function followSections() {
    const links = new Map();
    for (const link of document.querySelectorAll(".contents-sections a"))
        links.set(fragment(link.getAttribute("href") ?? ""), link);
    const sections = [...links.keys()].flatMap((name) => document.getElementById(name) ?? []);
    const seen = new IntersectionObserver(
        () => {
            const above = sections.filter((one) => one.getBoundingClientRect().top < 200);
            for (const link of links.values()) link.removeAttribute("aria-current");
            links.get(above.at(-1)?.id)?.setAttribute("aria-current", "true");
        },
        { rootMargin: "-200px 0px 0px", threshold: [0, 0.01, 1] },
    );
    for (const section of sections) seen.observe(section);
}

/** Scroll the contents, and nothing else, to the page that is being read. */
function showCurrent() {
    const contents = document.querySelector(".contents");
    const current = contents?.querySelector("[aria-current='page']");
    if (!(contents instanceof HTMLElement) || !(current instanceof HTMLElement)) return;
    const below = current.offsetTop - contents.clientHeight / 2;
    if (below > 0) contents.scrollTop = below;
}

chooseTheme();
followSections();
offerCopies();
showCurrent();

window.addEventListener("load", reachable);
window.addEventListener("resize", reachable);
