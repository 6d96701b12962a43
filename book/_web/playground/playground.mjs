// @ts-check
// The playground: one or two machines, their switches, and figures of their training. Each chapter
// that asks a question about it has a playground; that of the page `playground` has all switches.

import { heldOut } from "../learning/held_out.mjs";
import { problems } from "../learning/settings.mjs";
import { button, element, slider } from "../parts.mjs";
import { read, written } from "./address.mjs";
import { controls } from "./controls.mjs";
import { editor } from "./editor.mjs";
import { frames } from "./frames.mjs";
import { percent, seen } from "./seen.mjs";
import { task } from "./task.mjs";
import { addToWhole } from "./whole.mjs";
import { names, OWN, SHARED } from "./words.mjs";

/**
 * @typedef {import("./words.mjs").Settings} Settings
 * @typedef {import("./words.mjs").Name} Name
 * @typedef {"before" | "running" | "stopped" | "after"} State
 */

/**
 * The steps in each frame (of sixty a second), and the name of the pace.
 * @type {[number, string][]}
 */
const PACES = [
    [1 / 16, "4 steps a second"],
    [1 / 4, "15 steps a second"],
    [1, "60 steps a second"],
    [4, "250 steps a second"],
    [0, "as fast as it can"],
];
/** The text of the large button. @type {Record<State, string>} */
const SAID = { before: "Train", running: "Stop", stopped: "Go on", after: "Train again" };
const WORKER = new URL("../learning/worker.mjs", import.meta.url);

/**
 * @param {HTMLElement} place
 * @param {number} number of the playground on its page
 */
