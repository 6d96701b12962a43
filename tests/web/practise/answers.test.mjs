// @ts-check
// Test that answers are stored by one tab at a time, and that no typed text is lost.

import assert from "node:assert/strict";
import { test } from "node:test";

import { AnswerStore } from "../../../book/_web/practise/answers.mjs";
import { merge, noAnswers } from "../../../book/_web/practise/kept.mjs";
import { browser, clock, settled } from "./browser.mjs";
import { released, STUB } from "./notebooks.mjs";

const KEY = "course:practise:toys";
const TICK = "course:exercise:toys/mean";
const time = clock();

/** @param {ReturnType<typeof browser>} within */
async function openTab(within, edition = "1") {
    const tab = within.open();
    const store = tab.run(() => new AnswerStore("toys", edition, released()));
    /** @type {string[]} */
    const states = [];
    let shown = 0;
    store.on("state", (state) => states.push(state));
    store.on("answers", () => {
        shown += 1;
    });
    await settled();
    return { ...tab, store, states, shown: () => shown };
}

/** @param {ReturnType<typeof browser>} within */
const storedAnswers = (within) => JSON.parse(within.shared.data[KEY] ?? "null");

/** @param {string} source */
const withMean = (source) => ({ ...noAnswers("1"), sources: { mean: source } });

test("a change is stored after a pause, and a cell that equals the release is not stored", async () => {
    const sharedBrowser = browser();
    const { store, run } = await openTab(sharedBrowser);
    run(() => store.set("mean", "a"));
    await time.pass(200);
    run(() => store.set("mean", "ab"));
    await time.pass(200);
    assert.equal(storedAnswers(sharedBrowser), null);
    await time.pass(100);
    assert.deepEqual(storedAnswers(sharedBrowser), withMean("ab"));
    run(() => store.set("mean", STUB));
    await time.pass(300);
    assert.deepEqual(storedAnswers(sharedBrowser).sources, {});
    assert.equal(store.source("mean"), STUB);
});

test("the answers are stored at once on leaving or hiding the page, and by a check", async () => {
    const sharedBrowser = browser();
    const { store, run } = await openTab(sharedBrowser);
    run(() => store.set("mean", "a"));
    run(() => window.dispatchEvent(new Event("pagehide")));
    assert.equal(storedAnswers(sharedBrowser).sources.mean, "a");
    run(() => store.set("mean", "b"));
    run(() => document.dispatchEvent(new Event("visibilitychange")));
    assert.equal(storedAnswers(sharedBrowser).sources.mean, "b");
    run(() => store.set("mean", "c"));
    run(() => store.flush());
    assert.equal(storedAnswers(sharedBrowser).sources.mean, "c");
    assert.deepEqual(
        (await openTab(browser({ kept: sharedBrowser.shared.data }))).store.answers,
        withMean("c"),
    );
});

test("full and forbidden storage are reported, and leaving causes a warning", async () => {
    const sharedBrowser = browser();
    const { store, run, states } = await openTab(sharedBrowser);
    const leave = () =>
        run(() => !window.dispatchEvent(new Event("beforeunload", { cancelable: true })));
    sharedBrowser.shared.capacity = 200;
    run(() => store.set("mean", "x".repeat(500)));
    await time.pass(300);
    assert.equal(store.answers.sources.mean.length, 500);
    assert.equal(leave(), true);
    run(() => store.set("mean", "x"));
    await time.pass(300);
    assert.equal(leave(), false);
    sharedBrowser.shared.forbidden = true;
    run(() => store.set("mean", "y"));
    await time.pass(300);
    assert.deepEqual(states, ["full", "kept", "forbidden"]);
    const other = await openTab(sharedBrowser);
    assert.equal(other.store.state, "forbidden");
    other.run(() => other.store.set("mean", "z"));
    assert.equal(other.store.answers.sources.mean, "z");
});

test("own cells can be added below a cell, changed and removed", async () => {
    const { store, run } = await openTab(browser());
    const [later, first] = run(() => [store.addOwn("mean"), store.addOwn("mean")]);
    const below = run(() => store.addOwn(first));
    run(() => store.setOwn(below, "1"));
    run(() => store.noteRun(below));
    run(() => store.removeOwn(first));
    assert.deepEqual(store.answers.own, [
        { id: below, after: "mean", source: "1" },
        { id: later, after: "mean", source: "" },
    ]);
    assert.deepEqual(store.answers.ran, [below]);
    run(() => store.removeOwn(below));
    assert.deepEqual(store.answers.ran, []);
});

