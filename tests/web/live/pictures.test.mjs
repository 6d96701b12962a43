// Test the rules of composed pictures on hand-made cases. tests/book/test_live_pictures.py compares
// many pictures with the Python pictures.

import assert from "node:assert/strict";
import { test } from "node:test";
import { painted } from "../../../book/_web/live/painting.mjs";
import { LAYOUTS } from "../../../book/_web/live/pictures.mjs";
import { seeing } from "../../../book/_web/live/seeing.mjs";
import { pictures } from "./facts.mjs";

/** @param {string} name @param {number} top @param {number} left @param {number} [size] */
function shape(name, top, left, size = 13) {
    const [colour, kind] = name.split(" ");
    return { colour, kind, top, left, size };
}

const circle = shape("red circle", 2, 4);
const square = shape("blue square", 20, 5);

test("the upper shape comes first in the caption, whatever the order in the scene", () => {
    const right = "a red circle above a blue square".split(" ");
    assert.deepEqual(pictures.caption([circle, square]), right);
    assert.deepEqual(pictures.caption([square, circle]), right);
});

for (const [at, layout] of LAYOUTS.entries())
    test(`layout ${at}, “${layout.join(", ")}”, has the caption that it names`, () => {
        const all = [circle, square, shape("green cross", 0, 0)].slice(0, layout.length + 1);
        const scene = pictures.laidOut(all, layout);
        assert.equal(pictures.fault(scene), "");
        assert.ok(pictures.straight(scene));
        assert.deepEqual(pictures.read(scene)?.relations, layout);
        assert.deepEqual(pictures.read(scene)?.shapes, scene);
    });

for (const [told, scene] of /** @type {[RegExp, typeof circle[]][]} */ ([
    [/one colour/, [circle, shape("red square", 20, 5)]],
    [/ends here/, [circle, shape("blue square", 36, 5)]],
    [/ends here/, [shape("red circle", 2, -1), square]],
    [/11 to 19 pixels/, [circle, shape("blue square", 20, 5, 20)]],
    [/too close/, [circle, shape("blue square", 16, 5)]],
    [/too close/, [circle, shape("blue square", 4, 6)]],
    [/neither above nor left/, [circle, shape("blue square", 20, 25)]],
    [/round one corner/, [circle, shape("blue square", 17, 5), shape("green cross", 32, 6)]],
    [/round one corner/, [circle, shape("blue square", 17, 14), shape("green cross", 32, 24)]],
    [/round one corner/, [circle, square, shape("green cross", 34, 30)]],
]))
    test(`no caption describes ${scene.map(({ kind }) => kind)} at ${scene.map(({ top }) => top)}`, () => {
        assert.match(pictures.fault(scene), told);
    });

test("a scene with a shape far out of line has a caption, but is not straight", () => {
    const scene = [circle, shape("blue square", 20, 14)];
    assert.equal(pictures.fault(scene), "");
    assert.ok(!pictures.straight(scene));
});

test("noise is small and reproducible, and pixels stay between 0 and 1", () => {
    const [clean, noisy, again, other] = [null, 1, 1, 2].map((seed) =>
        painted(pictures.facts, [circle, square], seed),
    );
    assert.deepEqual(noisy, again);
    assert.notDeepEqual(noisy, other);
    assert.ok(noisy.every((pixel) => pixel >= 0 && pixel <= 1));
    const squares = noisy.map((pixel, at) => (pixel - clean[at]) ** 2);
    const deviation = Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / squares.length);
    assert.ok(Math.abs(deviation - pictures.facts.noise) < 0.008, String(deviation));
});

test("a place that sees two shapes belongs to neither", () => {
    const [first, second] = [circle, square].map((each) => seeing([circle, square], each));
    assert.ok(first.size && second.size);
    assert.deepEqual(
        [...first].filter((place) => second.has(place)),
        [],
    );
    assert.ok(first.has(1) && second.has(34));
});
