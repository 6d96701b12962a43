"""Test stubs: the signature and docstring of the reference without its body."""

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


def stub_of(reference, name="answer"):
    return stub(dataclasses.replace(toy.MEAN, name=name, reference=reference))


def test_stub_has_signature_and_docstring_without_the_body():
    assert stub_of(plain) == (
        "def answer(x: np.ndarray, axis: int = -1) -> np.ndarray:\n"
        '    """Say what.\n\n'
        "    x: any shape. A backslash n stays one: \\\\n.\n"
        '    """\n'
        "    raise NotImplementedError"
    )


@pytest.mark.parametrize("reference", [plain, rich, long])
def test_stub_runs_and_matches_the_reference_except_for_the_body(reference):
    namespace = {"np": np}
    exec(stub_of(reference), namespace)
    answer = namespace["answer"]
    assert inspect.getdoc(answer) == inspect.getdoc(reference)
    expected = inspect.signature(reference).parameters.values()
    actual = inspect.signature(answer).parameters.values()
    assert [(p.name, p.kind, p.default) for p in actual] == [
        (p.name, p.kind, p.default) for p in expected
    ]
    assert is_stub(answer)


def test_annotations_unknown_in_a_notebook_are_left_out():
    head = stub_of(rich)
    assert "    attend,\n" in head
    assert "mask: np.ndarray | None = None" in head
    assert "*rest: float" in head


def test_long_signature_has_one_argument_per_line():
    lines = stub_of(long).splitlines()
    assert lines[0] == "def answer("
    assert lines[4] == "    mask: np.ndarray | None = None,"
    assert lines[5] == ") -> tuple[np.ndarray, np.ndarray]:"


@pytest.mark.parametrize("reference", [undocumented, unknown_default])
def test_reference_without_a_valid_stub_is_refused(reference):
    with pytest.raises(ValueError, match=r"docstring|cannot evaluate"):
        stub_of(reference)


def test_debug_stub_is_the_wrong_function_with_the_right_docstring():
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
        self.size = size

    def forward(self, X):
        """X: what is said."""
        return X


def test_debug_stub_of_a_class_has_wrong_methods_with_right_docstrings():
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
