"""Test function arguments: called outside the sandbox, hidden from answers, and counted."""

import dataclasses
import textwrap

import numpy as np
import pytest
import torch
import toy
from nightly import in_places

from autograder.exercise.model import Assignment, Case, SourceFunction
from autograder.grading import questions
from autograder.grading.messages import encode_calls
from autograder.grading.program import judge_program
from autograder.grading.sample import answer_source
from autograder.judging.keys import build_key
from autograder.judging.verdict import Verdict
from autograder.probe import asking, wire
from autograder.probe.supervisor import TRUSTING
from autograder.probe.values import Call, FunctionElsewhere, Setup, Tensor
from autograder.sandbox.backends import open_sandbox
from exercises import COURSE
from exercises.transformer.greedy_translate import COPIES

DOUBLE = SourceFunction("f", "def f(x, by=2):\n    return np.asarray(x) * by")
FIRST = SourceFunction("f", "def f(x):\n    return {'first': (x[0], None)}['first']")


def twice(f, x):
    """Return `f` applied twice to `x`."""
    return f(f(x))


def cases(rng):
    return [Case("doubled", (DOUBLE, rng.normal(size=3))), Case("whole numbers", (DOUBLE, 7))]


def hidden(rng):
    return [Case("more", (DOUBLE, rng.normal(size=(2, 4)).astype(np.float32)))]


TWICE = dataclasses.replace(
    toy.MEAN, name="twice", reference=twice, cases=cases, hidden=hidden, misconceptions=()
)
TOY = Assignment("toy", "Toy", (TWICE,), ())


PLACES = ("warm", "cold", "trusted")


@pytest.fixture(scope="module", params=PLACES)
def box(request):
    trust = request.param == "trusted"
    box = open_sandbox(trust=trust, mode=None if trust else request.param)
    yield box
    box.close()


def grade(box, body):
    source = f"import numpy as np\n\ndef twice(f, x):\n{textwrap.indent(body, '    ')}"
    program = [toy.Cell(source, "twice")]
    return judge_program(program, TOY, course_key=b"key", digest="a", sandbox=box)["twice"]


ANSWERS = {
    "calls": ("return f(f(x))", Verdict.PASS),
    "by keyword": ("return f(x=f(x, by=2), by=2)", Verdict.PASS),
    "in threads": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(4) as pool:\n"
        "    return f(list(pool.map(f, [x] * 8))[3])",
        Verdict.PASS,
    ),
    "by heart": ("return x * 4", Verdict.FORBIDDEN),
    "by heart, after a call": ("f(0)\nreturn np.asarray(x) * 4", Verdict.FORBIDDEN),
    "the same call over and over": ("[f(0) for _ in 'abc']\nreturn x * 4", Verdict.FORBIDDEN),
    "reads its code": ("return x * f.__code__.co_consts[1]", Verdict.EXCEPTION),
    "an argument of another kind": ("return f({x})", Verdict.EXCEPTION),
    "raises": ("return f()", Verdict.EXCEPTION),
    "stops the process that answers": (
        "import os, signal\n"
        "if os.getppid() == 1: os.kill(os.getpid() - 1, signal.SIGKILL)\n"
        "return f()",
        Verdict.EXCEPTION,
    ),
}


OF_THE_PLACE = ("calls", "in threads", "raises", "stops the process that answers")


@pytest.mark.parametrize(
    ("name", "box"), in_places(ANSWERS, PLACES, OF_THE_PLACE), indirect=["box"]
)
def test_answer_must_call_the_function_it_receives(name, box):
    body, verdict = ANSWERS[name]
    judgement = grade(box, body)
    assert judgement.verdict is verdict, judgement.message


def test_message_does_not_reveal_the_number_of_calls(box):
    """Check equal messages: a number of calls could encode what a hidden case contains."""
    bodies = ("return x * 4", "f(0)\nreturn np.asarray(x) * 4")
    assert len({grade(box, body).message for body in bodies}) == 1


def test_exception_from_the_function_keeps_its_type(box):
    body = "try: f()\nexcept TypeError as error: assert 'argument' in str(error)\nreturn f(f(x))"
    assert grade(box, body).passed


GIVEN_FUNCTIONS = (
    "context_bottleneck.greedy_decode",
    "self_attention.permute_equivariantly",
    "transformer.beam_search",
    "transformer.greedy_translate",
    "transformer.train_step",
)


@pytest.mark.parametrize(
    ("name", "box"),
    in_places(GIVEN_FUNCTIONS, PLACES, GIVEN_FUNCTIONS[:1]),
    indirect=["box"],
)
def test_correct_answers_that_receive_functions_pass(name, box, monkeypatch):
    assignment, exercise_name = name.split(".")
    trusted = box.mode == TRUSTING
    if trusted:  # its time limits are of the wall clock, which other tests affect
        monkeypatch.setattr(questions, "LIMITS", dataclasses.replace(questions.LIMITS, seconds=20))
    course_key = b"another" if trusted else b"key"  # questions are cached with their limits
    whole = COURSE[assignment]
    exercise = whole.exercise(exercise_name)
    for answer in exercise.alternatives:
        source = answer_source(answer, exercise_name)
        modules = "import numpy as np\n" + "import torch\n" * (assignment == "transformer")
        program = [toy.Cell(f"{modules}\n{source}", exercise_name)]
        judgements = judge_program(
            program, whole, course_key=course_key, digest="a", sandbox=box, only=[exercise_name]
        )
        assert judgements[exercise_name].passed, judgements[exercise_name].message


