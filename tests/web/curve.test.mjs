// @ts-check
// Test how the numbers of a drawn curve are formatted.

import assert from "node:assert/strict";
import { test } from "node:test";

import { plain, shown } from "../../book/_web/curve.mjs";

test("a small number has a short form, and a description without an exponent", () => {
    assert.equal(shown(1e-8), "1e-8");
    assert.equal(plain(1e-8), "0.00000001");
});

test("whole numbers and shares are unchanged", () => {
    assert.equal(plain(20), "20");
    assert.equal(plain(0.5), "0.5");
    assert.equal(plain(0), "0");
});
