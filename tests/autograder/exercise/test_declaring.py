"""How exercises are declared: answers, edits of them, cases, and what is refused at import."""

import dataclasses
import inspect
import sys
import traceback

import numpy as np
import pytest
import torch
from torch import nn

from autograder.exercise.answers import Answer, EditError, source, source_as
from autograder.exercise.declaring import Declaration, assignment
from autograder.exercise.model import Case, Exercise, Kind, Setup, Tensor, public_cases
from autograder.exercise.promises import promises
from autograder.exercise.stubs import stub
from autograder.grading.sample import answer_source
from autograder.judging.judge import build_key, judge, observe_quietly
from autograder.judging.verdict import Verdict

HELP = ("An idea.", "Nearly the code.", "Where to look.")
FACTS = {"points": 2, "difficulty": 1, "minutes": 5, "help": HELP}


def row_mean(x):
    """Return the mean of each row of x: (m, n), n at least 1. Integers are as good as floats."""
    return x.mean(axis=1)


def complete():
    """The smallest exercise that is complete."""
    declared = Declaration(row_mean, **FACTS)

    @declared.right
    def plain(x):
        total = x.sum(axis=1)
        return total / x.shape[1]

    declared.wrong("columns for rows", "Which axis?", plain.edit("x.sum(axis=1)", "x.sum(axis=0)"))

    @declared.wrong("the median", "Which of the numbers count?")
    def _(x):
        return np.median(x, axis=1)

    @declared.public
    def _(rng):
        yield Case("two rows", (rng.normal(size=(2, 3)),)).holds("(m, n), n at least 1")
        yield Case("one column", (rng.normal(size=(3, 1)),)).holds("(m, n)…")

    @declared.hidden
    def _(rng):
        yield Case("integers", (rng.integers(9, size=(2, 4)),)).holds("Integers are")

    return declared


COMPLETE = complete()


def test_what_is_declared_becomes_an_exercise():
    exercise = COMPLETE.exercise
    assert isinstance(exercise, Exercise)
    assert (exercise.name, exercise.points, exercise.help) == ("row_mean", 2, HELP)
    assert [one.name for one in exercise.misconceptions] == ["columns for rows", "the median"]
    assert [one.hint for one in exercise.misconceptions] == [
        "Which axis?",
        "Which of the numbers count?",
    ]
    assert [one.__name__ for one in exercise.alternatives] == ["plain"]
    assert COMPLETE.exercise is exercise


def test_its_answers_are_judged_as_they_should():
    exercise = COMPLETE.exercise
    key = build_key(exercise, public_cases(exercise), exercise.hidden(np.random.default_rng(0)))
    for function in (exercise.reference, *exercise.alternatives):
        assert judge(key, observe_quietly(function, key.cases)).verdict is Verdict.PASS
    for one in exercise.misconceptions:
        assert judge(key, observe_quietly(one.wrong, key.cases)).misconception == one.name


def test_a_base_is_what_others_are_edits_of_and_no_answer():
    declared = Declaration(row_mean, **FACTS)

    @declared.base(("two columns",))
    def nearly(x):
        return x.sum(axis=1) / 3

    declared.wrong("never divided", "What is the mean of two ones?", nearly.edit(" / 3", ""))
    declared.public(lambda rng: [])
    declared.hidden(lambda rng: [])
    assert declared.exercise.alternatives == ()
    assert [one.name for one in declared.exercise.misconceptions] == ["never divided"]
    assert declared.bases == {nearly: ("two columns",)}


@pytest.mark.parametrize(
    "give",
    [
        lambda declared, base: declared.right(base),
        lambda declared, base: declared.wrong("a third", "Why?", base),
        lambda declared, base: declared.accepts("a third", base),
        lambda declared, base: declared.rejects("a third", base),
    ],
)
def test_a_base_is_not_given_out_as_an_answer(give):
    declared = Declaration(row_mean, **FACTS)

    @declared.base(())
    def nearly(x):
        return x.sum(axis=1) / 3

    with pytest.raises(ValueError, match="row_mean: 'nearly' is a base; only an edit of it"):
        give(declared, nearly)
    give(declared, nearly.edit("/ 3", "/ 4"))


def test_a_class_may_be_given_in_a_call():
    declared = Declaration(row_mean, **FACTS)
    scale = declared.right(Scale.written)
    late = declared.wrong("late", "Why?", Scale.written)
    assert scale.source == late.source == Scale.source
    assert late.edit("* self.weight", "* 2").function(2)(torch.ones(1, 2)).tolist() == [[2, 2]]


def test_nothing_can_be_added_to_an_exercise_that_is_in_use():
    declared = complete()
    assert declared.exercise
    with pytest.raises(ValueError, match="already complete"):
        declared.right(row_mean)
    with pytest.raises(ValueError, match="already complete"):
        declared.wrong("late", "Why?", row_mean)


