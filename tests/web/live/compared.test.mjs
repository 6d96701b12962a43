import assert from "node:assert/strict";
import { test } from "node:test";
import { accuracy, compared } from "../../../book/_web/live/compared.mjs";
import { asText } from "../../../book/_web/live/sentence.mjs";

test("a word left out makes no other word wrong", () => {
    const right = ["le", "chat", "noir", "dort", "."];
    assert.deepEqual(compared(["le", "chat", "dort", "."], right), {
        kept: [true, true, true, true],
        missing: 1,
    });
});

test("a wrong word is marked, and what should stand there is missing", () => {
    const right = ["le", "chat", "dort", "."];
    assert.deepEqual(compared(["le", "chien", "dort", "."], right), {
        kept: [true, false, true, true],
        missing: 1,
    });
});

test("a word written twice is right once", () => {
    const { kept, missing } = compared(["le", "le", "chat"], ["le", "chat"]);
    assert.equal(kept.filter(Boolean).length, 2);
    assert.equal(missing, 0);
});

test("nothing written, and nothing to write", () => {
    assert.deepEqual(compared([], ["le"]), { kept: [], missing: 1 });
    assert.deepEqual(compared(["le"], []), { kept: [false], missing: 0 });
});

test("accuracy is that of the book: position by position, of the longer one", () => {
    assert.equal(accuracy(["le", "chat", "dort", "."], ["le", "chat", "noir", "dort", "."]), 2 / 5);
    assert.equal(accuracy([], []), 0);
});

test("words become text as a person writes it", () => {
    assert.equal(asText(["how", "are", "you", "?"]), "How are you?");
    assert.equal(
        asText(["l'", "homme", "dort", ",", "et", "trouvez", "-vous"]),
        "L'homme dort, et trouvez-vous",
    );
});