export function playground(place, number) {
    const id = `playground-${number}`;
    const whole = place.dataset.switches === undefined;
    const asked = whole && location.search ? location.search : `${place.dataset.settings}`;
    const { machines: wanted, faults } = read(asked);
    let machines = wanted;
    /** @type {State} */
    let state = "before";
    /** @type {Worker | null} */
    let worker = null;
    /** @type {import("./seen.mjs").Ready | null} */
    let ready = null;
    /** @type {ReturnType<typeof seen>} */
    let shown;
    /** @type {number[][]} */
    let sequence = [];
    let step = 0;
    let pace = Number(place.dataset.pace);
    let diverged = "";
    const seeing = frames(draw);

    const told = element("div", { class: "pg-told" });
    const status = element("p", { class: "pg-said", role: "status" }, faults.join(" "));
    const counted = element("p", { class: "pg-step" });
    const pointed = element("p", { class: "pg-pointed", "aria-live": "polite" });
    const train = button("Train", () => PRESSED[state]());
    const anew = button("Start again", start);
    train.classList.add("pg-train");
    const edited = editor(id, look, say);
    const longer = element("div", { class: "pg-go" });
    const sight = element("div");
    const link = element(
        "a",
        { href: "playground.html" },
        "All switches of this in the playground",
    );
    const table = controls(id, machines, switches(), change);

    /** @param {string} text */
    function say(text) {
        status.textContent = text;
    }

    /** @param {number[][]} wanted */
    function look(wanted) {
        sequence = wanted;
        worker?.postMessage({ type: "look", sequence });
        say("");
    }

    /** @returns {Name[]} */
    function switches() {
        if (whole) return [...SHARED, ...OWN];
        return /** @type {Name[]} */ ((place.dataset.switches ?? "").split(" "));
    }

    function start() {
        worker?.terminate();
        worker = new Worker(WORKER, { type: "module" });
        worker.addEventListener("message", ({ data }) => HEARD[data.type](data));
        worker.addEventListener("error", () =>
            HEARD.failed({ sentence: "The machine could not be started in this browser." }),
        );
        build();
        [ready, step, diverged] = [null, 0, ""];
        seeing.clear();
        enter("running");
        // A run takes seconds, and on a phone its curves would be below the screen.
        if (shown.node.getBoundingClientRect().top > 0.6 * innerHeight) train.scrollIntoView();
        say(`Training: ${names(machines).join(" and ")}.`);
        worker.postMessage({ type: "start", machines, pace: PACES[pace][0] });
    }

    /** The action of the large button in each state. @type {Record<State, () => void>} */
    const PRESSED = {
        before: start,
        running: () => (ready ? worker?.postMessage({ type: "stop" }) : change(machines)),
        stopped() {
            enter("running");
            worker?.postMessage({ type: "go on" });
        },
        after: start,
    };

    /** The handlers of the worker's messages. @type {Record<string, (message: any) => void>} */
    const HEARD = {
        ready(message) {
            ready = message;
            shown.begin(message);
            edited.ready(true);
        },
        progress(message) {
            seeing.push(message);
        },
        stopped() {
            seeing.flush();
            enter("stopped");
            say(`Stopped at step ${step}. ${reached()}`);
        },
        ended() {
            seeing.flush();
            enter("after");
            say(`${diverged} After ${step} steps: ${reached()}`.trim());
            const accuracies = shown.last.map((one) => one?.whole ?? 0);
            place.dispatchEvent(new CustomEvent("learned", { detail: { machines, accuracies } }));
        },
        tried({ length, machines: all }) {
            const accuracies = all.map((/** @type {{ whole: number }} */ one) => one.whole);
            say(`On sequences of ${length} places: ${sentence(accuracies)}`);
        },
        refused({ problems: found }) {
            say(found.map((/** @type {{ sentence: string }} */ one) => one.sentence).join(" "));
        },
        failed({ sentence: text }) {
            worker?.terminate();
            worker = null;
            enter("before");
            say(text);
        },
    };

    /** @param {{ step: number, machines: import("./seen.mjs").Seen[] }[]} messages since the last frame */
    function draw(messages) {
        for (const one of messages) shown.note(one.step, one.machines);
        const last = messages[messages.length - 1];
        shown.show(last.machines, sequence);
        step = last.step;
        counted.textContent = `Step ${step} of ${machines[0].steps}`;
        diverged = last.machines.map((one) => one.sentence).join("");
        if (state !== "running") shown.rest(step); // the sequence of the maps has changed
    }

    /** @param {number[]} accuracies */
    function sentence(accuracies) {
        const each = names(machines).map((name, at) => `${name}, ${percent(accuracies[at])} right`);
        return `${each.join("; ")}. A guess would be right in ${percent(ready?.chance ?? 0)}.`;
    }

    const reached = () => sentence(shown.last.map((one) => one?.whole ?? 0));

    /** @param {State} now */
    function enter(now) {
        state = now;
        place.dataset.state = state;
        const found = machines.flatMap((one) => problems(one)).map((one) => one.sentence);
        train.disabled = found.length > 0;
        train.textContent = SAID[state];
        anew.hidden = state !== "running" && state !== "stopped";
        edited.ready(ready !== null);
        for (const one of longer.children)
            if (one instanceof HTMLButtonElement)
                one.disabled = state === "before" || state === "running";
        if (state === "stopped" || state === "after") shown.rest(step);
        if (found.length) say([...new Set(found)].join(" "));
    }

    /** @param {Settings[]} now */
    function change(now) {
        worker?.terminate();
        [worker, ready] = [null, null];
        seeing.clear();
        machines = now;
        say("");
        if (whole) history.replaceState(null, "", `?${written(machines)}`);
        build();
        enter("before");
    }

    function build() {
        const [first] = machines;
        sequence = machines.some((one) => problems(one).length)
            ? []
            : heldOut(first, first.length)[0];
        edited.show(first.task, sequence);
        told.replaceChildren(...task(first.task, sequence));
        counted.textContent = pointed.textContent = "";
        shown = seen(machines, sequence, (text) => {
            pointed.textContent = text;
        });
        sight.replaceChildren(shown.node, pointed, edited.node, longer, shown.more);
        link.search = written(machines);
        const lengths = (place.dataset.longer ?? "").split(" ").filter(Boolean);
        longer.replaceChildren(
            ...lengths.map((length) =>
                button(`Try it at ${length} places`, () =>
                    worker?.postMessage({ type: "try", length: Number(length) }),
                ),
            ),
        );
    }

    const sayPace = (/** @type {[number, string]} */ [, words]) => words;
    const speeds = slider(`${id}-pace`, "Pace", PACES, pace, sayPace, (chosen) => {
        pace = PACES.indexOf(chosen);
        worker?.postMessage({ type: "pace", pace: chosen[0] });
    });
    const live = element(
        "div",
        { class: "pg-live" },
        told,
        ...table.nodes,
        element("div", { class: "pg-go" }, train, counted, anew),
        element("div", { class: "play-sliders" }, ...speeds),
        status,
        sight,
    );
    build();
    enter("before");
    place.prepend(live);
    if (!whole) live.append(element("p", {}, link));
    /** @param {Settings[]} now */
    const write = (now) => {
        table.write(now);
        change(now);
    };
    if (whole) addToWhole(place, live, { read: () => machines, write });
}

if (typeof document !== "undefined")
    for (const [number, place] of [...document.querySelectorAll(".playground")].entries())
        if (place instanceof HTMLElement) playground(place, number);
