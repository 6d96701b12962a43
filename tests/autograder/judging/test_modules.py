"""Test exercises with torch, functions and modules, in the real sandbox."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
import torch
import toy
import toy_torch
from nbformat.v4 import new_notebook
from toy_torch import AFFINE, LOG_MEAN, MIXER, TOY, program

from autograder.exercise.model import Case, Raises, draw_setup, public_cases
from autograder.exercise.stubs import stub
from autograder.grading.fingerprint import fingerprint
from autograder.grading.program import judge_program
from autograder.grading.sample import answer_source
from autograder.judging.judge import judge
from autograder.judging.keys import build_key, observe_quietly
from autograder.judging.verdict import Verdict
from autograder.notebook.check import check, read_cases, write_cases
from autograder.probe import wire
from autograder.probe.values import Call, Differentiated, Setup, SourceFunction, Tensor, Unloadable
from autograder.proving.mutants import mutants
from autograder.sandbox.limits import LIMITS

RIGHT = {
    exercise.name: answer_source(exercise.reference, exercise.name) for exercise in TOY.exercises
}


def grade(box, **answers):
    return judge_program(
        program(**(RIGHT | answers)), TOY, course_key=b"key", digest="a", sandbox=box
    )


def judgement_of(exercise, answer):
    key = build_key(exercise, public_cases(exercise), ())
    return judge(key, observe_quietly(answer, key.cases))


def test_reference_answers_pass_and_stubs_are_missing(sandbox):
    assert {judgement.verdict for judgement in grade(sandbox).values()} == {Verdict.PASS}
    stubs = {exercise.name: stub(exercise) for exercise in TOY.exercises}
    judgements = grade(sandbox, **stubs).values()
    assert {judgement.verdict for judgement in judgements} == {Verdict.MISSING}


@pytest.mark.parametrize("exercise", TOY.exercises, ids=lambda exercise: exercise.name)
def test_known_answers_are_judged_alike_in_and_out_of_the_sandbox(exercise, sandbox):
    for answer in exercise.alternatives:
        assert judgement_of(exercise, answer).passed
    for misconception in exercise.misconceptions:
        source = answer_source(misconception.wrong, exercise.name)
        sandboxed, direct = (
            grade(sandbox, **{exercise.name: source})[exercise.name],
            judgement_of(exercise, misconception.wrong),
        )
        assert sandboxed.misconception == direct.misconception == misconception.name
        assert sandboxed.verdict is direct.verdict
        assert not sandboxed.passed


RESULT = "self.sign * (x * self.weight + self.bias)"


def affine(init="", forward=f"return {RESULT}"):
    """Return the source of an answer to AFFINE with more in __init__, or another forward."""
    return (
        "class Affine(nn.Module):\n"
        "    def __init__(self, d, negate=False):\n"
        "        super().__init__()\n"
        "        self.bias = nn.Parameter(torch.rand(d))\n"
        "        self.weight = nn.Parameter(torch.rand(d))\n"
        "        self.sign = -1 if negate else 1\n"
        f"        {init}\n"
        "    def forward(self, x):\n"
        f"        {forward}\n"
    )


def run_affine(**parts):
    namespace = dict(vars(toy_torch))
    exec(affine(**parts), namespace)
    return judgement_of(AFFINE, namespace["Affine"])


RIGHT_OTHERWISE = {
    "another order and other first values": {},
    "a buffer": {"init": "self.register_buffer('counts', torch.zeros(7))"},
    "a buffer that is not saved": {"init": "self.register_buffer('t', torch.ones(2), False)"},
    "dropout of rate 0": {
        "init": "self.drop = nn.Dropout(0.0)",
        "forward": f"return self.drop({RESULT})",
    },
    "a second name": {
        "init": "self.gain = self.weight",
        "forward": "return self.sign * (x * self.gain + self.bias)",
    },
    "a submodule that has no parameters": {"init": "self.same = nn.Identity()"},
    "a constant without its dtype": {"forward": f"return torch.zeros(x.shape) + {RESULT}"},
    "another operation": {"forward": "return self.sign * torch.addcmul(self.bias, x, self.weight)"},
    "gradients switched off elsewhere": {"init": "torch.set_grad_enabled(False)"},
}


@pytest.mark.parametrize("name", RIGHT_OTHERWISE)
def test_correct_module_passes_however_it_is_written(name):
    judgement = run_affine(**RIGHT_OTHERWISE[name])
    assert judgement.passed, judgement.message
    assert torch.is_grad_enabled()


FAULTS = {
    "no parameter `bias`": ("del self.bias; self.bias = 0", None, Verdict.WRONG_PARAMETERS),
    "`extra.weight`, which it should not have": (
        "self.extra = nn.Linear(2, 2)",
        None,
        Verdict.WRONG_PARAMETERS,
    ),
    "`bias` has shape (3, 1) and should have (3,)": (
        "self.bias = nn.Parameter(torch.rand(d, 1))",
        None,
        Verdict.WRONG_PARAMETERS,
    ),
    "The parameters should be: `weight` (3,), `bias` (3,)": (
        "del self.bias; self.bias = torch.zeros(d)",
        None,
        Verdict.WRONG_PARAMETERS,
    ),
    "ZeroDivisionError": ("1 / 0", None, Verdict.EXCEPTION),
    "RuntimeError": ("", "return x @ x", Verdict.EXCEPTION),
    "should be a tensor. No gradient flows through NumPy": (
        "",
        "return x.detach().numpy()",
        Verdict.WRONG_TYPE,
    ),
    "`return`": ("", "x + 1", Verdict.WRONG_TYPE),
    "has dtype float16 and should have float64": ("", "return x.half()", Verdict.WRONG_DTYPE),
    "a tensor that is sparse": ("", "return x.to_sparse()", Verdict.WRONG_TYPE),
    "(3,)": ("", "return x[0]", Verdict.WRONG_SHAPE),
    "the result holds nan": ("", "return x * self.weight / 0 * 0", Verdict.NONFINITE),
    "no gradient flows back": ("", f"return ({RESULT}).detach()", Verdict.WRONG_VALUE),
    "no gradient reaches `x`": (
        "",
        "return self.sign * (x.detach() * self.weight + self.bias)",
        Verdict.WRONG_VALUE,
    ),
    "no gradient reaches parameter `weight`": (
        "self.weight.requires_grad_(False)",
        None,
        Verdict.WRONG_VALUE,
    ),
    "the output is right, but the gradient of `x` is": (
        "",
        f"y = {RESULT}; return y + y.mean() - y.mean().detach()",
        Verdict.WRONG_VALUE,
    ),
    "the output is right, but the gradient of `x` holds": (
        "",
        f"return {RESULT} + torch.where(x > 99, (x - x).sqrt() / x, 0)",
        Verdict.NONFINITE,
    ),
    "its backward pass raises RuntimeError": (
        "",
        f"e = ({RESULT}).exp(); y = e.log(); e.zero_(); return y",
        Verdict.EXCEPTION,
    ),
    "changes `x`, which the caller still needs. Work on a copy": (
        "",
        f"y = {RESULT}; x += 1; return y",
        Verdict.MUTATED_INPUT,
    ),
    "in train mode": (
        "self.drop = nn.Dropout(0.5)",
        f"return self.drop({RESULT})",
        Verdict.NONDETERMINISTIC,
    ),
    "a second call": (
        "self.n = 0",
        f"self.n += 1; return {RESULT} * self.n",
        Verdict.NONDETERMINISTIC,
    ),
}


@pytest.mark.parametrize("text", FAULTS)
def test_each_fault_of_a_module_has_its_own_verdict_and_message(text):
    init, forward, verdict = FAULTS[text]
    judgement = run_affine(init=init, **({"forward": forward} if forward else {}))
    assert judgement.verdict is verdict, judgement.message
    assert text in judgement.message


def test_answer_that_is_not_a_module_is_reported():
    judgement = judgement_of(AFFINE, lambda *arguments, **keywords: 3)
    assert judgement.verdict is Verdict.WRONG_TYPE
    assert "of type int and should be a torch.nn.Module" in judgement.message


def test_wrong_output_is_reported_before_a_wrong_gradient():
    judgement = run_affine(forward="return (x * self.weight).detach()")
    assert "the result is" in judgement.message
    assert "gradient" not in judgement.message


def test_mistake_in_the_output_is_named_despite_another_fault_in_the_gradient():
    judgement = run_affine(forward="return self.sign * (x + self.bias) * self.weight.detach()")
    assert judgement.misconception == "Affine__bias_first"


def test_rounding_error_is_accepted_for_a_zero_gradient():
    """Accept rounding error: a key's bias shifts all scores of a query equally."""
    key = build_key(AFFINE, public_cases(AFFINE), ())
    observations = observe_quietly(AFFINE.reference, key.cases)
    for noise, passes in ((1e-17, True), (1e-3, False), (np.nan, False)):
        reference = observations[0].value
        gradients = reference.gradients | {"parameter `bias`": Tensor(np.full(3, noise))}
        right = reference.gradients | {"parameter `bias`": Tensor(np.full(3, 0.0))}
        answer = Differentiated(reference.output, gradients)
        observed = [type(observations[0])(answer, observations[0].arguments_after, answer)]
        expected = (Differentiated(reference.output, right),)
        short = type(key)(key.exercise, key.cases[:1], 1, expected, ())
        assert judge(short, observed).passed is passes, noise


