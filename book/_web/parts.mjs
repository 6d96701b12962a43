// @ts-check
// What the figures to play with are made of: elements, sliders and choices.

/** @typedef {Record<string, string | number>} Attributes */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element of HTML.
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
 * An element of SVG.
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

/** A button. @param {string} text @param {() => void} pressed */
export function button(text, pressed) {
    const made = element("button", { type: "button" }, text);
    made.addEventListener("click", pressed);
    return made;
}

/**
 * A labelled slider over `values`, and what is said of each.
 * @template Value
 * @param {string} id
 * @param {string} text
 * @param {Value[]} values
 * @param {number} start the place of the first value among them
 * @param {(value: Value) => string} say
 * @param {(value: Value) => void} changed is called with the new value
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
 * A question with a few answers, [value, text] each, of which the first is chosen at first.
 * @param {string} name of its own on the page
 * @param {string} text
 * @param {[string | number, string][]} values
 * @param {(value: string) => void} changed is called with the new value
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
 * The data that stand in the page, in the place of a figure.
 * @param {Element} place
 */
export const dataOf = (place) => JSON.parse(place.querySelector("script")?.textContent ?? "");

/**
 * The table that stands in the page, in the place of a figure.
 * @param {Element} place
 */
export function tableOf(place) {
    const table = place.querySelector("table");
    if (table === null) throw new Error("a figure to play with has no table to stand for it");
    return table;
}

/**
 * A value in a sentence.
 * @param {string} text
 */
export const strong = (text) => element("strong", {}, text);
