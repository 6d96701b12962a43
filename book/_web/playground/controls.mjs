// @ts-check
// The switches. The shared settings and the bodies are on lines; the others are in a table with a
// row for each setting and a column for each machine. Settings without effect are greyed, and the
// row below says why.

import { completed, idle, problems } from "../learning/settings.mjs";
import { element } from "../parts.mjs";
import { inWords, LABELS, OWN, offered, SHARED } from "./words.mjs";

/** @typedef {import("./words.mjs").Settings} Settings @typedef {import("./words.mjs").Name} Name */

/**
 * @param {string} id unique on the page
 * @param {Settings[]} machines
 * @param {Name[]} switches the settings that are shown
 * @param {(machines: Settings[]) => void} changed
 */
export function controls(id, machines, switches, changed) {
    let now = machines;
    const lined = element("div", { class: "pg-settings pg-lined" });
    const tabled = element("div", { class: "pg-settings pg-tabled" });

    /** @param {number} at @param {Name} name @param {string | number | boolean} value */
    function set(at, name, value) {
        now = now.map((one, machine) => {
            if (machine !== at && !SHARED.includes(name)) return one;
            if (name !== "task") return { ...one, [name]: value };
            const { length: _, ...rest } = one; // lengths depend on the task
            return completed({ ...rest, task: String(value) });
        });
        draw();
        document.getElementById(`${id}-${name}-${at}`)?.focus(); // the table was replaced
        changed(now);
    }

    /**
     * Return why a switch has no effect in a machine, or undefined if it has one.
     * @param {number} at
     * @param {Name} name
     */
    const why = (at, name) =>
        problems(now[at]).length
            ? undefined
            : idle(now[at]).find((one) => one.field === name)?.reason;

    /** @param {number} at @param {Name} name */
    const called = (at, name) =>
        now.length > 1 && !SHARED.includes(name)
            ? `${LABELS[name]}, ${at ? "second" : "first"} machine`
            : LABELS[name];

    /**
     * @param {number} at
     * @param {Name} name
     * @param {string} [told] the id of the text that says why it is greyed
     */
    function field(at, name, told) {
        const settings = now[at];
        const value = settings[name];
        const kinds = {
            boolean: checkbox,
            number: name === "seed" ? number : select,
            string: select,
        };
        const input = kinds[/** @type {keyof typeof kinds} */ (typeof value)](
            /** @type {never} */ (value),
        );
        input.id = `${id}-${name}-${at}`;
        input.disabled = why(at, name) !== undefined;
        if (told) input.setAttribute("aria-label", called(at, name));
        if (told && input.disabled) input.setAttribute("aria-describedby", told);
        return input;

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
                    (one) => new Option(inWords(one), String(one), false, one === chosen),
                ),
            );
            made.addEventListener("change", () => set(at, name, values[made.selectedIndex]));
            return made;
        }
    }

    /** A setting on a line, after its name. @param {number} at @param {Name} name */
    const inLine = (at, name) =>
        element(
            "span",
            {},
            element("label", { for: `${id}-${name}-${at}` }, called(at, name)),
            field(at, name),
        );

    /**
     * Rows of the table; adjacent rows that are greyed for the same reason share the row that
     * states it.
     * @param {Name[]} names
     */
    function rows(names) {
        const reasons = names.map((name) => [
            ...new Set([...now.keys()].map((at) => why(at, name) ?? "").filter(Boolean)),
        ]);
        let told = "";
        return names.flatMap((name, place) => {
            const reason = reasons[place].join(" ");
            if (reason !== reasons[place - 1]?.join(" ")) told = `${id}-${name}-why`;
            const cells = [...now.keys()].map((at) => element("td", {}, field(at, name, told)));
            const row = element("tr", {}, element("th", { scope: "row" }, LABELS[name]), ...cells);
            if (!reason || reason === reasons[place + 1]?.join(" ")) return [row];
            const text = element(
                "td",
                { class: "pg-why", id: told, colspan: now.length + 1 },
                reason,
            );
            return [row, element("tr", {}, text)];
        });
    }

    function draw() {
        const inTable = OWN.filter((name) => name !== "body" && switches.includes(name));
        const lines = [
            ...SHARED.filter((name) => switches.includes(name)).map((name) => inLine(0, name)),
            ...(switches.includes("body") ? [...now.keys()].map((at) => inLine(at, "body")) : []),
        ];
        const heads = ["first machine", "second machine"].map((text) =>
            element("th", { scope: "col" }, text),
        );
        const head = element("tr", {}, element("td"), ...heads);
        const table = element(
            "table",
            {},
            ...(now.length > 1 ? [element("thead", {}, head)] : []),
            element("tbody", {}, ...rows(inTable)),
        );
        lined.replaceChildren(...lines);
        tabled.replaceChildren(...(inTable.length ? [table] : []));
    }

    draw();
    return {
        nodes: [lined, tabled],
        /** @param {Settings[]} wanted */
        write(wanted) {
            now = wanted;
            draw();
        },
    };
}
