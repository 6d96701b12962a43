"""Test that the self-check in a notebook reports the grader's verdicts and draws pictures."""

import linecache
import os
import re
import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
import toy
from nightly import some

from autograder.exercise.model import Case
from autograder.exercise.stubs import stub
from autograder.judging.agreement import agree
from autograder.judging.judge import judge
from autograder.judging.keys import build_key, observe_quietly
from autograder.judging.verdict import AS_GIVEN, Verdict
from autograder.notebook.check import CHANGED_SINCE, check, read_cases, write_cases
from autograder.notebook.pictures import matrix_picture, pictures
from exercises import COURSE


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """Return a student's folder with the released cases, and make it the working directory."""
    write_cases(toy.TOY, tmp_path / "toy.cases")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def with_name(name, function):
    function.__name__ = name
    return function


def test_correct_answer_passes_but_is_not_called_the_grade(desk):
    report = check(with_name("row_mean", lambda X: X.mean(axis=-1)))
    assert report.judgement.verdict is Verdict.PASS
    assert "not the grade" in repr(report)
    assert "not the grade" in report._repr_html_()


def test_misconception_is_shown_with_its_question_and_pictures(desk):
    report = check(with_name("row_mean", lambda X: X.sum(axis=-1)))
    text, page = repr(report), report._repr_html_()
    for part in ("WRONG_VALUE", "sum for mean", "How many numbers are in a row?", "two rows"):
        assert part in text
        assert part in page
    labels = re.findall(r'aria-label="([^"]*)"', page)
    assert [label.split(",")[0] for label in labels] == [
        "X",
        "your result",
        "right result",
        "difference",
    ]


def test_stub_is_reported_as_the_stub(desk):
    def row_mean(X):
        """Say what."""
        raise NotImplementedError

    report = check(row_mean)
    assert report.judgement.verdict is Verdict.MISSING
    _, first, second, _ = repr(report).splitlines()
    assert first == CHANGED_SINCE
    assert "this is the stub" in second


@pytest.fixture
def check_bug(tmp_path, monkeypatch):
    """Prepare a folder with a debug exercise; return a function that runs and checks an answer."""
    write_cases(toy.Assignment("bugs", "Bugs", (toy.CENTRED,), ()), tmp_path / "bugs.cases")
    monkeypatch.chdir(tmp_path)

    def run(source):
        namespace = {"np": np}
        exec(source, namespace)
        return check(namespace["centred"])

    return run


def test_untouched_bug_is_reported_without_revealing_it(check_bug):
    report = check_bug(stub(toy.CENTRED))
    assert report.judgement.verdict is Verdict.MISSING
    assert "like the buggy function you were given. Find the smallest input on" in repr(report)
    assert CHANGED_SINCE in repr(report)
    for secret in ("Which axis is a row?", "two rows", "columns for rows", "your result"):
        assert secret not in report._repr_html_()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# The first axis, or the last?", ""),
        ("    mean =", "    print(X)\n    mean ="),
        ("mean = X.mean(axis=0)\n\n    return X - mean", "m = X.mean(-2)\n    return -(m - X)"),
    ],
)
def test_rewritten_but_unfixed_bug_is_reported_like_the_original(check_bug, old, new):
    assert old in stub(toy.CENTRED)
    assert check_bug(stub(toy.CENTRED).replace(old, new)).judgement == AS_GIVEN


@pytest.mark.parametrize(
    ("old", "new", "verdict", "misconception"),
    [
        ("return X - mean", "return 2 * (X - mean)", Verdict.WRONG_VALUE, None),
        ("X.mean(axis=0)", "X.mean(axis=-1, keepdims=True)", Verdict.PASS, None),
        ("X.mean(axis=0)", "X.mean(axis=1)[:, None]", Verdict.PASS, None),
    ],
)
def test_changed_bug_is_judged(check_bug, old, new, verdict, misconception):
    judgement = check_bug(stub(toy.CENTRED).replace(old, new)).judgement
    assert (judgement.verdict, judgement.misconception) == (verdict, misconception)


def test_student_text_is_escaped(desk):
    def row_mean(X):
        raise ValueError("<script>alert(1)</script>")

    assert "<script>" not in check(row_mean)._repr_html_()


def test_code_in_a_message_is_marked_up_as_code(desk):
    def row_mean(X):
        raise ValueError("`X` has <2> rows")

    assert "<code>X</code> has &lt;2&gt; rows" in check(row_mean)._repr_html_()


def test_interrupt_stops_the_check(desk):
    def row_mean(X):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(row_mean)


def test_unknown_name_lists_the_known_names(desk):
    with pytest.raises(LookupError, match="row_mean, scale"):
        check(with_name("row_means", lambda X: X))


def test_wrong_folder_is_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LookupError, match="folder of the assignment"):
        check(with_name("row_mean", lambda X: X))


def test_damaged_cases_are_reported(desk):
    (desk / "toy.cases").write_bytes(b"damaged")
    with pytest.raises(ValueError, match=r"toy\.cases is damaged"):
        check(with_name("row_mean", lambda X: X))


