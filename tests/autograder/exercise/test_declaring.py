"""Test declaring exercises: answers, edits, cases, and errors raised at import."""

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
from autograder.judging.judge import judge
from autograder.judging.keys import build_key, observe_quietly
from autograder.judging.verdict import Verdict

HELP = ("An idea.", "Nearly the code.", "Where to look.")
FACTS = {"points": 2, "difficulty": 1, "minutes": 5, "help": HELP}


def row_mean(x):
    """Return the mean of each row of x: (m, n), n at least 1. Integers are as good as floats."""
    return x.mean(axis=1)


def complete():
    """Return a declaration of the smallest complete exercise."""
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


def test_declaration_becomes_an_exercise():
    exercise = COMPLETE.exercise
    assert isinstance(exercise, Exercise)
    assert (exercise.name, exercise.points, exercise.help) == ("row_mean", 2, HELP)
    assert [wrong.name for wrong in exercise.misconceptions] == ["columns for rows", "the median"]
    assert [wrong.hint for wrong in exercise.misconceptions] == [
        "Which axis?",
        "Which of the numbers count?",
    ]
    assert [answer.__name__ for answer in exercise.alternatives] == ["plain"]
    assert COMPLETE.exercise is exercise


def test_declared_answers_are_judged_as_declared():
    exercise = COMPLETE.exercise
    key = build_key(exercise, public_cases(exercise), exercise.hidden(np.random.default_rng(0)))
    for function in (exercise.reference, *exercise.alternatives):
        assert judge(key, observe_quietly(function, key.cases)).verdict is Verdict.PASS
    for misconception in exercise.misconceptions:
        assert (
            judge(key, observe_quietly(misconception.wrong, key.cases)).misconception
            == misconception.name
        )


def test_base_is_edited_by_answers_but_is_not_an_answer():
    declared = Declaration(row_mean, **FACTS)

    @declared.base(("two columns",))
    def nearly(x):
        return x.sum(axis=1) / 3

    declared.wrong("never divided", "What is the mean of two ones?", nearly.edit(" / 3", ""))
    declared.public(lambda rng: [])
    declared.hidden(lambda rng: [])
    assert declared.exercise.alternatives == ()
    assert [misconception.name for misconception in declared.exercise.misconceptions] == [
        "never divided"
    ]
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
def test_base_cannot_be_declared_as_an_answer(give):
    declared = Declaration(row_mean, **FACTS)

    @declared.base(())
    def nearly(x):
        return x.sum(axis=1) / 3

    with pytest.raises(ValueError, match="row_mean: 'nearly' is a base; only an edit of it"):
        give(declared, nearly)
    give(declared, nearly.edit("/ 3", "/ 4"))


def test_class_may_be_declared_by_a_call():
    declared = Declaration(row_mean, **FACTS)
    scale = declared.right(Scale.written)
    late = declared.wrong("late", "Why?", Scale.written)
    assert scale.source == late.source == Scale.source
    assert late.edit("* self.weight", "* 2").function(2)(torch.ones(1, 2)).tolist() == [[2, 2]]


def test_exercise_in_use_cannot_be_extended():
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


def test_source_of_a_decorated_answer_omits_the_decorator():
    assert plain.source.startswith("def plain(x):\n    total")
    assert Scale.source.startswith("class Scale(nn.Module):\n")
    assert source(plain.function) == plain.source


def test_edit_changes_source_and_function():
    wrong = plain.edit("x.sum(axis=1)", "x.sum(axis=0)")
    assert wrong.source == plain.source.replace("axis=1", "axis=0")
    assert wrong.function(np.ones((2, 3))).tolist() == [2 / 3] * 3
    assert plain.function(np.ones((2, 3))).tolist() == [1, 1]


def test_edits_accumulate():
    wrong = plain.edit("axis=1", "axis=0").edit("x.shape[1]", "x.shape[0]")
    assert wrong.function(np.ones((2, 3))).tolist() == [1, 1, 1]
    again = wrong.edit("total / n", "total")
    assert again.function(np.ones((2, 3))).tolist() == [2, 2, 2]


def test_intermediate_edit_may_be_invalid_python():
    half = plain.edit("x.sum(axis=1)", "(x.sum(axis=1)")
    assert half.edit("n = x.shape[1]", "n = x.shape[1])").source
    with pytest.raises(EditError, match=r"row_mean: .* 'plain' is not valid Python"):
        half.function  # noqa: B018


