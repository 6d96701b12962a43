"""Test that ready-made functions are forbidden if writing them is the exercise."""

import subprocess
import sys

import pytest
from keys import EXERCISES, shown_cases
from ready_made_answers import IMPORTED_IN_THE_CALL, READY_MADE, source
from toy import Cell, imports

from autograder.exercise.model import Kind
from autograder.grading.program import judge_program
from autograder.judging.judge import judge
from autograder.judging.keys import build_key, observe_quietly
from autograder.judging.verdict import Verdict
from exercises import COURSE
from exercises.forbidden import AUTOMATIC_DIFFERENTIATION

BY_NAME = {param.values[0].name: param.values[0] for param in EXERCISES}
ANSWERS = [(name, way) for name, ways in READY_MADE.items() for way in ways]


@pytest.mark.parametrize(
    "exercise", [exercise for exercise in EXERCISES if exercise.values[0].forbidden]
)
def test_no_known_answer_runs_a_forbidden_function(exercise):
    """Check right and wrong answers, all of which compute the result themselves."""
    wrong = [misconception.wrong for misconception in exercise.misconceptions]
    for function in (exercise.reference, *exercise.alternatives, *wrong):
        observed = observe_quietly(function, shown_cases(exercise), exercise.forbidden)
        assert {observation.ready_made for observation in observed} == {()}, function.__name__


@pytest.mark.parametrize(("name", "way"), ANSWERS)
def test_a_ready_made_answer_is_forbidden(name, way):
    exercise = BY_NAME[name]
    namespace = {}
    exec(source(name, way), namespace)
    key = build_key(exercise, shown_cases(exercise), ())
    judgement = judge(key, observe_quietly(namespace[name], key.cases, key.forbidden))
    assert judgement.verdict is Verdict.FORBIDDEN
    assert judgement.message.startswith("It runs `torch.")
    assert judgement.message.endswith("Writing it is the exercise.")


IN_A_PROCESS = {
    "fork": "child = os.fork() or os._exit(0)\n    os.waitpid(child, 0)",
    "system": 'os.system("exit 0")',
    "spawn": "os.waitpid(os.posix_spawn(sys.executable, [sys.executable, '-V'], os.environ), 0)",
    "subprocess": 'subprocess.run([sys.executable, "-V"], check=True, capture_output=True)',
    "pool": 'multiprocessing.get_context("fork").Pool(1).close()',
}


@pytest.mark.parametrize("start_process", IN_A_PROCESS.values(), ids=IN_A_PROCESS)
def test_the_self_check_reports_a_forbidden_process(start_process):
    exercise = BY_NAME["softmax"]
    text = "import multiprocessing, os, subprocess, sys\nimport numpy as np\n"
    text += f"def softmax(x, axis=-1):\n    {start_process}\n    return right(x, axis)"
    namespace = {"right": exercise.reference}
    exec(text, namespace)
    key = build_key(exercise, shown_cases(exercise)[:1], ())
    judgement = judge(key, observe_quietly(namespace["softmax"], key.cases, key.forbidden))
    assert judgement.verdict is Verdict.FORBIDDEN
    assert judgement.message.startswith("It starts a process")
    assert judge(key, observe_quietly(namespace["softmax"], key.cases)).passed


def test_the_sandboxed_grader_forbids_a_ready_made_answer_too(sandbox):
    assignment = COURSE["transformer_block"]
    judgements = judge_program(
        [imports(assignment), Cell(source("LayerNorm", "subclass"), "LayerNorm")],
        assignment,
        course_key=b"key",
        digest="ready-made",
        sandbox=sandbox,
        only=["LayerNorm"],
    )
    assert judgements["LayerNorm"].verdict is Verdict.FORBIDDEN


def test_a_ready_made_function_imported_during_the_call_is_detected():
    code = (
        "import sys, numpy as np\n"
        "from exercises.forbidden import ATTENTION\n"
        "from autograder.judging.keys import observe_quietly\n"
        "from autograder.exercise.model import Case\n"
        "assert 'torch' not in sys.modules\n"
        "cases = [Case('one', (np.ones((2, 2)),) * 3)] * 2\n"
        "observations = observe_quietly(scaled_dot_product_attention, cases, ATTENTION)\n"
        "print(*observations[0].ready_made, sep='\\n')"
    )
    command = [sys.executable, "-c", f"{IMPORTED_IN_THE_CALL}\n\n{code}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "torch.nn.functional.scaled_dot_product_attention" in done.stdout.splitlines()


def test_ready_made_functions_are_allowed_outside_the_answer():
    exercise = BY_NAME["softmax"]
    namespace = {}
    comparison = "\nx = np.ones(3)\nassert np.allclose(softmax(x), torch.softmax(torch.ones(3), 0))"
    right = "def softmax(x, axis=-1):\n    e = np.exp(x - x.max(axis, keepdims=True))\n"
    right += "    return e / e.sum(axis, keepdims=True)\n"
    exec("import numpy as np\nimport torch\n" + right + comparison, namespace)
    key = build_key(exercise, shown_cases(exercise), ())
    assert judge(key, observe_quietly(namespace["softmax"], key.cases, key.forbidden)).passed


@pytest.mark.parametrize("exercise", EXERCISES)
def test_derivations_may_not_use_automatic_differentiation(exercise):
    if exercise.kind is Kind.DERIVE:
        assert set(AUTOMATIC_DIFFERENTIATION) <= set(exercise.forbidden)