def test_changed_tensor_argument_is_reported_beside_a_function_argument():
    twice = SourceFunction("f", "def f(X):\n    return 2 * X")
    case = Case("three numbers", (twice, Tensor(np.arange(3.0))))

    def applied(f, X):
        return f(X)

    def in_place(f, X):
        return X.copy_(f(X))

    exercise = dataclasses.replace(LOG_MEAN, reference=applied, cases=lambda rng: [case])
    assert judgement_of(exercise, applied).passed
    assert judgement_of(exercise, in_place).verdict is Verdict.MUTATED_INPUT


def test_case_may_use_the_initial_parameters_of_the_class():
    def cases(rng):
        setup = draw_setup(rng, toy_torch.Affine, 3, load=False)
        yield Case("at the start", (Tensor(rng.normal(size=(2, 3))),), setup=setup)

    starts = dataclasses.replace(AFFINE, cases=cases)
    assert judgement_of(starts, toy_torch.Affine).passed
    assert judgement_of(starts, toy_torch.Affine__bias_first).passed
    namespace = dict(vars(toy_torch))
    exec(affine(), namespace)  # starts with random values
    assert judgement_of(starts, namespace["Affine"]).verdict is Verdict.WRONG_VALUE
    exec(affine("self.weight = nn.Parameter(torch.ones(d + 1))"), namespace)
    assert judgement_of(starts, namespace["Affine"]).verdict is Verdict.WRONG_PARAMETERS


