// @ts-check
// Building blocks of interactive figures: elements, sliders and choices.

/** @typedef {Record<string, string | number>} Attributes */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Return an element of HTML.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {(Node | string)[]} children
 */
export function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
    made.append(...children);
    return made;
}

/**
 * Return an element of SVG.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {string} [text]
 */
export function drawn(tag, attributes, text) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
    if (text !== undefined) made.textContent = text;
    return made;
}

/** Return a button. @param {string} text @param {() => void} pressed */
export function button(text, pressed) {
    const made = element("button", { type: "button" }, text);
    made.addEventListener("click", pressed);
    return made;
}

/**
 * Return a labelled slider over `values`, with a text for each value.
 * @template Value
 * @param {string} id
 * @param {string} text
 * @param {Value[]} values
 * @param {number} start the index of the initial value
 * @param {(value: Value) => string} say
 * @param {(value: Value) => void} changed called with the new value
 */
export function slider(id, text, values, start, say, changed) {
    const output = element("output", { for: id }, say(values[start]));
    const input = element("input", {
        type: "range",
        id,
        min: 0,
        max: values.length - 1,
        value: start,
    });
    input.setAttribute("aria-valuetext", say(values[start]));
    input.addEventListener("input", () => {
        const value = values[input.valueAsNumber];
        output.textContent = say(value);
        input.setAttribute("aria-valuetext", say(value));
        changed(value);
    });
    return [element("label", { for: id }, `${text}: `, output), input];
}

/**
 * Return a question with a few answers, each as [value, text].
 * @param {string} name unique on the page
 * @param {string} text
 * @param {[string | number, string][]} values
 * @param {(value: string) => void} changed called with the new value
 * @param {number} start the index of the initial value
 */
export function choice(name, text, values, changed, start = 0) {
    const group = element("fieldset", { class: "play-choice" }, element("legend", {}, text));
    for (const [at, [value, words]] of values.entries()) {
        const input = element("input", { type: "radio", name, value });
        input.checked = at === start;
        input.addEventListener("change", () => changed(input.value));
        group.append(element("label", {}, input, words));
    }
    return group;
}

/**
 * Return a switch.
 * @param {string} text
 * @param {boolean} on whether it is on initially
 * @param {(on: boolean) => void} changed
 */
export function toggle(text, on, changed) {
    const input = element("input", { type: "checkbox" });
    input.checked = on;
    input.addEventListener("change", () => changed(input.checked));
    return element("label", { class: "play-switch" }, input, text);
}

/**
 * Return a task to solve with a figure, and the function that marks it as solved or not.
 * @param {...(Node | string)} text
 */
export function task(...text) {
    const sign = element("span", { class: "play-mark", role: "img" });
    const mark = (/** @type {boolean} */ solved) => {
        sign.classList.toggle("solved", solved);
        sign.setAttribute("aria-label", solved ? "solved" : "to do");
    };
    mark(false);
    return { node: element("li", {}, sign, element("span", {}, ...text)), mark };
}

/**
 * Return the data that the page has in place of a figure.
 * @param {Element} place
 */
export const dataOf = (place) => JSON.parse(place.querySelector("script")?.textContent ?? "");

/**
 * Return the table that the page has in place of a figure.
 * @param {Element} place
 */
export function tableOf(place) {
    const table = place.querySelector("table");
    if (table === null) throw new Error("a figure to play with has no table to stand for it");
    return table;
}

/**
 * Return an element for a value in a sentence.
 * @param {string} text
 */
export const strong = (text) => element("strong", {}, text);

/**
 * The id that an address leads to. What no browser can decode, such as `#100%`, stays as it is.
 * @param {string} hash with its "#"
 */
export function fragment(hash) {
    const id = hash.slice(1);
    try {
        return decodeURIComponent(id);
    } catch {
        return id;
    }
}
