import assert from "node:assert/strict";
import { test } from "node:test";
import { accuracy, compared } from "../../../book/_web/live/compared.mjs";
import { asText } from "../../../book/_web/live/sentence.mjs";

test("an omitted word makes no other word wrong", () => {
    const right = ["le", "chat", "noir", "dort", "."];
    assert.deepEqual(compared(["le", "chat", "dort", "."], right), {
        kept: [true, true, true, true],
        missing: 1,
    });
});

test("a wrong word is marked, and the right word counts as missing", () => {
    const right = ["le", "chat", "dort", "."];
    assert.deepEqual(compared(["le", "chien", "dort", "."], right), {
        kept: [true, false, true, true],
        missing: 1,
    });
});

test("a repeated word is right only once", () => {
    const { kept, missing } = compared(["le", "le", "chat"], ["le", "chat"]);
    assert.equal(kept.filter(Boolean).length, 2);
    assert.equal(missing, 0);
});

test("empty translations are compared", () => {
    assert.deepEqual(compared([], ["le"]), { kept: [], missing: 1 });
    assert.deepEqual(compared(["le"], []), { kept: [false], missing: 0 });
});

test("accuracy is defined as in the book: by position, relative to the longer translation", () => {
    assert.equal(accuracy(["le", "chat", "dort", "."], ["le", "chat", "noir", "dort", "."]), 2 / 5);
    assert.equal(accuracy([], []), 0);
});

test("words are joined to text with the usual spelling", () => {
    assert.equal(asText(["how", "are", "you", "?"]), "How are you?");
    assert.equal(
        asText(["l'", "homme", "dort", ",", "et", "trouvez", "-vous"]),
        "L'homme dort, et trouvez-vous",
    );
});