def test_missing_exception_in_a_constructor_is_reported():
    def divided(d, negate=False):
        if d % 2:
            raise ValueError(f"d is {d}")
        return toy_torch.Affine(d, negate)

    def cases(rng):
        setup = Setup((3,), {}, {})
        yield Case(
            "odd", (Tensor(rng.normal(size=(2, 3))),), {}, setup, Raises("ValueError", ("3",))
        )

    halved = dataclasses.replace(AFFINE, cases=cases, reference=divided)
    assert judgement_of(halved, divided).passed
    judgement = judgement_of(halved, toy_torch.Affine)
    assert judgement.verdict is Verdict.WRONG_EXCEPTION
    sentence = "it should raise ValueError when it is constructed, but makes a module"
    assert judgement.message == f"On the case “odd”: {sentence}."


def test_message_on_a_hidden_case_contains_no_numbers(sandbox):
    """Grade a module that recognises the two public cases by their sums."""
    calls = [case.call for case in public_cases(AFFINE)]
    arguments = [
        argument for call in calls for argument in (*call.arguments, *call.keywords.values())
    ]
    known = [round(float(argument.array.sum()), 3) for argument in arguments]
    source = affine(
        forward=f"y = {RESULT}; return y if round(float(x.sum()), 3) in {known} else y.detach()"
    )
    judgement = grade(sandbox, Affine=source)["Affine"]
    assert judgement.verdict is Verdict.WRONG_VALUE
    assert "On a hidden one (two tokens), the output is right, but no gradient" in judgement.message


def test_torch_out_of_memory_is_a_memory_verdict_for_one_exercise(sandbox):
    bomb = "torch.ones(10**10)"
    for source in (f"def log_mean(X, targets): return {bomb}", f"x = {bomb}"):
        judgements = grade(sandbox, log_mean=source)
        assert judgements["log_mean"].verdict is Verdict.MEMORY
        assert judgements["Mixer"].passed


def test_memory_limit_excludes_what_torch_maps(sandbox):
    """Count what an answer allocates, not the hundreds of MiB that torch maps."""
    room = f"room = torch.zeros({LIMITS.memory * 3 // 4}, dtype=torch.int8)\n"
    assert grade(sandbox, log_mean=room + RIGHT["log_mean"])["log_mean"].passed


