// @ts-check
// Chapter 10's GPT, which writes in the page, and where its heads look. The page has its readings of
// a few texts (book/_ext/course_writer.py); the reader's button fetches the model.

import { choice, dataOf, element, strong, task, toggle } from "../parts.mjs";
import { sampler } from "../sampler.mjs";
import { moved, ranked } from "../sampling.mjs";
import { arriving } from "./arriving.mjs";
import { GPT } from "./gpt.mjs";
import { distance, headName, most } from "./head_looks.mjs";
import { fetched } from "./weights.mjs";
import { wordChoice } from "./word_choice.mjs";

/** @typedef {import("./gpt.mjs").Reading} Reading */
/** @typedef {Reading & { text: string, ids: number[] }} Beginning */
/** @typedef {{ names: string[], heads: number, kB: number, beginnings: Beginning[] }} Data */

const MODEL = new URL("gpt.model", import.meta.url);
const SHOWN = 2;

/** @param {HTMLElement} place @param {number} number of the figure on its page */
function writer(place, number) {
    /** @type {Data} */
    const { names, heads, kB, beginnings } = dataOf(place);
    const tokens = names.map((name) => name.replaceAll(" ", "␣"));
    const id = `writer-${number}`;
    /** @type {GPT | null} */
    let gpt = null;
    let ids = beginnings[0].ids;
    /** The tokens of the beginning; the others are the model's own. */
    let given = ids.length;
    let at = ids.length - 1;
    let head = 0;
    /** The blocks whose heads look evenly, and those that were tried on this text. */
    const even = /** @type {Set<number>} */ (new Set());
    const tried = /** @type {Set<number>} */ (new Set());
    const idle = task(
        "Let one block after the other look evenly at the same text. With which does hardly any probability move?",
    );
    const needed = task(
        "Find a text in which an even look of block 2 alone changes the likeliest next token.",
    );
    const change = element("p", { class: "play-told", role: "status" });
    /** @type {Reading} */
    let reading = beginnings[0];

    const next = sampler(id, tokens);
    const text = wordChoice(
        `${id}-token`,
        "Point at a token, or choose one. The darker another, the more of the head’s look it gets.",
        (chosen) => {
            at = chosen;
            showLooks();
        },
    );
    const rows = reading.looks.map((_, one) => headRow(one));
    const told = element("p", { class: "play-told writer-told", role: "status" });
    const table = element(
        "table",
        { class: "writer-heads" },
        element(
            "thead",
            {},
            element(
                "tr",
                {},
                ...["head", "looks most at", "weight", "then at", "weight"].map((name) =>
                    element("th", { scope: "col" }, name),
                ),
            ),
        ),
        element("tbody", {}, ...rows.map(({ row }) => row)),
    );

    /** @param {number} one */
    function headRow(one) {
        const input = element("input", { type: "radio", name: `${id}-head`, value: one });
        input.checked = one === head;
        input.addEventListener("change", () => {
            head = one;
            showLooks();
        });
        const label = element("label", {}, input, headName(one, heads));
        const cells = Array.from({ length: 2 * SHOWN }, () => element("td"));
        const row = element("tr", {}, element("th", { scope: "row" }, label), ...cells);
        return { row, cells };
    }

    /** Show where the heads look from the chosen token. */
    function showLooks() {
        for (const [one, { row, cells }] of rows.entries()) {
            const seen = most(reading.looks[one][at], SHOWN);
            row.classList.toggle("chosen", one === head);
            for (let rank = 0; rank < SHOWN; rank++) {
                const token = seen[rank];
                const where = token && [
                    element("code", {}, tokens[ids[token.at]]),
                    ` ${distance(at - token.at)}`,
                ];
                cells[2 * rank].replaceChildren(...(where ?? ["–"]));
                cells[2 * rank + 1].textContent = token ? token.weight.toFixed(2) : "–";
            }
        }
        const weights = reading.looks[head][at];
        for (const [one, span] of [...text.place.querySelectorAll("label span")].entries())
            if (span instanceof HTMLElement)
                span.style.setProperty("--share", (weights[one] ?? 0).toFixed(3));
        told.textContent = `${headName(head, heads)}: from “${tokens[ids[at]]}” it looks ${share(weights)}.`;
    }

    /** Say where a look goes. @param {number[]} weights */
    function share(weights) {
        const [first] = most(weights, 1);
        const weight = first.weight.toFixed(2);
        return even.has(Math.floor(head / heads))
            ? `evenly at the tokens so far, ${weight} for each`
            : `most at “${tokens[ids[first.at]]}”, ${distance(at - first.at)}, with ${weight}`;
    }

    /** Show a text, and look from its last token. @param {number[]} of @param {Reading} [kept] */
    function show(of, kept) {
        const read = kept ?? gpt?.read(of, even);
        if (!read) return;
        if (String(of) !== String(ids)) tried.clear();
        [ids, reading, at] = [of, read, of.length - 1];
        next.show(reading.logits);
        const words = ids.map((one) => tokens[one]);
        text.show(
            words,
            words.map((_, one) => one >= given),
            "writer-own",
            at,
        );
        showLooks();
        if (gpt) showChange(gpt.read(ids).logits);
    }

    /** Say what the even looks change. @param {number[]} before the logits without them */
    function showChange(before) {
        change.replaceChildren();
        if (!even.size) return;
        const after = reading.logits;
        const blocks = [...even].sort().map((block) => block + 1);
        const other = ranked(before)[0] !== ranked(after)[0];
        change.append(
            `With even looks in block ${blocks.join(" and ")}, `,
            strong(moved(before, after).toFixed(2)),
            " of the probability moves to other tokens, and the likeliest token is ",
            other ? "another one." : "the same.",
        );
        if (even.size > 1) return;
        tried.add(blocks[0]);
        if (tried.size === 2) idle.mark(true);
        if (other && even.has(1)) needed.mark(true);
    }

    /** @param {number} one of the beginnings */
    function begin(one) {
        given = beginnings[one].ids.length;
        show(beginnings[one].ids, beginnings[one]);
    }

    /** Look from a token. @param {number} from */
    function look(from) {
        const input = text.place.querySelectorAll("input")[from];
        if (!input || input.checked) return;
        input.checked = true;
        at = from;
        showLooks();
    }
    text.place.addEventListener("pointermove", ({ target }) => {
        const label = target instanceof Element ? target.closest("label") : null;
        const input = label?.querySelector("input");
        if (input) look(Number(input.value));
    });

    const texts = beginnings.map(
        ({ text: words }, one) => /** @type {[number, string]} */ ([one, words]),
    );
    const after = choice(`${id}-beginning`, "After", texts, (one) => begin(Number(one)));
    const go = place.querySelector(".live-go");
    const actions = element("div", { class: "play-actions" });
    place.querySelector(".writer-kept")?.replaceWith(after);
    go?.after(...next.nodes, actions, text.place, table, told);
    begin(0);

    arriving(
        place,
        "model",
        kB,
        async () => new GPT(await fetched(MODEL)),
        (model, stage) => {
            gpt = model;
            after.remove();
            stage.append(...writing(model));
        },
    );

    /** Return the field of the beginning, and show the buttons. @param {GPT} model */
    function writing(model) {
        const said = element("p", { class: "live-said", role: "status" });
        const input = element("input", {
            type: "text",
            id: `${id}-text`,
            value: model.tokens.decode(ids),
        });
        const write = (/** @type {number} */ count) => () => {
            for (let one = 0; one < count && ids.length < model.longest; one++)
                show([...ids, next.draw(Math.random())]);
            update();
        };
        const one = element("button", { type: "button" }, "Write a token");
        const ten = element("button", { type: "button" }, "Write ten");
        const back = element("button", { type: "button" }, "Back to the beginning");
        one.addEventListener("click", write(1));
        ten.addEventListener("click", write(10));
        back.addEventListener("click", read);
        input.addEventListener("input", read);

        function read() {
            const all = model.tokens.encode(input.value);
            if (all.length) {
                const kept = all.slice(0, model.longest - 1);
                given = kept.length;
                show(kept);
            }
            update(all.length);
        }

        /** @param {number} [typed] the number of tokens of the beginning */
        function update(typed = given) {
            const full = ids.length === model.longest;
            one.disabled = ten.disabled = full || typed === 0;
            back.disabled = ids.length === given;
            said.textContent =
                typed === 0
                    ? "The model needs something to continue."
                    : typed > given
                      ? `This is ${typed} tokens; the model has ${model.longest} positions, and reads the first ${given}.`
                      : full
                        ? `${ids.length} tokens: there are no more positions.`
                        : "";
        }
        update();
        actions.append(one, ten, back);
        const switches = [0, 1].map((block) =>
            toggle(`Block ${block + 1} looks evenly`, false, (on) => {
                if (on) even.add(block);
                else even.delete(block);
                const from = at;
                show(ids);
                look(from);
            }),
        );
        return [
            element("ul", { class: "play-tasks" }, idle.node, needed.node),
            element("label", { for: input.id }, "Begin with"),
            input,
            said,
            element("div", { class: "play-actions" }, ...switches),
            change,
        ];
    }
}

for (const [number, place] of [...document.querySelectorAll("div.writer")].entries())
    if (place instanceof HTMLElement) writer(place, number);
