// @ts-check
// Test the reader's progress as derived from the stored keys.

import assert from "node:assert/strict";
import { test } from "node:test";

import { standing, summary } from "../../book/_web/done.mjs";

const done = summary([
    "exercise:cost/attention_flops",
    "exercise:cost/11",
    "quiz:cost/quiz-cost-double",
    "quiz:cost/quiz-cost-cache",
    "quiz:cost_appendix/quiz-other",
    "read:cost",
    "theme",
]);

test("a page is either read or not", () => {
    assert.equal(done.read("cost"), true);
    assert.equal(done.read("cost_appendix"), false);
});

test("quizzes and exercises count only for their own page", () => {
    assert.equal(done.quizzes("cost"), 2);
    assert.equal(done.exercises("cost"), 2);
    assert.equal(done.exercises("alignment"), 0);
});

test("a written question is not counted among the checked exercises", () => {
    assert.equal(done.checked("cost"), 1);
});

test("an exercise is right if it is ticked, and tried if an answer is stored", () => {
    const answers = { sources: { mean: "", scale: "x" } };
    assert.equal(standing("mean", true, answers), "right");
    assert.equal(standing("mean", false, answers), "tried");
    assert.equal(standing("other", false, answers), "");
    for (const broken of [null, 5, { sources: null }])
        assert.equal(standing("mean", false, broken), "");
});