def test_multithreaded_operations_do_not_hang_forked_processes(sandbox):
    work = "torch.set_num_threads(4)\nbig = torch.ones(700, 700)\n(big @ big).sum()\n"
    source = work + RIGHT["log_mean"]  # runs before the calls of each exercise fork
    judgements = grade(sandbox, log_mean=source)
    assert all(judgement.passed for judgement in judgements.values()), judgements


def test_torch_uses_one_thread_in_and_out_of_the_sandbox(sandbox):
    source = "def log_mean(X, targets): raise LookupError(torch.get_num_threads())"
    assert "LookupError: 1 " in grade(sandbox, log_mean=source)["log_mean"].message

    def log_mean(X, targets):
        raise LookupError(torch.get_num_threads())

    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert judgement_of(LOG_MEAN, log_mean).message.startswith(
            "On the case “two rows”: it raises LookupError: 1."
        )
        assert torch.get_num_threads() == 2, "check must restore the number of threads"
    finally:
        torch.set_num_threads(threads)


def visible(n):
    """Return which of `n` tokens each token sees, (n, n)."""
    return torch.ones(n, n).tril()


VISIBLE = dataclasses.replace(
    LOG_MEAN,
    name="visible",
    reference=visible,
    cases=lambda _: [Case("three tokens", (3,))],
    hidden=lambda _: [Case("more tokens", (5,))],
    misconceptions=(),
    alternatives=(),
)


@pytest.mark.parametrize(
    ("result", "verdict"),
    [
        ("torch.ones(n, n).tril()", Verdict.PASS),
        ("torch.ones(n, n).triu()", Verdict.WRONG_VALUE),
        ("torch.ones(3, 3).tril()", Verdict.WRONG_SHAPE),
        ("torch.ones(n, n).tril().bool()", Verdict.WRONG_DTYPE),
        ("torch.ones(n, n).tril().numpy()", Verdict.WRONG_TYPE),
        ("[torch.ones(n, n).tril()]", Verdict.WRONG_TYPE),
    ],
)
def test_tensor_built_from_integer_arguments_is_compared(result, verdict, sandbox):
    source = f"def visible(n):\n    import torch\n    return {result}"
    whole = dataclasses.replace(TOY, exercises=(VISIBLE,))
    cells = [toy.Cell(source, "visible")]
    judgements = judge_program(cells, whole, course_key=b"key", digest="a", sandbox=sandbox)
    assert judgements["visible"].verdict is verdict


def test_reference_result_that_cannot_be_compared_is_refused():
    opaque = dataclasses.replace(
        VISIBLE, reference=lambda n: {"sees": (1, torch.ones(n).to_sparse())}
    )
    with pytest.raises(ValueError, match=r"sparse.*three tokens"):
        build_key(opaque, public_cases(opaque), ())