test("a right answer ticks the exercise, and a wrong one removes only that tick", async () => {
    const sharedBrowser = browser();
    const { store, run } = await openTab(sharedBrowser);
    run(() => store.noteCheck("mean", true));
    assert.ok(sharedBrowser.shared.data[TICK]);
    assert.equal(storedAnswers(sharedBrowser).verdicts.mean, "right");
    run(() => store.noteCheck("mean", false));
    assert.equal(TICK in sharedBrowser.shared.data, false);
    sharedBrowser.shared.data[TICK] = "true"; // by hand
    run(() => store.noteCheck("mean", true));
    run(() => store.reset("mean"));
    assert.equal(sharedBrowser.shared.data[TICK], "true");
    assert.deepEqual(storedAnswers(sharedBrowser).verdicts, {});
    run(() => store.noteCheck("scale", true));
    run(() => store.clear());
    assert.deepEqual(Object.keys(sharedBrowser.shared.data), [TICK]);
});

for (const locks of [true, false]) {
    const how = locks ? "with locks" : "without locks";

    test(`a second tab is read-only until it takes over, ${how}`, async () => {
        const sharedBrowser = browser({ locks });
        const first = await openTab(sharedBrowser);
        const second = await openTab(sharedBrowser);
        await settled();
        assert.deepEqual([first.store.state, second.store.state], ["kept", "elsewhere"]);
        first.run(() => first.store.set("mean", "first"));
        await time.pass(300);
        assert.equal(second.store.source("mean"), "first");
        second.run(() => second.store.set("mean", "second"));
        await time.pass(300);
        assert.equal(storedAnswers(sharedBrowser).sources.mean, "first");

        first.run(() => first.store.set("mean", "typed and not yet written"));
        second.run(() => second.store.takeOver());
        await settled();
        assert.deepEqual([first.store.state, second.store.state], ["elsewhere", "kept"]);
        assert.equal(second.store.source("mean"), "typed and not yet written");
        assert.deepEqual(second.store.answers.aside, [{ cell: "mean", source: "second" }]);
        second.run(() => second.store.set("mean", "second"));
        await time.pass(300);
        assert.equal(first.store.source("mean"), "second");

        first.run(() => first.store.takeOver());
        await settled();
        assert.deepEqual([first.store.state, second.store.state], ["kept", "elsewhere"]);
        assert.equal(Object.keys(sharedBrowser.shared.data).join(), KEY);
    });

    test(`a frozen tab loses its turn, and overwrites nothing when it wakes, ${how}`, async () => {
        const sharedBrowser = browser({ locks });
        const first = await openTab(sharedBrowser);
        const second = await openTab(sharedBrowser);
        await settled();
        first.run(() => first.store.set("mean", "first"));
        first.freeze();
        second.run(() => second.store.takeOver());
        await settled();
        assert.equal(second.store.state, "elsewhere");
        await time.pass(999);
        assert.equal(second.store.state, "elsewhere");
        await time.pass(1);
        assert.equal(second.store.state, "kept");
        if (locks) assert.equal(first.store.state, "elsewhere");
    });
}

test("text that another tab stored out of turn is not overwritten", async () => {
    const sharedBrowser = browser();
    const { store, run } = await openTab(sharedBrowser);
    run(() => store.set("mean", "here"));
    sharedBrowser.shared.data[KEY] = JSON.stringify({ ...withMean("there"), own: [] });
    await time.pass(300);
    assert.deepEqual(storedAnswers(sharedBrowser), {
        ...withMean("there"),
        aside: [{ cell: "mean", source: "here" }],
    });
});

test("a waiting tab gets its turn when the other tab is closed", async () => {
    const sharedBrowser = browser();
    const first = await openTab(sharedBrowser);
    const second = await openTab(sharedBrowser);
    first.run(() => first.store.set("mean", "last words"));
    await first.close();
    assert.equal(second.store.state, "kept");
    assert.equal(second.store.source("mean"), "last words");
});

