// @ts-check
// What the reader has done, told from the keys that are kept.

import assert from "node:assert/strict";
import { test } from "node:test";

import { summary } from "../../book/_web/done.mjs";

const done = summary([
    "exercise:cost/attention_flops",
    "quiz:cost/quiz-cost-double",
    "quiz:cost/quiz-cost-cache",
    "quiz:cost_appendix/quiz-other",
    "read:cost",
    "theme",
]);

test("a page is read or not", () => {
    assert.equal(done.read("cost"), true);
    assert.equal(done.read("cost_appendix"), false);
});

test("quizzes and exercises count for their own page alone", () => {
    assert.equal(done.quizzes("cost"), 2);
    assert.equal(done.exercises("cost"), 1);
    assert.equal(done.exercises("alignment"), 0);
});