@pytest.fixture
def reads(monkeypatch):
    """Return a list that records the names of files read and decoded, in order."""
    names = []
    monkeypatch.setattr(
        "autograder.notebook.check.read_cases",
        lambda path: names.append(path.name) or read_cases(path),
    )
    return names


def test_unchanged_cases_are_read_once(desk, reads):
    for _ in range(3):
        check(with_name("row_mean", lambda X: X.mean(axis=-1)))
        check()
    assert reads == ["toy.cases"]
    write_cases(toy.Assignment("toy", "Toy", (toy.CENTRED,), ()), desk / "toy.cases")
    with pytest.raises(LookupError, match="The exercises are: centred"):
        check(with_name("row_mean", lambda X: X.mean(axis=-1)))
    assert reads == ["toy.cases"] * 2


def test_cases_with_a_newer_time_are_read_again(desk, reads):
    file = desk / "toy.cases"
    for time in (1_000_000_000, 2_000_000_000):
        os.utime(file, ns=(time, time))
        check()
    assert reads == ["toy.cases"] * 2


def test_damaged_cases_are_reported_until_they_are_repaired(desk):
    file = desk / "toy.cases"
    good = file.read_bytes()
    file.write_bytes(b"damaged")
    for _ in range(2):
        with pytest.raises(ValueError, match=r"toy\.cases is damaged"):
            check()
    file.write_bytes(good)
    assert check(with_name("row_mean", lambda X: X.mean(axis=-1))).judgement.passed


def test_answer_cannot_change_cached_cases(desk):
    (key, *_) = read_cases(desk / "toy.cases")

    def row_mean(X):
        mean = X.mean(axis=-1)
        X[...] = 0
        return mean

    assert check(row_mean).judgement.verdict is Verdict.MUTATED_INPUT
    report = check(with_name("row_mean", lambda X: X.sum(axis=-1)))
    report.case.arguments[0][...] = 0
    report.expected[...] = 0
    fresh = check(with_name("row_mean", lambda X: X.sum(axis=-1)))
    assert any(agree(fresh.case.arguments, case.arguments) for case in key.cases)
    assert check(with_name("row_mean", lambda X: X.mean(axis=-1))).judgement.passed


def test_integers_use_32_bits_if_numpy_does(desk, monkeypatch):
    monkeypatch.setattr(np, "intp", np.int32)
    ids, large, numbers = np.array([3, -1]), np.array([2**40]), np.array([0.5])
    exercise = replace(
        toy.TOY.exercises[0],
        misconceptions=(),
        reference=lambda ids, others, large: ids * 1.0,
        cases=lambda _: [Case("ids", (ids, [ids, numbers]), {"large": large})],
    )
    write_cases(toy.Assignment("toy", "Toy", (exercise,), ()), desk / "toy.cases")
    (key,) = read_cases(desk / "toy.cases")
    (case,) = key.cases
    first, others = case.arguments
    assert [array.dtype.name for array in (first, *others)] == ["int32", "int32", "float64"]
    assert case.keywords["large"].dtype == np.int64
    assert agree(case.arguments, (ids, [ids, numbers]))


@pytest.mark.parametrize("assignment", COURSE.values(), ids=lambda assignment: assignment.name)
def test_released_cases_judge_like_their_key(assignment, tmp_path, monkeypatch):
    """Compare one answer of each kind, or all nightly; test_agreement.py covers the grader."""
    keys = {}
    monkeypatch.setattr(
        "autograder.notebook.check.build_key",
        lambda exercise, *cases: keys.setdefault(exercise.name, build_key(exercise, *cases)),
    )
    write_cases(assignment, tmp_path / "x.cases")
    for exercise, released in zip(
        assignment.exercises, read_cases(tmp_path / "x.cases"), strict=True
    ):
        key = keys[exercise.name]
        wrong = [misconception.wrong for misconception in exercise.misconceptions]
        for function in (exercise.reference, *some(exercise.alternatives), *some(wrong)):
            public = observe_quietly(function, released.cases)
            self_check, key_judgement = judge(released, public), judge(key, public)
            assert (self_check.verdict, self_check.misconception, self_check.hint) == (
                key_judgement.verdict,
                key_judgement.misconception,
                key_judgement.hint,
            ), (exercise.name, function.__name__)


def test_picture_is_drawn_for_any_matrix():
    for matrix in (
        np.zeros((2, 3)),
        np.array([np.nan, np.inf, -1.0]),
        np.zeros((40, 50)),
        np.ones((2, 3, 4)),
        np.array([[True, False]]),
    ):
        picture = ElementTree.fromstring(matrix_picture("a <title>", matrix))
        assert picture.attrib["role"] == "img"
        assert str(matrix.shape) in picture.attrib["aria-label"]


