"""The stub: signature and docstring of the reference, and nothing of its body."""

import dataclasses
import inspect
from collections.abc import Callable

import numpy as np
import pytest
import toy

from autograder.exercise.answers import Answer
from autograder.exercise.model import Case, Setup
from autograder.exercise.stubs import stub
from autograder.probe.observe import is_stub


def plain(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Say what.

    x: any shape. A backslash n stays one: \\n.
    """
    hidden_work = x.sum(axis)
    return hidden_work


def rich(a, b=(1, 2), /, *rest: float, attend: Callable, mask: np.ndarray | None = None, **more):
    """Say much."""
    return a


def long(
    queries: np.ndarray, keys: np.ndarray, values: np.ndarray, mask: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Say more."""
    return queries, keys


def undocumented(x):
    return x


def unknown_default(x, width=toy.MEAN):
    """Say what."""
    return x


def made(reference, name="answer"):
    return stub(dataclasses.replace(toy.MEAN, name=name, reference=reference))


def test_the_stub_has_the_signature_and_the_docstring_and_not_the_body():
    assert made(plain) == (
        "def answer(x: np.ndarray, axis: int = -1) -> np.ndarray:\n"
        '    """Say what.\n\n'
        "    x: any shape. A backslash n stays one: \\\\n.\n"
        '    """\n'
        "    raise NotImplementedError"
    )


@pytest.mark.parametrize("reference", [plain, rich, long])
def test_a_stub_runs_in_a_notebook_and_equals_its_reference_in_all_but_the_body(reference):
    namespace = {"np": np}
    exec(made(reference), namespace)
    answer = namespace["answer"]
    assert inspect.getdoc(answer) == inspect.getdoc(reference)
    expected = inspect.signature(reference).parameters.values()
    given = inspect.signature(answer).parameters.values()
    assert [(p.name, p.kind, p.default) for p in given] == [
        (p.name, p.kind, p.default) for p in expected
    ]
    assert is_stub(answer)


def test_an_annotation_that_a_notebook_does_not_know_is_left_out_and_the_others_stay():
    head = made(rich)
    assert "    attend,\n" in head
    assert "mask: np.ndarray | None = None" in head
    assert "*rest: float" in head


def test_a_long_signature_has_an_argument_a_line():
    lines = made(long).splitlines()
    assert lines[0] == "def answer("
    assert lines[4] == "    mask: np.ndarray | None = None,"
    assert lines[5] == ") -> tuple[np.ndarray, np.ndarray]:"


@pytest.mark.parametrize("reference", [undocumented, unknown_default])
def test_a_reference_that_gives_no_stub_is_refused(reference):
    with pytest.raises(ValueError, match=r"docstring|cannot evaluate"):
        made(reference)


def test_the_stub_of_a_debug_exercise_is_the_wrong_function_with_the_right_docstring():
    text = stub(toy.CENTRED)
    assert text == (
        "def centred(X):\n"
        '    """Return `X`, shape (n, d), less the mean of each row: the same shape."""\n'
        "    # The first axis, or the last?\n"
        "    mean = X.mean(axis=0)\n"
        "\n"
        "    return X - mean"
    )
    namespace = {"np": np}
    exec(text, namespace)
    X = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(namespace["centred"](X), toy.centred__columns(X))
    assert not is_stub(namespace["centred"])


class Documented:
    """Say what."""

    def __init__(self, size: int) -> None:
        """size: of what."""
        self.made(size)

    def forward(self, X):
        """X: what is said."""
        return X


def test_the_stub_of_a_class_to_debug_has_the_wrong_methods_with_the_right_docstrings():
    class Wrong:
        def __init__(self, size):
            self.size = size

        def added(self, X):
            return X + self.size

        def forward(self, X):
            # twice?
            return self.added(self.added(X))

    released = toy.CENTRED.released
    wrong = dataclasses.replace(released, answer=Answer("Documented", Wrong))
    text = stub(
        dataclasses.replace(
            toy.CENTRED,
            name="Documented",
            reference=Documented,
            cases=lambda rng: [Case("one", (1,), setup=Setup((1,), {}, {}))],
            misconceptions=(wrong,),
        )
    )
    namespace = {}
    exec(text, namespace)
    answer = namespace["Documented"]
    assert answer(2).forward(3) == 7
    for name in ("__init__", "forward"):
        assert inspect.getdoc(vars(answer)[name]) == inspect.getdoc(vars(Documented)[name])
    assert "        # twice?\n        return self.added(self.added(X))" in text
    assert text.index("def added(self, X):") < text.index("def forward")