@pytest.mark.parametrize(
    ("old", "times", "count"),
    [("axis=2", 1, "nowhere"), ("x", 1, "4 times"), ("axis=1", 2, "once"), ("", 1, "nowhere")],
)
def test_error_of_a_failed_edit_names_the_answer_and_the_text(old, times, count):
    with pytest.raises(EditError) as caught:
        plain.edit(old, "y", times=times)
    message = str(caught.value)
    assert "row_mean" in message
    assert "'plain'" in message
    assert f"finds this text {count}" in message
    assert message.endswith(old)


def test_edit_without_a_change_is_refused():
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


def test_names_bound_by_a_match_pattern_are_known():
    wrong = matched.edit("return rows, left", "return left, rows")
    assert wrong.function({"rows": 1, "columns": 2}) == ({"columns": 2}, 1)


def test_edit_may_use_notebook_imports_but_no_unknown_names():
    assert Scale.edit("X * self.weight", "X * math.pi").function(1)(torch.ones(1)) > 3
    with pytest.raises(EditError, match=r"row_mean: .*'plain' uses names .* import: nowhere"):
        plain.edit("total / n", "nowhere(total) / n").function  # noqa: B018


def test_edit_may_change_every_occurrence():
    assert plain.edit("total", "whole", times=2).source == plain.source.replace("total", "whole")


def test_edited_lines_are_indented_automatically():
    wrong = Scale.edit("if X.ndim < 2:\n    X = X[None]", "X = torch.atleast_2d(X)\nX = X + 1")
    assert "\n        X = torch.atleast_2d(X)\n        X = X + 1\n        return" in wrong.source
    assert wrong.function(2)(torch.ones(2)).tolist() == [[2, 2]]


def test_edit_deletes_lines_left_empty():
    wrong = Scale.edit("if X.ndim < 2:\n    X = X[None]", "")
    assert "def forward(self, X):\n        return X * self.weight" in wrong.source
    assert wrong.function(2)(torch.ones(2)).shape == (2,)


def test_text_starting_inside_a_line_matches_later_lines_exactly():
    with pytest.raises(EditError):
        Scale.edit("super().__init__()\n    self.weight", "")


@pytest.mark.parametrize(
    "wrong",
    [plain.edit("/ n", "* n"), Scale.edit("* self", "+ self")],  # type: ignore[attr-defined]
)
def test_inspect_finds_the_source_of_an_edit(wrong):
    assert inspect.getsource(wrong.function) == wrong.source
    assert source(wrong.function) == wrong.source
    module = inspect.getmodule(wrong.function)
    assert module.__name__.startswith(f"{__name__}.<row_mean, edited")
    assert sys.modules[module.__name__] is module
    assert inspect.getsource(module) == wrong.source
    assert vars(module)["torch"] is torch


def test_equal_edits_have_equal_module_names():
    first, second = (plain.edit("/ n", "* n").function.__module__ for _ in range(2))
    assert first == second != plain.edit("/ n", "").function.__module__


def test_traceback_shows_the_edited_line():
    wrong = plain.edit("total / n", "total / n.width")
    with pytest.raises(AttributeError) as caught:
        wrong.function(np.ones((2, 3)))
    assert "return total / n.width" in "".join(traceback.format_exception(caught.value))


def test_edited_recursive_answer_calls_itself():
    wrong = recursive.edit("[x[0].mean(), *", "[x[0].sum(), *")
    assert wrong.function(np.ones((3, 2))) == [2, 2, 1]
    assert recursive(np.ones((3, 2))) == [1, 1, 1]


def test_renamed_recursive_answer_calls_itself():
    text = source_as(recursive.function, "row_mean")
    assert "recursive" not in text
    assert text.count("row_mean") == 2


def test_unnamed_answer_is_renamed_but_other_underscores_are_kept():
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


def test_renaming_leaves_attributes_and_variables_of_the_same_name():
    @answer
    def mean(x):
        return x.mean(axis=1)

    @answer
    def loop(x):
        loop = [row.mean() for row in x]
        return loop

    assert source_as(mean.function, "f") == "def f(x):\n    return x.mean(axis=1)"
    assert source_as(loop.function, "f").endswith("    return loop")


# Errors


def test_duplicate_misconception_name_is_refused():
    declared = Declaration(row_mean, **FACTS)
    declared.wrong("late", "Why?", plain)
    with pytest.raises(ValueError, match="row_mean: two misconceptions are called 'late'"):
        declared.wrong("late", "Why?", plain.edit("/ n", ""))


def test_duplicate_mutant_name_is_refused():
    declared = Declaration(row_mean, **FACTS)
    declared.mutant("late", "axis=1", "axis=0")
    with pytest.raises(ValueError, match="row_mean: two mutants are called 'late'"):
        declared.mutant("late", "axis=1", "axis=-1")
    declared.lets_through("late", "it is early")
    with pytest.raises(
        ValueError, match="row_mean: two reasons are given why the mutant 'late' passes"
    ):
        declared.lets_through("late", "it is late")