def test_assignment_without_torch_does_not_import_torch(sandbox):
    source = "import sys\ndef row_mean(X): raise LookupError('torch' in sys.modules)"
    judgement = judge_program(
        toy.program(source), toy.TOY, course_key=b"key", digest="a", sandbox=sandbox
    )["row_mean"]
    assert "LookupError: False" in judgement.message
    code = (
        "import sys; from autograder import cli, notebook; "
        "from autograder.grading import program; "
        "from autograder.exercise.model import public_cases; "
        "from autograder.judging.keys import build_key; "
        "from exercises import COURSE; "
        "exercise = COURSE['self_attention'].exercises[0]; "
        "build_key(exercise, public_cases(exercise), ()); print('torch' in sys.modules)"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.strip() == "False"


@pytest.fixture
def desk(tmp_path, monkeypatch):
    write_cases(TOY, tmp_path / "toy_torch.cases")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_self_check_reports_on_torch_answers_in_a_notebook(desk):
    assert check(toy_torch.Affine).judgement.passed
    assert check(toy_torch.log_mean).judgement.passed
    namespace = dict(vars(toy_torch))
    exec(affine(forward="return self.sign * (x.detach() * self.weight + self.bias)"), namespace)
    report = check(namespace["Affine"])
    assert "no gradient reaches `x`" in repr(report)
    for title in ("your result", "right result", "right gradient of x"):
        assert title in report._repr_html_()
    exec(stub(AFFINE), namespace)
    assert check(namespace["Affine"]).judgement.verdict is Verdict.MISSING


def test_self_check_restores_the_state_of_torch(desk):
    torch.manual_seed(3)
    before = torch.get_rng_state()
    check(toy_torch.Mixer)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_default_dtype() is torch.float32


def test_released_cases_contain_no_code(desk):
    data = (desk / "toy_torch.cases").read_bytes()
    for word in (b"def ", b"class ", b"return", b"import"):
        assert word not in data
    assert [key.needs_torch for key in read_cases(desk / "toy_torch.cases")] == [True] * 3


def test_stub_of_a_class_runs_and_lists_its_parameters():
    text = stub(MIXER)
    namespace = {"nn": torch.nn, "torch": torch}
    exec(text, namespace)
    assert issubclass(namespace["Mixer"], torch.nn.Module)
    assert "Mixer(3, 2)" in text
    for name, parameter in toy_torch.Mixer(3, 2).named_parameters():
        assert f"{name} {tuple(parameter.shape)}" in text
    assert "tril" not in text
    assert '"""d: the number of features.' in stub(AFFINE)


def test_incomplete_answer_is_not_taken_for_a_stub():
    text = stub(AFFINE).replace(
        "super().__init__()\n        raise NotImplementedError", "super().__init__()"
    )
    namespace = dict(vars(toy_torch))
    exec(text, namespace)
    assert judgement_of(AFFINE, namespace["Affine"]).verdict is Verdict.WRONG_PARAMETERS


def test_mutants_of_classes_are_generated_and_caught():
    for exercise in (AFFINE, MIXER):
        key = build_key(exercise, public_cases(exercise), ())
        results = [
            (change, judge(key, observe_quietly(mutant, key.cases)).passed)
            for change, mutant in mutants(exercise.reference)
        ]
        assert len(results) >= 8
        survivors = [change for change, passed in results if passed]
        equivalent = ("dtype=x.dtype", "sum(+1")  # the default dtype; of two axes, 1 is the last
        assert [
            change for change in survivors if not any(part in change for part in equivalent)
        ] == []


@pytest.mark.parametrize(
    "value",
    [
        Tensor(np.zeros((0, 3), np.float32), gradient=False),
        Call((Tensor(np.ones(2)),), {"k": 1}, Setup((3,), {"b": 1}, {"w": Tensor(np.ones(1))})),
        Differentiated((Tensor(np.ones(2)), 3), {"a": Tensor(np.ones(2)), "b": None}),
        Unloadable({"w": (2, 3)}),
    ],
)
def test_values_of_torch_survive_encoding(value):
    back = wire.decode(wire.encode(value))
    assert wire.encode(back) == wire.encode(value)
    assert type(back) is type(value)


FORGED = {
    "gradients of strings": Differentiated(Tensor(np.zeros((2, 3))), {"argument 1": "x"}),
    "gradients of integers": Differentiated(
        Tensor(np.zeros((2, 3))), {"argument 1": Tensor(np.zeros((2, 3), int))}
    ),
    "shapes of arrays": Unloadable({"weight": np.zeros(9), "bias": (np.zeros(9),)}),
    "no shapes": Unloadable({}),
    "a nested outcome": Differentiated(Differentiated(None, None), None),
    "a call": Call((np.zeros(3),)),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_outcomes_never_pass(name):
    value = FORGED[name]
    key = build_key(AFFINE, public_cases(AFFINE), ())
    right = observe_quietly(AFFINE.reference, key.cases)
    for parts in ((value, right[0].again), (value, value), (right[0].value, value)):
        forged = type(right[0])(parts[0], right[0].arguments_after, parts[1])
        sent = wire.decode(wire.encode([forged, *right[1:]]))
        assert not judge(key, sent).passed


def test_forged_gradients_never_pass():
    key = build_key(LOG_MEAN, public_cases(LOG_MEAN), ())
    right = observe_quietly(LOG_MEAN.reference, key.cases)
    for gradients in ({}, None, {"argument 2": Tensor(np.ones(2))}):
        value = Differentiated(right[0].value.output, gradients)
        forged = type(right[0])(value, right[0].arguments_after, value)
        assert not judge(key, [forged, *right[1:]]).passed


def test_fingerprint_of_torch_exercises_depends_on_the_torch_version(monkeypatch):
    before = (
        fingerprint(TOY, new_notebook(), ("toy_torch",)),
        fingerprint(toy.TOY, new_notebook(), ("toy",)),
    )
    monkeypatch.setattr("autograder.grading.fingerprint.metadata.version", lambda name: "0")
    after = (
        fingerprint(TOY, new_notebook(), ("toy_torch",)),
        fingerprint(toy.TOY, new_notebook(), ("toy",)),
    )
    assert before[0] != after[0]
    assert before[1] == after[1]
