// @ts-check
// The light or dark theme: the system's, until the reader chooses.

import { remove, set } from "./storage.mjs";

const root = document.documentElement;
const system = window.matchMedia("(prefers-color-scheme: dark)");

const shown = () => root.dataset.theme ?? (system.matches ? "dark" : "light");

/** Make the button in the bar switch to the other theme. */
export function chooseTheme() {
    const button = document.querySelector(".theme-button");
    if (!(button instanceof HTMLButtonElement)) return;
    const say = () => {
        const words = button.querySelector("span");
        if (words) words.textContent = shown() === "dark" ? "Light" : "Dark";
    };
    button.addEventListener("click", () => {
        const wanted = shown() === "dark" ? "light" : "dark";
        if (wanted === (system.matches ? "dark" : "light")) {
            delete root.dataset.theme;
            remove("theme");
        } else {
            root.dataset.theme = wanted;
            set("theme", wanted);
        }
        say();
    });
    system.addEventListener("change", say);
    say();
    button.hidden = false;
}