# Answers and their source


def answer(function):
    return Answer("row_mean", function)


@answer
def plain(x):
    total = x.sum(axis=1)

    # the width
    n = x.shape[1]
    return total / n


@answer
def recursive(x):
    if len(x) == 1:
        return [x[0].mean()]
    return [x[0].mean(), *recursive(x[1:])]


@answer
class Scale(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, X):
        if X.ndim < 2:
            X = X[None]
        return X * self.weight


def test_a_decorated_answer_has_its_source_without_the_decorator():
    assert plain.source.startswith("def plain(x):\n    total")
    assert Scale.source.startswith("class Scale(nn.Module):\n")
    assert source(plain.function) == plain.source


def test_an_edit_changes_the_text_and_the_function():
    wrong = plain.edit("x.sum(axis=1)", "x.sum(axis=0)")
    assert wrong.source == plain.source.replace("axis=1", "axis=0")
    assert wrong.function(np.ones((2, 3))).tolist() == [2 / 3] * 3
    assert plain.function(np.ones((2, 3))).tolist() == [1, 1]


def test_edits_of_edits_add_up():
    wrong = plain.edit("axis=1", "axis=0").edit("x.shape[1]", "x.shape[0]")
    assert wrong.function(np.ones((2, 3))).tolist() == [1, 1, 1]
    again = wrong.edit("total / n", "total")
    assert again.function(np.ones((2, 3))).tolist() == [2, 2, 2]


def test_an_edit_may_leave_no_python_until_the_next_one():
    half = plain.edit("x.sum(axis=1)", "(x.sum(axis=1)")
    assert half.edit("n = x.shape[1]", "n = x.shape[1])").source
    with pytest.raises(EditError, match=r"row_mean: .* 'plain' is not valid Python"):
        half.function  # noqa: B018


@pytest.mark.parametrize(
    ("old", "times", "found"),
    [("axis=2", 1, "nowhere"), ("x", 1, "4 times"), ("axis=1", 2, "once"), ("", 1, "nowhere")],
)
def test_an_edit_that_does_not_fit_says_where_and_what(old, times, found):
    with pytest.raises(EditError) as caught:
        plain.edit(old, "y", times=times)
    said = str(caught.value)
    assert "row_mean" in said
    assert "'plain'" in said
    assert f"finds this text {found}" in said
    assert said.endswith(old)


def test_an_edit_that_changes_nothing_is_refused():
    with pytest.raises(EditError, match=r"row_mean: .*'plain' changes nothing:\ntotal / n"):
        plain.edit("total / n", "total / n")


@answer
def matched(x):
    match x:
        case [first, *others]:
            return [first, *others]
        case {"rows": rows, **left}:
            return rows, left
        case other:
            return other


def test_what_a_pattern_names_is_known():
    wrong = matched.edit("return rows, left", "return left, rows")
    assert wrong.function({"rows": 1, "columns": 2}) == ({"columns": 2}, 1)


def test_an_edit_may_use_what_a_notebook_has_and_no_unknown_name():
    assert Scale.edit("X * self.weight", "X * math.pi").function(1)(torch.ones(1)) > 3
    with pytest.raises(EditError, match=r"row_mean: .*'plain' uses names .* import: nowhere"):
        plain.edit("total / n", "nowhere(total) / n").function  # noqa: B018


def test_a_text_may_be_changed_wherever_it_stands():
    assert plain.edit("total", "whole", times=2).source == plain.source.replace("total", "whole")


def test_lines_are_given_without_their_indentation():
    wrong = Scale.edit("if X.ndim < 2:\n    X = X[None]", "X = torch.atleast_2d(X)\nX = X + 1")
    assert "\n        X = torch.atleast_2d(X)\n        X = X + 1\n        return" in wrong.source
    assert wrong.function(2)(torch.ones(2)).tolist() == [[2, 2]]


def test_a_line_of_which_nothing_is_left_goes():
    wrong = Scale.edit("if X.ndim < 2:\n    X = X[None]", "")
    assert "def forward(self, X):\n        return X * self.weight" in wrong.source
    assert wrong.function(2)(torch.ones(2)).shape == (2,)


def test_of_a_line_that_begins_elsewhere_what_follows_is_not_the_same_text():
    with pytest.raises(EditError):
        Scale.edit("super().__init__()\n    self.weight", "")


@pytest.mark.parametrize("wrong", [plain.edit("/ n", "* n"), Scale.edit("* self", "+ self")])
def test_python_finds_the_source_of_an_edit(wrong):
    assert inspect.getsource(wrong.function) == wrong.source
    assert source(wrong.function) == wrong.source
    module = inspect.getmodule(wrong.function)
    assert module.__name__.startswith(f"{__name__}.<row_mean, edited")
    assert sys.modules[module.__name__] is module
    assert inspect.getsource(module) == wrong.source
    assert vars(module)["torch"] is torch


