// @ts-check
// The switches: a row a setting, a column a machine. What changes nothing is greyed, and says why.

import { completed, idle, problems } from "../learning/settings.mjs";
import { element } from "../parts.mjs";
import { inWords, LABELS, OWN, offered, SHARED } from "./words.mjs";

/** @typedef {import("./words.mjs").Settings} Settings @typedef {import("./words.mjs").Name} Name */

/**
 * @param {string} id of its own on the page
 * @param {Settings[]} machines
 * @param {Name[]} switches those that are shown
 * @param {(machines: Settings[]) => void} changed
 */
export function controls(id, machines, switches, changed) {
    let now = machines;
    const node = element("div", { class: "pg-settings" });

    /** @param {number} at @param {Name} name @param {string | number | boolean} value */
    function set(at, name, value) {
        now = now.map((one, machine) => {
            if (machine !== at && !SHARED.includes(name)) return one;
            if (name !== "task") return { ...one, [name]: value };
            const { length: _, ...rest } = one; // each task has lengths of its own
            return completed({ ...rest, task: String(value) });
        });
        draw();
        document.getElementById(`${id}-${name}-${at}`)?.focus(); // the table is a new one
        changed(now);
    }

    /** @param {number} at @param {Name} name */
    function field(at, name) {
        const settings = now[at];
        const value = settings[name];
        const here = `${id}-${name}-${at}`;
        const still = problems(settings).length
            ? undefined
            : idle(settings).find((one) => one.field === name);
        const label =
            now.length > 1 && !SHARED.includes(name)
                ? `${LABELS[name]}, ${at ? "second" : "first"} machine`
                : LABELS[name];
        const kinds = {
            boolean: checkbox,
            number: name === "seed" ? number : select,
            string: select,
        };
        const input = kinds[/** @type {keyof typeof kinds} */ (typeof value)](
            /** @type {never} */ (value),
        );
        input.id = here;
        input.setAttribute("aria-label", label);
        input.disabled = still !== undefined;
        if (!still) return [input];
        input.setAttribute("aria-describedby", `${here}-why`);
        return [input, element("span", { class: "pg-why", id: `${here}-why` }, still.reason)];

        /** @param {boolean} on */
        function checkbox(on) {
            const made = element("input", { type: "checkbox" });
            made.checked = on;
            made.addEventListener("change", () => set(at, name, made.checked));
            return made;
        }

        /** @param {number} chosen */
        function number(chosen) {
            const made = element("input", { type: "number", value: chosen, min: 0, step: 1 });
            made.addEventListener("change", () => set(at, name, made.valueAsNumber));
            return made;
        }

        /** @param {string | number} chosen */
        function select(chosen) {
            const values = offered(name, settings);
            const made = element("select");
            made.append(
                ...values.map(
                    (one) => new Option(inWords(name, one), String(one), false, one === chosen),
                ),
            );
            made.addEventListener("change", () => set(at, name, values[made.selectedIndex]));
            return made;
        }
    }

    /** @param {Name} name */
    function row(name) {
        const shared = SHARED.includes(name);
        const cells = (shared ? [0] : [...now.keys()]).map((at) =>
            element("td", shared ? { colspan: now.length } : {}, ...field(at, name)),
        );
        return element("tr", {}, element("th", { scope: "row" }, LABELS[name]), ...cells);
    }

    function draw() {
        const rows = [...SHARED, ...OWN].filter((name) => switches.includes(name)).map(row);
        const heads = ["", "first machine", "second machine"].slice(0, now.length + 1);
        const head = element(
            "tr",
            {},
            ...heads.map((text, at) => element(at ? "th" : "td", at ? { scope: "col" } : {}, text)),
        );
        node.replaceChildren(
            element(
                "table",
                {},
                ...(now.length > 1 ? [element("thead", {}, head)] : []),
                element("tbody", {}, ...rows),
            ),
        );
    }

    draw();
    return {
        node,
        /** @param {Settings[]} wanted */
        write(wanted) {
            now = wanted;
            draw();
        },
    };
}
