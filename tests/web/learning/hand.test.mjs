// Test the example of the book's page "How a page learns" against the numbers computed there by hand.

import assert from "node:assert/strict";
import { test } from "node:test";
import { add, linear } from "../../../book/_web/learning/linear.mjs";
import { Memory } from "../../../book/_web/learning/memory.mjs";
import { Random } from "../../../book/_web/learning/random.mjs";
import { Parameters, Tape } from "../../../book/_web/learning/tape.mjs";

test("a number that is read twice gets the sum of two gradients", () => {
    const parameters = new Parameters(new Memory(null), new Random(0, 0));
    const tape = new Tape(parameters);
    const x = parameters.get("x", [1, 1], () => 2);
    const w = parameters.get("w", [1, 1], () => 3);

    // The page shows the code from here ...
    const y = linear(tape, x, "w", 1); // records y = x w
    const z = add(tape, x, y); // records z = x + y
    tape.forward(); // y = 6, z = 8
    tape.backward(z);
    // ... to here.

    assert.deepEqual(
        [y, z].map(({ data }) => data[0]),
        [6, 8],
    );
    assert.deepEqual(
        [z, y, w, x].map(({ grad }) => grad[0]),
        [1, 1, 2, 4],
    );
});