test("without locks only one of several restored tabs may write", async () => {
    const sharedBrowser = browser({ locks: false });
    const tabs = [sharedBrowser.open(), sharedBrowser.open(), sharedBrowser.open()];
    const stores = tabs.map((tab) => tab.run(() => new AnswerStore("toys", "1", released())));
    await settled();
    assert.equal(stores.filter((store) => store.state === "kept").length, 1);
});

test("answers of another edition without a cell are set aside, never deleted", async () => {
    const old = { ...withMean("mine"), edition: "0", aside: [{ cell: "older", source: "0" }] };
    const sources = { ...old.sources, gone: "of the old edition", scale: 5 };
    const own = [{ id: "own-1", after: "gone", source: "1" }, { id: 5 }];
    const strange = {
        ...old,
        sources,
        own,
        ran: ["gone"],
        verdicts: { gone: "right", mean: "no" },
    };
    const sharedBrowser = browser({ kept: { [KEY]: JSON.stringify(strange) } });
    const { store, run } = await openTab(sharedBrowser);
    const expected = {
        ...withMean("mine"),
        own: [own[0]],
        aside: [
            { cell: "gone", source: "of the old edition" },
            { cell: "older", source: "0" },
        ],
    };
    assert.deepEqual(store.answers, expected);
    run(() => store.set("why", "So."));
    await time.pass(300);
    assert.deepEqual(storedAnswers(sharedBrowser), {
        ...expected,
        sources: { mean: "mine", why: "So." },
    });
});

test("foreign data under the key of the answers does no harm", async () => {
    for (const text of ["{", "5", "[]", '{"sources": 5, "own": {}, "ran": "x"}'])
        assert.deepEqual(
            (await openTab(browser({ kept: { [KEY]: text } }))).store.answers,
            noAnswers("1"),
        );
});

test("a page learns that its answers were deleted elsewhere, and stores the next change", async () => {
    const sharedBrowser = browser();
    const page = await openTab(sharedBrowser);
    const front = sharedBrowser.open();
    page.run(() => page.store.set("mean", "mine"));
    await time.pass(300);
    front.run(() => localStorage.removeItem(KEY));
    await settled();
    assert.equal(page.store.state, "deleted");
    assert.equal(page.store.source("mean"), "mine");
    await time.pass(1000);
    page.run(() => window.dispatchEvent(new Event("pagehide")));
    assert.equal(storedAnswers(sharedBrowser), null);
    page.run(() => page.store.set("mean", "mine again"));
    await time.pass(300);
    assert.equal(storedAnswers(sharedBrowser).sources.mean, "mine again");
    assert.deepEqual(page.states, ["deleted", "kept"]);
    front.run(() => localStorage.clear());
    await settled();
    assert.equal(page.store.state, "deleted");
});

test("an opened notebook replaces different answers and names them", async () => {
    const here = {
        ...withMean("here"),
        own: [{ id: "a", after: "mean", source: "1" }],
        ran: ["mean", "scale"],
        verdicts: /** @type {const} */ ({ mean: "right", scale: "right" }),
    };
    const opened = {
        sources: { mean: "file", why: "So." },
        own: [
            { id: "a", after: "mean", source: "2" },
            { id: "b", after: "scale", source: "2" },
            { id: "c", after: "scale", source: "3" },
        ],
        aside: [{ cell: "gone", source: "0" }],
    };
    const { merged, replaced } = merge(here, opened);
    assert.deepEqual(replaced, ["mean", "a cell of your own"]);
    assert.deepEqual(merged, {
        edition: "1",
        sources: { mean: "file", why: "So." },
        own: [
            { id: "a", after: "mean", source: "2" },
            { id: "c", after: "scale", source: "3" },
        ],
        ran: ["scale"],
        verdicts: { scale: "right" },
        aside: [{ cell: "gone", source: "0" }],
    });
    assert.deepEqual(merge(merged, opened).replaced, []);
    assert.deepEqual(merge(merged, opened).merged, merged);

    const sharedBrowser = browser();
    const { store, run, shown } = await openTab(sharedBrowser);
    run(() => store.noteCheck("mean", true));
    run(() => store.replace(merged));
    assert.equal(TICK in sharedBrowser.shared.data, false);
    assert.equal(storedAnswers(sharedBrowser).sources.mean, "file");
    assert.equal(shown(), 1);
});