def test_source_of_a_function_is_not_sent_to_the_sandbox():
    calls = [Call((DOUBLE, [1, (FIRST,)]), {"g": {"h": DOUBLE}}), Call((1,))]
    encoded = encode_calls([("one", calls), ("none", [Call((2,))]), ("two", [Call((FIRST,))])])
    assert b"return" not in encoded.calls
    assert encoded.numbers == {
        "one": [range(3), range(3, 3)],
        "none": [range(3, 3)],
        "two": [range(3, 4)],
    }
    assert wire.decode(encoded.functions) == [DOUBLE, FIRST, DOUBLE, FIRST]
    (_, back), *_ = encoded.restore_functions(wire.decode(encoded.calls))
    assert back == calls
    assert encoded.restore_functions(FunctionElsewhere(5)) == FunctionElsewhere(5)
    assert encode_calls([("none", [Call((2,))])]).functions == b""


def test_function_stays_local_if_gradients_may_flow_through_it():
    calls = [
        Call((DOUBLE, [Tensor(np.ones(2), gradient=False)])),
        Call((DOUBLE,), setup=Setup((), {}, {})),
        Call((DOUBLE, [Tensor(np.ones(2, int))])),
    ]
    encoded = encode_calls([("one", calls)])
    assert wire.decode(encoded.functions) == [DOUBLE]
    functions = [call.arguments[0] for call in dict(wire.decode(encoded.calls))["one"]]
    assert functions == [DOUBLE, DOUBLE, FunctionElsewhere(0)]
    (_, back), *_ = encoded.restore_functions(wire.decode(encoded.calls))
    assert [call.arguments[0] for call in back] == [DOUBLE] * 3


MODELS = {
    "reads its code": (
        "bool(model.__code__.co_names)\nreturn sources[:, :1] * model.__code__.co_consts[1]",
        Verdict.EXCEPTION,
    ),
    "knows the model": (
        "copies = [row[: (row == stop).nonzero()[0, 0] + 1] if stop in row else row\n"
        "         for row in sources.repeat(1, 9)[:, :max_len]]\n"
        "return torch.nn.utils.rnn.pad_sequence(copies, batch_first=True, padding_value=pad)",
        Verdict.FORBIDDEN,
    ),
}
"""On cases whose model copies the source, the second is correct without calling the model."""


@pytest.mark.parametrize(("name", "box"), in_places(MODELS, PLACES), indirect=["box"])
def test_function_of_token_ids_is_called_outside_the_sandbox(name, box):
    body, verdict = MODELS[name]
    whole = COURSE["transformer"]
    exercise = whole.exercise("greedy_translate")

    def copied(rng):
        cases = [case for case in exercise.cases(rng) if case.arguments[0] is COPIES]
        return [case for case in cases if len(case.arguments[1].array) and case.arguments[-1]]

    exercise_on_copies = dataclasses.replace(
        TWICE, name=exercise.name, reference=exercise.reference, cases=copied, hidden=lambda _: ()
    )
    source = "import torch\n\ndef greedy_translate(model, sources, start, stop, pad, max_len):\n"
    program = [toy.Cell(source + textwrap.indent(body, "    "), exercise.name)]
    toy_assignment = Assignment("toy", "Toy", (exercise_on_copies,), ())
    judgements = judge_program(program, toy_assignment, course_key=b"key", digest="a", sandbox=box)
    assert judgements[exercise.name].verdict is verdict, judgements[exercise.name].message


def test_distinct_calls_of_the_reference_are_counted():
    rng = np.random.default_rng(0)
    assert build_key(TWICE, cases(rng), hidden(rng)).requests == 6
    assert build_key(toy.MEAN, toy.cases(rng), ()).requests == 0


@pytest.mark.parametrize(
    "value",
    [
        None,
        [1, (2.5, "x", (), [None, [True]])],
        {"a": {"b": (1,)}},
        [np.int64(3), np.float32(0.5), np.bool_(True)],
        [np.arange(6.0).reshape(2, 3).T, np.zeros((0, 2), int), np.array(3)],
    ],
)
def test_arguments_of_a_request_survive_packing(value):
    back = asking.unpack(asking.pack(value))
    np.testing.assert_equal(back, value)
    assert wire.encode(back) == wire.encode(value)


def test_packed_tensor_is_detached_from_its_graph():
    weight = torch.arange(6.0, dtype=torch.float64).reshape(2, 3).requires_grad_()
    back = asking.unpack(asking.pack([(weight * 2).T, torch.tensor(3), torch.tensor([True])]))
    assert not back[0].requires_grad
    torch.testing.assert_close(back[0], (weight * 2).T.detach(), rtol=0, atol=0)
    assert [tensor.tolist() for tensor in back[1:]] == [3, [True]]
    with pytest.raises(TypeError, match="Parameter"):
        asking.pack(torch.nn.Parameter(weight.detach()))


def test_equal_requests_are_encoded_equally():
    token = 10**9
    shared, apart = [token, token], [10**9, int("1000000000")]
    assert asking.request(0, [shared, shared], {}) == asking.request(0, [apart, list(apart)], {})
