// @ts-check
// Test the three arrows to drag: where a tip may go, the task, the sentence, and the picture.

import assert from "node:assert/strict";
import { test } from "node:test";

import { allowed, described, looksAway } from "../../book/_web/arrows.mjs";
import { spread, view } from "../../book/_web/arrows_drawing.mjs";
import { selfAttention } from "../../book/_web/small_attention.mjs";

test("a tip moves in steps of a tenth, and stays in the picture", () => {
    assert.equal(allowed(1.26, 0), 1.3);
    assert.equal(allowed(0.1 + 0.2, 0), 0.3);
    assert.equal(allowed(99, 0), 3);
    assert.equal(allowed(-99, 0), -3);
    assert.equal(allowed(99, 1), 2);
    assert.equal(allowed(Number.NaN, 0), 0);
});

test("x2 gives more to x1 exactly inside the circle that has x1 as its diameter", () => {
    for (const x1 of [
        [2, 0],
        [-1.2, 1.6],
    ])
        for (let x = -3; x <= 3; x += 0.25)
            for (let y = -2; y <= 2; y += 0.25) {
                const middle = x1.map((value) => value / 2);
                const from = Math.hypot(x - middle[0], y - middle[1]) - Math.hypot(...middle);
                if (Math.abs(from) < 1e-6) continue; // on the circle
                const weights = selfAttention([x1, [x, y], [-1, 1]], false).weights[1];
                assert.equal(looksAway(x1, [x, y]), from < 0);
                assert.equal(weights[0] > weights[1], from < 0);
            }
});

test("at the start x2 looks at x1 as much as at itself", () => {
    assert.equal(looksAway([2, 0], [1, 1]), false);
    assert.equal(looksAway([2, 0], [1, 0.9]), true);
});

test("the sentence says where the weights of a token go", () => {
    assert.equal(
        described([0.47, 0.471, 0.06], 1),
        "x2 gives 0.47 to x1, 0.47 to itself and 0.06 to x3.",
    );
});

test("a place in the picture is the point that it came from, at every length", () => {
    for (const factor of [0.2, 1, 3]) {
        const { place, point } = view(factor);
        const [x, y] = place([1.5, -0.5]);
        const back = point([x / 480, y / 320]);
        assert.ok(Math.hypot(back[0] - 1.5, back[1] + 0.5) < 1e-9);
        const corner = place([3 * factor, 2 * factor]);
        assert.ok(corner[0] <= 480 && corner[1] >= 0, "the longest arrow is in the picture");
    }
});

test("names that would cover each other stand side by side", () => {
    const places = spread([
        [100, 50],
        [100, 50],
        [102, 55],
        [100, 90],
    ]);
    assert.deepEqual(places[0], [100, 50]);
    assert.deepEqual(places[3], [100, 90]);
    assert.ok(places[1][0] >= 118 && places[2][0] >= places[1][0] + 18);
});
