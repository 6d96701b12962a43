// @ts-check
// The additional parts of the page `playground`: an optional second machine, a link to share, and
// puzzles.

import { element } from "../parts.mjs";
import { puzzles } from "./puzzles.mjs";

/**
 * @typedef {import("./words.mjs").Settings} Settings
 * @param {HTMLElement} place
 * @param {HTMLElement} live where the switches are
 * @param {{ read: () => Settings[], write: (machines: Settings[]) => void }} machines
 */
export function addToWhole(place, live, { read, write }) {
    const second = element("button", { type: "button" });
    const copy = element("button", { type: "button" }, "Copy the link to this");
    const said = element("span", { role: "status" });
    const name = () => {
        second.textContent =
            read().length > 1 ? "Train one machine" : "Train a second one beside it";
    };
    second.addEventListener("click", () => {
        const [first, other] = read();
        write(other ? [first] : [first, first]);
        name();
    });
    copy.addEventListener("click", async () => {
        try {
            await navigator.clipboard.writeText(location.href);
            said.textContent = "Copied.";
        } catch {
            said.textContent =
                "The browser does not allow it; the address of this page is the link.";
        }
    });
    const row = element("div", { class: "pg-above" }, second, copy, said);
    live.prepend(row);
    const switches = live.querySelector(".pg-tabled");
    const fold = element("details", { class: "pg-fold" }, element("summary", {}, "More switches"));
    fold.open = matchMedia("(min-width: 68rem)").matches; // there they do not push *Train* down
    switches?.before(fold);
    if (switches) fold.append(switches);
    name();
    place.classList.add("pg-whole");
    const brought = (/** @type {Settings[]} */ machines) => {
        write(machines);
        name();
    };
    row.prepend(puzzles(place, brought));
}
