import assert from "node:assert/strict";
import { test } from "node:test";
import { moved } from "../../book/_web/cells.mjs";
import { said, weightsOf } from "../../book/_web/head_maps.mjs";

test("the weights of a head are its rows, where 255 stands for 1", () => {
    // Two layers of three heads on two tokens. The byte encodes the layer, the head and the place.
    const maps = Uint8Array.from({ length: 24 }, (_, at) => at * 10);
    const weights = weightsOf({ tokens: ["a", "b"], maps }, 3, 1, 2);
    assert.deepEqual(
        weights.map((row) => row.map((weight) => Math.round(255 * weight))),
        [
            [200, 210],
            [220, 230],
        ],
    );
});

test("a weight of 1 is exactly 1", () => {
    assert.deepEqual(weightsOf({ tokens: ["a"], maps: Uint8Array.of(255) }, 1, 0, 0), [[1]]);
});

test("a cell is described by its two tokens and its weight", () => {
    assert.equal(said(["a", "b"], 1, 0, 0.256), "“b” looks at “a” with a weight of 0.26.");
});

test("the arrow keys stay within the map, and other keys are ignored", () => {
    assert.deepEqual(moved("ArrowDown", 0, 1, 2), [1, 1]);
    assert.deepEqual(moved("ArrowDown", 2, 1, 2), [2, 1]);
    assert.deepEqual(moved("ArrowUp", 0, 1, 2), [0, 1]);
    assert.deepEqual(moved("ArrowLeft", 2, 0, 2), [2, 0]);
    assert.deepEqual(moved("ArrowRight", 2, 0, 2), [2, 1]);
    assert.deepEqual(moved("Home", 2, 1, 2), [2, 0]);
    assert.deepEqual(moved("End", 0, 1, 2), [0, 2]);
    assert.equal(moved("Tab", 0, 1, 2), undefined);
});