def test_only_arrays_are_drawn():
    right = (np.eye(2), np.eye(2))
    assert pictures({}, None, right).count("<svg") == 2
    assert pictures({}, (np.eye(2), np.eye(3)), right).count("<svg") == 5
    assert pictures({}, 3.0, True) == ""


def test_pictures_use_the_names_of_results_in_the_docstring():
    inputs = {"X": np.eye(2), "radius": 2, "mask": np.eye(2, dtype=bool)}
    both = (np.eye(2), np.eye(2))
    html = pictures(inputs, both, both, ("output", "weights"))
    labels = [label.split(",")[0] for label in re.findall(r'aria-label="([^"]*)"', html)]
    assert labels[:3] == ["X", "mask", "your output"]
    assert labels[5:7] == ["your weights", "right weights"]
    assert "<code>radius = 2</code>" in html


def labels_of(html):
    return re.findall(r'aria-label="([^"]*)"', html)


def test_pictures_show_the_part_with_the_largest_difference():
    right = np.arange(24.0).reshape(3, 2, 2, 2)
    answer = right.copy()
    answer[1, 1] += [[5, 0], [0, 0]]
    answer[2, 0] += [[1, 0], [0, 0]]
    X, answer_label, _, difference = labels_of(pictures({"X": right[:, :1]}, answer, right))
    assert X == "X, shape (3, 1, 2, 2) (part: [1, 0]): 8 9; 10 11"
    assert answer_label == "your result, shape (3, 2, 2, 2) (part: [1, 1]): 17 13; 14 15"
    assert difference.endswith("5 0; 0 0")


@pytest.mark.parametrize(
    ("answer", "right", "labels"),
    [
        (1001.0, 1002.0, ("1001 7", "1002 7", "-1 0")),
        (12345.21, 12345.39, ("12345.2 7", "12345.4 7", "-0.18 0")),
        (0.33334, 0.33333, ("0.33334 7", "0.33333 7", "1e-05 0")),
        (1.2345, 2.0, ("1.23 7", "2 7", "-0.766 0")),
        (2.000005e9, 2e9, ("2.000005e+09 7", "2e+09 7", "5000 0")),
        (np.nan, 1.0, ("nan 7", "1 7", "nan 0")),
    ],
)
def test_pictures_show_enough_digits_to_tell_numbers_apart(answer, right, labels):
    picture_labels = labels_of(pictures({}, np.array([[answer, 7.0]]), np.array([[right, 7.0]])))
    assert [label.split(": ")[1] for label in picture_labels] == [*labels]


def test_input_is_drawn_if_half_of_it_fits():
    inputs = {"scores": np.zeros((60, 12)), "logits": np.zeros((3, 20)), "X": np.zeros((2, 3))}
    titles = [label.split(",")[0] for label in labels_of(pictures(inputs, 1.0, 2.0))]
    assert titles == ["logits", "X"]


def test_difference_within_the_tolerance_is_shown_as_zero():
    right = np.array([[1.0, 2.0]])
    *_, difference = labels_of(pictures({}, np.array([[1 + 5e-8, 3.0]]), right))
    assert difference.endswith(": 0 1")


def test_arrays_in_lists_and_tuples_are_drawn():
    arrays = [np.eye(2) * size for size in range(6)]
    answer = [*arrays[:5], np.zeros((2, 2))]
    picture_labels = labels_of(
        pictures({"gradients": arrays, "sizes": (2, 3)}, (answer, 1.0), (arrays, 2.0))
    )
    titles = [label.split(",")[0] for label in picture_labels]
    assert titles[:4] == [f"gradients[{at}]" for at in range(4)]
    assert titles[4:7] == ["your value 1[5]", "right value 1[5]", "difference"]
    assert len(titles) == 4 + 3 * 4
    assert "<code>sizes = (2, 3)</code>" in pictures({"sizes": (2, 3)}, 1.0, 2.0)


def test_self_check_needs_only_numpy():
    code = (
        "import sys, autograder; "
        "print({'torch', 'nbgrader', 'matplotlib', 'solutions', 'typer'} & set(sys.modules))"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.strip() == "set()"


def test_check_without_arguments_summarises_previous_checks(desk, monkeypatch):
    monkeypatch.setattr("autograder.notebook.check._JUDGEMENTS", {})
    assert repr(check()) == ("0 of 2 right on the public cases.\nNot checked: row_mean, scale.")
    check(with_name("row_mean", lambda X: X.sum(axis=-1)))
    assert "Not yet: row_mean.\nNot checked: scale." in repr(check())
    check(with_name("row_mean", lambda X: X.mean(axis=-1)))
    assert repr(check()).startswith("1 of 2 right")


def test_exception_in_a_notebook_is_shown_with_its_line(desk):
    source = "def row_mean(X):\n    return X.transpose(0, 1, 2)\n"
    file = "/tmp/ipykernel_1/2.py"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    namespace = {}
    exec(compile(source, file, "exec"), namespace)
    assert "(line 2 of its cell: `return X.transpose(0, 1, 2)`)" in repr(
        check(namespace["row_mean"])
    )
