"""Test judging a student's own test by the implementations that it accepts and rejects."""

import inspect
import json
import re
import textwrap

import numpy as np
import pytest
import toy
import toy_written_tests as row_mean
from toy_written_tests import TEST_ROW_MEAN

from autograder.exercise.implementations import REJECTS, shuffle
from autograder.exercise.model import Case, public_cases
from autograder.exercise.stubs import stub
from autograder.grading.program import judge_program
from autograder.grading.sample import answer_source
from autograder.judging.judge import judge
from autograder.judging.keys import build_key, observe_quietly
from autograder.judging.verdict import Judgement, Verdict
from autograder.notebook.check import check, read_cases, write_cases

X = "X = np.array([[1.0, -2.0, 4.0], [0.0, 5.0, 7.0], [2.0, 2.0, -7.0]])\n"
RIGHT = "np.allclose(implementation(X), [1, 4, -1])"
REMEMBERS = f"""{X}results = []
def test_row_mean(implementation):
    results.append(implementation(X))
    assert np.allclose(results[0], results[-1])
"""
COUNTS = f"""{X}calls = []
def test_row_mean(implementation):
    implementation(X)
    calls.append(1)
    assert len(calls) < 3
"""
DRAWS = f"""{X}rng = np.random.default_rng(2)
def test_row_mean(implementation):
    implementation(X)
    assert rng.random() < 0.5  # the first draws are 0.26, 0.30, and 0.81
"""

TESTS = {
    "right": (f"assert {RIGHT}", Verdict.PASS, "all", 4),
    "right, and returns": (f"assert {RIGHT}\nreturn 'fine'", Verdict.PASS, "all", 4),
    "right, and prints": (f"print('.')\nassert {RIGHT}", Verdict.PASS, "all", 4),
    "prints too much": (f"print('.' * 2**21)\nassert {RIGHT}", Verdict.OUTPUT, "printed more", 0),
    "prints instead": (
        f"print({RIGHT})",
        Verdict.MISSED,
        "they all satisfy it. A test rejects by `assert`. Its printed output is not read",
        0,
    ),
    "returns instead": (f"return {RIGHT}", Verdict.MISSED, "Its return value is ignored", 0),
    "asserts nothing": ("implementation(X)", Verdict.MISSED, "accepts every implementation", 0),
    "asserts a shape": (
        "assert implementation(X).shape == (3,)",
        Verdict.MISSED,
        "accepts every implementation",
        0,
    ),
    "catches some": (
        "assert np.allclose(implementation(X[:1] + [0]), 1)",
        Verdict.MISSED,
        "rejects 7 of the 10 wrong ones. It lets through: one row for all; rows upside down.",
        2.8,
    ),
    "rejects everything": (
        "implementation(X)\nassert False",
        Verdict.FALSE_ALARM,
        "It rejects every implementation, even the right ones: what does it ask for",
        0,
    ),
    "rejects a style": (
        "X = np.random.default_rng(0).normal(size=(3, 33))\n"
        "assert implementation(X).tobytes() == X.mean(-1).tobytes(), 'not exact'",
        Verdict.FALSE_ALARM,
        "It rejects a right implementation (",
        0,
    ),
    "raises something else": (
        f"if not {RIGHT}: raise ValueError('wrong')",
        Verdict.MISSED,
        "(columns for rows), it raises ValueError, which is not an AssertionError.",
        0,
    ),
    "fails": (
        "implementation(X)\nraise ValueError('oh')",
        Verdict.EXCEPTION,
        "Given a right implementation (a method), it raises ValueError: oh",
        0,
    ),
    "never ends": ("implementation(X)\nwhile True: pass", Verdict.TIMEOUT, "time limit", 0),
    "calls nothing": ("pass", Verdict.FORBIDDEN, "does not call the implementation", 0),
    "goes by the name": (
        "assert implementation.__name__ != 'of_columns'",
        Verdict.FORBIDDEN,
        "it cannot see its source or its name",
        0,
    ),
    "reads the code": (
        "assert implementation.__code__.co_names",
        Verdict.FORBIDDEN,
        "does not call the implementation",
        0,
    ),
    "reads the source": (
        "import inspect\nassert 'axis=0' not in inspect.getsource(implementation)",
        (Verdict.FORBIDDEN, Verdict.EXCEPTION),
        "call",
        0,
    ),
}


def grade_test(sandbox, source):
    program = [toy.Cell(f"import numpy as np\n{source}", "test_row_mean")]
    judgements = judge_program(
        program, row_mean.TOY, course_key=b"key", digest="a", sandbox=sandbox
    )
    return judgements["test_row_mean"]


def with_body(body):
    return f"{X}def test_row_mean(implementation):\n{textwrap.indent(body, '    ')}"


@pytest.mark.parametrize("name", TESTS)
def test_each_written_test_gets_its_verdict_and_points(name, sandbox):
    body, verdict, text, points = TESTS[name]
    judgement = grade_test(sandbox, with_body(body))
    assert judgement.verdict in (verdict if isinstance(verdict, tuple) else (verdict,)), judgement
    assert text in judgement.message
    assert judgement.points(TEST_ROW_MEAN.points) == points
    assert not judgement.misconception or "every implementation" not in judgement.message


