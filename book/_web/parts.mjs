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
 * Return a question with a few answers, each as [value, text]. The first is selected initially.
 * @param {string} name unique on the page
 * @param {string} text
 * @param {[string | number, string][]} values
 * @param {(value: string) => void} changed called with the new value
 */
export function choice(name, text, values, changed) {
    const group = element("fieldset", { class: "play-choice" }, element("legend", {}, text));
    for (const [at, [value, words]] of values.entries()) {
        const input = element("input", { type: "radio", name, value });
        input.checked = at === 0;
        input.addEventListener("change", () => changed(input.value));
        group.append(element("label", {}, input, words));
    }
    return group;
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