def test_equal_edits_are_found_by_equal_names():
    one, other = (plain.edit("/ n", "* n").function.__module__ for _ in range(2))
    assert one == other != plain.edit("/ n", "").function.__module__


def test_a_traceback_shows_the_edited_line():
    wrong = plain.edit("total / n", "total / n.width")
    with pytest.raises(AttributeError) as caught:
        wrong.function(np.ones((2, 3)))
    assert "return total / n.width" in "".join(traceback.format_exception(caught.value))


def test_an_edited_answer_that_calls_itself_calls_its_own_kind():
    wrong = recursive.edit("[x[0].mean(), *", "[x[0].sum(), *")
    assert wrong.function(np.ones((3, 2))) == [2, 2, 1]
    assert recursive(np.ones((3, 2))) == [1, 1, 1]


def test_under_another_name_an_answer_still_calls_itself():
    text = source_as(recursive.function, "row_mean")
    assert "recursive" not in text
    assert text.count("row_mean") == 2


def test_a_nameless_answer_gets_the_exercises_name_and_keeps_its_other_underscores():
    @answer
    def _(x):
        for _ in range(2):
            x = x + 1  # by_one is _
        return x

    assert answer_source(_.function, "row_mean").splitlines() == [
        "def row_mean(x):",
        "    for _ in range(2):",
        "        x = x + 1  # by_one is _",
        "    return x",
    ]


def test_a_name_that_is_an_attribute_or_a_variable_too_stays_there():
    @answer
    def mean(x):
        return x.mean(axis=1)

    @answer
    def loop(x):
        loop = [row.mean() for row in x]
        return loop

    assert source_as(mean.function, "f") == "def f(x):\n    return x.mean(axis=1)"
    assert source_as(loop.function, "f").endswith("    return loop")


# What is refused


def test_two_misconceptions_of_one_name():
    declared = Declaration(row_mean, **FACTS)
    declared.wrong("late", "Why?", plain)
    with pytest.raises(ValueError, match="row_mean: two misconceptions are called 'late'"):
        declared.wrong("late", "Why?", plain.edit("/ n", ""))


def test_two_mutants_of_one_name():
    declared = Declaration(row_mean, **FACTS)
    declared.mutant("late", "axis=1", "axis=0")
    with pytest.raises(ValueError, match="row_mean: two mutants are called 'late'"):
        declared.mutant("late", "axis=1", "axis=-1")
    declared.lets_through("late", "it is early")
    with pytest.raises(
        ValueError, match="row_mean: two reasons are given why the mutant 'late' passes"
    ):
        declared.lets_through("late", "it is late")


def test_cases_are_given_once_and_needed():
    declared = Declaration(row_mean, **FACTS)
    with pytest.raises(ValueError, match="row_mean: the hidden and public cases are missing"):
        declared.exercise  # noqa: B018
    declared.public(lambda rng: [])
    with pytest.raises(ValueError, match="public cases are already declared"):
        declared.public(lambda rng: [])


def test_a_debug_exercise_releases_one_of_its_wrong_answers():
    declared = Declaration(row_mean, **FACTS, kind=Kind.DEBUG)
    declared.wrong("squared", "Why?", plain.edit("/ n", "/ n**2"), released=True)
    declared.public(lambda rng: [Case("one", (np.ones((1, 1)),))])
    declared.hidden(lambda rng: [])
    exercise = declared.exercise
    assert exercise.released is exercise.misconceptions[0]
    assert stub(exercise).endswith("    n = x.shape[1]\n    return total / n**2")


def test_the_kind_needs_what_it_needs():
    for kind in (Kind.DEBUG, Kind.MEASURE):
        declared = Declaration(row_mean, **FACTS, kind=kind)
        declared.public(lambda rng: [])
        declared.hidden(lambda rng: [])
        with pytest.raises(ValueError, match="row_mean"):
            declared.exercise  # noqa: B018


# Promises


def test_a_promise_is_written_once_and_held_by_every_case_that_names_it():
    held = {one.says: one.cases for one in promises(COMPLETE.exercise)}
    assert held == {
        "(m, n), n at least 1": ("two rows", "one column"),
        "Integers are": ("integers",),
    }


def with_promises(*cases):
    declared = Declaration(row_mean, **FACTS)
    declared.public(lambda rng: cases)
    declared.hidden(lambda rng: [Case("hidden", ())])
    return declared.exercise


@pytest.mark.parametrize("short", ["Float…", "n…"])
def test_a_beginning_stands_for_one_promise_or_is_refused(short):
    cases = [Case("a", ()).holds("n at least 1", "n), n at"), Case("b", ()).holds(short)]
    with pytest.raises(ValueError, match=r"row_mean: the case 'b' .* begins [02] promises"):
        promises(with_promises(*cases))