@pytest.mark.parametrize(
    ("source", "verdict", "text"),
    [
        (REMEMBERS, Verdict.FALSE_ALARM, "It rejects a right implementation"),
        (COUNTS, Verdict.NONDETERMINISTIC, "Does it remember an earlier call"),
        (DRAWS, Verdict.NONDETERMINISTIC, "or draw random numbers"),
    ],
)
def test_written_test_cannot_keep_state_between_implementations(
    source, verdict, text, sandbox, key
):
    judgement = grade_test(sandbox, source)
    assert judgement.verdict is Verdict.MISSED
    assert judgement.message.endswith(
        "it cannot remember anything from one implementation to the next."
    )
    assert judgement.points(4) == 0
    namespace = {"np": np}
    exec(source, namespace)  # the self-check uses one process for all
    judgement = judge(key, observe_quietly(namespace["test_row_mean"], key.cases))
    assert judgement.verdict is verdict
    assert text in judgement.message


ASKS_ALL = f"""{X}
import types
def test_row_mean(implementation):
    answers = []
    for number in range(40):
        cells = (types.CellType(number),)
        other = types.FunctionType(
            implementation.__code__, implementation.__globals__, "other", None, cells
        )
        try:
            answers.append(other(X))
        except Exception:
            break
    mine = implementation(X)
    alike = sum(np.allclose(mine, answer) for answer in answers)
    assert len(answers) < 3 or alike > 2
"""
COUNTS_IN_A_FILE = f"""{X}
import os
def test_row_mean(implementation):
    implementation(X)
    with open("/tmp/calls", "a+") as file:
        file.write("x")
    assert os.path.getsize("/tmp/calls") < 3
"""


@pytest.mark.parametrize("source", [ASKS_ALL, COUNTS_IN_A_FILE])
def test_written_test_cannot_reach_other_implementations(source, sandbox):
    """Check that neither other closures nor files on disk reveal an implementation."""
    assert grade_test(sandbox, source).points(4) == 0


@pytest.fixture(scope="module")
def key():
    hidden = TEST_ROW_MEAN.hidden(np.random.default_rng(3))
    return build_key(TEST_ROW_MEAN, public_cases(TEST_ROW_MEAN), hidden)


def test_known_answers_are_judged_and_misconceptions_named(key):
    for function in (TEST_ROW_MEAN.reference, *TEST_ROW_MEAN.alternatives):
        assert judge(key, observe_quietly(function, key.cases)).passed, function.__name__
    for misconception in TEST_ROW_MEAN.misconceptions:
        judgement = judge(key, observe_quietly(misconception.wrong, key.cases))
        assert (judgement.misconception, judgement.hint) == (
            misconception.name,
            misconception.hint,
        ), judgement


def test_self_check_and_grader_agree_on_written_tests(sandbox, tmp_path, monkeypatch):
    write_cases(row_mean.TOY, tmp_path / "toy_test.cases")
    monkeypatch.chdir(tmp_path)
    (public,) = read_cases(tmp_path / "toy_test.cases")
    assert public.is_test
    for function in (*TEST_ROW_MEAN.alternatives, row_mean.test_row_mean__one_row):
        source = answer_source(function, "test_row_mean")
        namespace = {"np": np, "X": row_mean.X}
        exec(source, namespace)
        self_check, grader_judgement = (
            check(namespace["test_row_mean"]).judgement,
            grade_test(sandbox, X + source),
        )
        assert (self_check.verdict, self_check.misconception) == (
            grader_judgement.verdict,
            grader_judgement.misconception,
        )


def test_released_cases_hide_the_names_of_implementations(tmp_path):
    write_cases(row_mean.TOY, tmp_path / "toy_test.cases")
    text = (tmp_path / "toy_test.cases").read_bytes().decode(errors="replace")
    assert "def implementation(X)" in text
    assert not re.search("by_method|of_columns|of_magnitudes|NOISE", text)
    assert "[::-1]" not in text  # unreleased implementations stay with the grader


STYLES = [Case(name, ()) for name in "abc"]
UNSEEN = [Case(name, (), raises=REJECTS) for name in "de"]


def test_every_draw_includes_all_implementations_in_varied_order():
    draws = [list(shuffle(np.random.default_rng(seed), STYLES, UNSEEN)) for seed in range(20)]
    for draw in draws:
        assert {case.note for case in UNSEEN} <= {case.note for case in draw}
        assert {case.note for case in STYLES} <= {case.note for case in draw}
    assert len({len(draw) for draw in draws}) == 3
    assert len({json.dumps([bool(case.raises) for case in draw]) for draw in draws}) > 5


def test_share_of_rejected_implementations_sets_the_points():
    assert Judgement(Verdict.MISSED, "", share=2 / 3).points(4) == 2.7
    assert Judgement(Verdict.MISSED, "", share=2 / 3).earns
    assert not Judgement(Verdict.MISSED, "").earns
    assert not Judgement(Verdict.MISSED, "", share=2 / 3).passed
    assert Judgement(Verdict.PASS, "").points(4) == 4


def test_stub_of_a_written_test_has_signature_and_contract():
    text = stub(TEST_ROW_MEAN)
    assert text.startswith("def test_row_mean(implementation):")
    assert inspect.getdoc(TEST_ROW_MEAN.reference) in text