def test_cases_are_required_and_declared_once():
    declared = Declaration(row_mean, **FACTS)
    with pytest.raises(ValueError, match="row_mean: the hidden and public cases are missing"):
        declared.exercise  # noqa: B018
    declared.public(lambda rng: [])
    with pytest.raises(ValueError, match="public cases are already declared"):
        declared.public(lambda rng: [])


def test_debug_exercise_releases_a_declared_wrong_answer():
    declared = Declaration(row_mean, **FACTS, kind=Kind.DEBUG)
    declared.wrong("squared", "Why?", plain.edit("/ n", "/ n**2"), released=True)
    declared.public(lambda rng: [Case("one", (np.ones((1, 1)),))])
    declared.hidden(lambda rng: [])
    exercise = declared.exercise
    assert exercise.released is exercise.misconceptions[0]
    assert stub(exercise).endswith("    n = x.shape[1]\n    return total / n**2")


def test_missing_part_of_a_kind_is_refused():
    for kind in (Kind.DEBUG, Kind.MEASURE):
        declared = Declaration(row_mean, **FACTS, kind=kind)
        declared.public(lambda rng: [])
        declared.hidden(lambda rng: [])
        with pytest.raises(ValueError, match="row_mean"):
            declared.exercise  # noqa: B018


# Promises


def test_promises_list_the_cases_that_hold_them():
    cases = {promise.says: promise.cases for promise in promises(COMPLETE.exercise)}
    assert cases == {
        "(m, n), n at least 1": ("two rows", "one column"),
        "Integers are": ("integers",),
    }


def with_promises(*cases):
    declared = Declaration(row_mean, **FACTS)
    declared.public(lambda rng: cases)
    declared.hidden(lambda rng: [Case("hidden", ())])
    return declared.exercise


@pytest.mark.parametrize("short", ["Float…", "n…"])
def test_ambiguous_or_unknown_promise_prefix_is_refused(short):
    cases = [Case("a", ()).holds("n at least 1", "n), n at"), Case("b", ()).holds(short)]
    with pytest.raises(ValueError, match=r"row_mean: the case 'b' .* begins [02] promises"):
        promises(with_promises(*cases))


@pytest.mark.parametrize(("quote", "count"), [("n at least 2", 0), ("n", 5)])
def test_quoted_promise_must_occur_once_in_the_docstring(quote, count):
    message = f"row_mean: the case 'a' holds '{quote}', which occurs in the docstring {count} times"
    with pytest.raises(ValueError, match=message):
        promises(with_promises(Case("a", ()).holds(quote)))


def test_promises_do_not_change_a_case():
    case = Case("a", (1,), {"b": 2}, tolerance=0.5)
    quoting = case.holds("one", "two").holds("three")
    assert quoting.promises == ("one", "two", "three")
    assert quoting.call == case.call
    assert dataclasses.replace(quoting, promises=()) == case


# Tests as answers


def written_test():
    def test_double(implementation):
        """Write a test of doubling; implementation(x) returns 2 x."""
        assert implementation(2) == 4
        assert implementation(-1) == -2

    return test_double  # nested, so that pytest does not collect it


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


def test_implementations_become_cases_of_a_test():
    exercise = declared_test()
    public = public_cases(exercise)
    assert [case.note for case in public] == ["a square", "a product", "a sum"]
    assert [bool(case.raises) for case in public] == [True, False, False]
    text = public[0].arguments[0].source
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
    assert {promise.says: set(promise.cases) for promise in promises(exercise)} == {
        "implementation(x)": {"a product", "nothing"},
        "returns 2 x": {"nothing"},
    }
    key = build_key(exercise, public, hidden)
    assert judge(key, observe_quietly(written_test(), key.cases)).verdict is Verdict.PASS


def test_class_is_declared_like_a_function():
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
    """Write the package of a chapter with one exercise and one question; yield its folder."""
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


def test_chapter_lists_the_exercises_of_its_files(package):
    chapter = assignment("rows", title="Rows", exercises=("mean",), written=("why",))
    assert (chapter.name, chapter.title) == ("rows", "Rows")
    assert chapter.exercises == (COMPLETE.exercise,)
    assert [question.name for question in chapter.written] == ["why"]


def test_file_must_declare_the_exercise_it_is_named_after(package):
    (package / "mean.py").rename(package / "average.py")
    with pytest.raises(ValueError, match=r"average\.py: it must declare 'average'"):
        assignment("rows", title="Rows", exercises=("average",), written=())
    with pytest.raises(ModuleNotFoundError, match=r"rows\.mean"):
        assignment("rows", title="Rows", exercises=("mean",), written=())