@pytest.mark.parametrize(("says", "found"), [("n at least 2", 0), ("n", 5)])
def test_a_quote_stands_in_the_docstring_once(says, found):
    message = f"row_mean: the case 'a' holds '{says}', which occurs in the docstring {found} times"
    with pytest.raises(ValueError, match=message):
        promises(with_promises(Case("a", ()).holds(says)))


def test_what_a_case_holds_makes_no_other_case_of_it():
    case = Case("a", (1,), {"b": 2}, tolerance=0.5)
    held = case.holds("one", "two").holds("three")
    assert held.promises == ("one", "two", "three")
    assert held.call == case.call
    assert dataclasses.replace(held, promises=()) == case


# Tests as answers


def written_test():
    def test_double(implementation):
        """Write a test of doubling; implementation(x) returns 2 x."""
        assert implementation(2) == 4
        assert implementation(-1) == -2

    return test_double  # in here, pytest does not take it for one of its own


def declared_test():
    declared = Declaration(written_test(), **FACTS, kind=Kind.TEST, imports=("import math",))
    declared.right(written_test())

    @declared.accepts("a product", holds=("implementation(x)",))
    def product(x):
        return math.prod([x, 2])  # noqa: F821

    declared.accepts("a sum", product.edit("math.prod([x, 2])", "math.fsum([x, x])"))
    declared.accepts("a difference", product.edit("math.prod([x, 2])", "x - -x"))
    declared.rejects("a square", product.edit("[x, 2]", "[x, x]"))

    @declared.rejects("nothing", shown=False, holds=("implementation(x)…", "returns 2 x"))
    def _(x):
        return x

    declared.wrong("one number", "Which other number?", answer(row_mean))
    return declared.exercise


def test_a_test_is_given_its_implementations_as_cases():
    exercise = declared_test()
    shown = public_cases(exercise)
    assert [case.note for case in shown] == ["a square", "a product", "a sum"]
    assert [bool(case.raises) for case in shown] == [True, False, False]
    text = shown[0].arguments[0].source
    assert (
        text == "import math\ndef implementation(x):\n    return math.prod([x, x])  # noqa: F821\n"
    )
    hidden = list(exercise.hidden(np.random.default_rng(0)))
    assert {case.note for case in hidden} == {
        "a square",
        "a product",
        "a sum",
        "a difference",
        "nothing",
    }
    assert {one.says: set(one.cases) for one in promises(exercise)} == {
        "implementation(x)": {"a product", "nothing"},
        "returns 2 x": {"nothing"},
    }
    key = build_key(exercise, shown, hidden)
    assert judge(key, observe_quietly(written_test(), key.cases)).verdict is Verdict.PASS


def test_a_class_is_declared_as_a_function_is():
    declared = Declaration(Scale.written, **FACTS)
    declared.right(Scale)
    declared.wrong("added", "What is it called?", Scale.edit("X * self.weight", "X + self.weight"))
    setup = Setup((2,), {}, {"weight": Tensor(np.array([2.0, 3.0]))})

    @declared.public
    def _(rng):
        yield Case("two", (Tensor(rng.normal(size=(3, 2))),), {}, setup)

    declared.hidden(lambda rng: [])
    exercise = declared.exercise
    assert exercise.name == "Scale"
    key = build_key(exercise, public_cases(exercise), ())
    wrong = judge(key, observe_quietly(exercise.misconceptions[0].wrong, key.cases))
    assert wrong.misconception == "added"
    assert answer_source(exercise.misconceptions[0].wrong, "Scale").endswith("X + self.weight")


# A chapter


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A chapter's package with one exercise and one question."""
    folder = tmp_path / "rows"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "mean.py").write_text(f"from {__name__} import COMPLETE as mean\n")
    (folder / "why.py").write_text(
        "from autograder.exercise.model import Written\nwhy = Written('why', 1, 5, 'Says why.')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.split(".")[0] == "rows"]:
        del sys.modules[name]


def test_a_chapter_lists_what_its_files_declare(package):
    chapter = assignment("rows", title="Rows", exercises=("mean",), written=("why",))
    assert (chapter.name, chapter.title) == ("rows", "Rows")
    assert chapter.exercises == (COMPLETE.exercise,)
    assert [one.name for one in chapter.written] == ["why"]


def test_a_file_declares_what_it_is_called(package):
    (package / "mean.py").rename(package / "average.py")
    with pytest.raises(ValueError, match=r"average\.py: it must declare 'average'"):
        assignment("rows", title="Rows", exercises=("average",), written=())
    with pytest.raises(ModuleNotFoundError, match=r"rows\.mean"):
        assignment("rows", title="Rows", exercises=("mean",), written=())
