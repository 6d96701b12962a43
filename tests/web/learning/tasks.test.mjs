// Test that every task is as README.md describes it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../../book/_web/learning/random.mjs";
import { TASKS, unreadable } from "../../../book/_web/learning/tasks.mjs";

/** @param {string} name @param {number} at */
const lengthOf = (name, at) => TASKS[name].lengths[at];

/**
 * Return sequences of a task as the names of their symbols, with the names of their answers.
 * @param {string} name
 * @param {number} length
 */
function drawn(name, length) {
    const { draw, solve, symbols, answers, groups } = TASKS[name];
    const random = new Random(3, 1);
    return Array.from({ length: 200 }, () => {
        const sequence = draw(random, length);
        const solved = solve(sequence);
        return {
            places: sequence.map((place) => place.map((symbol) => symbols[symbol])),
            answers: solved.map((solution) => solution && answers[solution.answer]),
            groups: solved.map((solution) => solution && groups(length)[solution.group]),
        };
    });
}

for (const name of Object.keys(TASKS))
    test(`${name}: sequences of every allowed length can be read and answered`, () => {
        const task = TASKS[name];
        for (const at of [0, 1, 2]) {
            const length = lengthOf(name, at);
            const random = new Random(at, 1);
            for (let times = 0; times < 20; times++) {
                const sequence = task.draw(random, length);
                assert.equal(sequence.length, length);
                assert.equal(unreadable(task, sequence), "");
                const solved = task.solve(sequence);
                assert.equal(solved.length, (task.everywhere ? length : 1) * task.questions);
                for (const solution of solved)
                    assert.ok(
                        solution &&
                            task.groups(length)[solution.group] &&
                            task.answers[solution.answer],
                    );
            }
        }
    });

test("far: the answer is the only payload, which may be anywhere before the probe", () => {
    const all = drawn("far", 6);
    for (const { places, answers } of all) {
        const payloads = places.flat().filter((symbol) => /[A-H]/.test(symbol));
        assert.deepEqual(payloads, answers);
        assert.deepEqual(places.at(-1), ["?"]);
    }
    assert.equal(
        new Set(
            all.map(({ places }) => places.findIndex(([symbol]) => symbol < "a" && symbol !== "?")),
        ).size,
        5,
    );
    assert.deepEqual(new Set(all.flatMap(({ groups }) => groups)), new Set(["1", "2", "3–4", "5"]));
});

test("later: the answer is the later of two payloads near the probe", () => {
    for (const { places, answers } of drawn("later", 20)) {
        const at = [...places.keys()].filter((place) => /[A-H]/.test(places[place][0]));
        assert.equal(at.length, 2);
        assert.ok(at[0] >= 20 - 1 - 8);
        assert.deepEqual([places[at[1]][0]], answers);
        assert.notEqual(places[at[0]][0], places[at[1]][0]);
    }
});

for (const [name, wanted] of /** @type {[string, (letter: string) => string[]][]} */ ([
    ["own", (letter) => [letter]],
    ["partner", (letter) => [partner(letter)]],
    ["both", (letter) => [letter, partner(letter)]],
]))
    test(`${name}: the answers are the numbers of the queried records`, () => {
        for (const { places, answers } of drawn(name, 9)) {
            const records = places.slice(0, -1);
            const [letter, mark] = places[8];
            assert.equal(mark, "?");
            assert.equal(new Set(records.map(([letter]) => letter)).size, 8);
            assert.equal(new Set(records.map(([, number]) => number)).size, 8);
            const numbers = wanted(letter).map(
                (asked) => records.find(([own]) => own === asked)?.[1],
            );
            assert.deepEqual(answers, numbers);
        }
    });

/** Return the partner of a letter: A and B are partners, C and D, ... @param {string} letter */
function partner(letter) {
    const at = "ABCDEFGHIJKLMNOP".indexOf(letter);
    return "BADCFEHGJILKNMPO"[at];
}

test("before: the answer is the number at the stated distance before the question", () => {
    for (const { places, answers, groups } of drawn("before", 13)) {
        const back = Number.parseInt(places[12][0], 10);
        assert.ok(back >= 1 && back <= 4);
        assert.deepEqual(answers, [places[12 - back][1]]);
        assert.deepEqual(groups, [`${back}`]);
    }
});

test("last: the answer is the latest number of a letter, which may have several", () => {
    const all = drawn("last", 13);
    for (const { places, answers } of all) {
        const own = places.slice(0, -1).filter(([letter]) => letter === places[12][0]);
        assert.deepEqual(answers, [own.at(-1)?.[1]]);
    }
    assert.ok(
        all.some(({ places }) => new Set(places.slice(0, -1).map(([symbol]) => symbol)).size < 8),
    );
});

test("copying: a row of different letters is repeated, and has answers from then on", () => {
    const periods = new Set();
    for (const { places, answers, groups } of drawn("copying", 24)) {
        const row = places.flat();
        const period = row.indexOf(row[0], 1);
        periods.add(period);
        assert.equal(new Set(row.slice(0, period)).size, period);
        assert.ok(row.every((letter, at) => at < period || letter === row[at - period]));
        assert.deepEqual(answers, [...row.slice(1), row[24 - period]]);
        assert.deepEqual(
            groups,
            row.map((_, at) => (at < period ? "unknown" : "known")),
        );
    }
    assert.deepEqual(
        [...periods].sort((a, b) => a - b),
        [6, 7, 8, 9, 10, 11, 12],
    );
});

test("a sequence without an answer is not an error", () => {
    assert.deepEqual(TASKS.far.solve([[9], [10], [24]]), [null]);
    assert.deepEqual(TASKS.far.solve([[1], [2], [24]]), [null]);
    assert.deepEqual(
        TASKS.own.solve([
            [1, 20],
            [2, 32],
        ]),
        [null],
    );
    assert.deepEqual(
        TASKS.before.solve([
            [1, 10],
            [28, 24],
        ]),
        [null],
    );
    assert.deepEqual(
        TASKS.before.solve([
            [1, 10],
            [2, 24],
        ]),
        [null],
    );
    assert.deepEqual(TASKS.copying.solve([[1], [2]]), [{ answer: 2, group: 1 }, null]);
});

test("an invalid sequence is refused with a sentence", () => {
    for (const wrong of [null, "ABC", [[1]], [[1], [25]], [[1], [1.5]], [[1], [1, 2]], [[1], null]])
        assert.match(unreadable(TASKS.far, wrong), /^(A sequence is|Place 2 holds)/);
});
