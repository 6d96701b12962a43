import assert from "node:assert/strict";
import { test } from "node:test";
import { changeText, lookText, placeText, where } from "../../../book/_web/live/looked.mjs";

const shape = (/** @type {string} */ colour, /** @type {number} */ top) => ({
    ...{ colour, kind: "circle", top, left: 6, size: 12 },
});
const scene = [shape("red", 2), shape("blue", 30)];

/** Shares of some places; the others have none. @param {Record<number, number>} some */
const shares = (some) => Float32Array.from({ length: 64 }, (_, at) => some[at] ?? 0);

test("places are counted from one, and shares are written as in the book", () => {
    assert.equal(where(0), "row 1, column 1");
    assert.equal(where(63), "row 8, column 8");
    assert.equal(placeText(10, 0.126), "Row 2, column 3: .13 of the look");
    assert.equal(placeText(10, 0.996), "Row 2, column 3: 1 of the look");
    assert.equal(placeText(10, 0.004), "Row 2, column 3: 0 of the look");
});

test("a look is summed over the places that see only one shape", () => {
    assert.equal(
        lookText(scene, shares({ 1: 0.25, 9: 0.25, 49: 0.3, 7: 0.2 }), "red"),
        "For “red” its look was on: the red circle .50, the blue circle .30, other places .20.",
    );
});

test("a look at one place names the place", () => {
    assert.match(
        lookText(scene, shares({ 49: 1 }), "blue"),
        /the red circle 0, the blue circle 1, other places 0\. It saw one place, in row 7, column 2\.$/,
    );
});

test("the effect of a forced look is described: a word, all later words, nothing, or the end", () => {
    const free = ["a", "red", "circle", "above"];
    const effect = (/** @type {string} */ forced) =>
        changeText(free, forced.split(" "), 2, "the blue square");
    const begin = "With its look on the blue square alone it";
    assert.equal(
        effect("a red square above"),
        `${begin} says “square”, and not “circle”. The words after it stay as they were.`,
    );
    assert.equal(
        effect("a red square below"),
        `${begin} says “square”, and not “circle”. The words after it are others too.`,
    );
    assert.equal(
        effect("a red circle above"),
        `${begin} still says “circle”. The words after it stay as they were.`,
    );
    assert.equal(effect("a red"), `${begin} ends the caption here, before “circle”.`);
});
