"""Test the trust boundary: each verdict, and that no answer costs another its points."""

import dataclasses
import socket
import time
from pathlib import Path
from typing import ClassVar

import pytest
import toy
from nbformat.v4 import new_code_cell, new_notebook
from nightly import in_places

from autograder.grading import program as grading
from autograder.grading import questions
from autograder.grading.fingerprint import fingerprint, modules_behind
from autograder.grading.program import check_program, judge_program
from autograder.judging.verdict import Verdict
from autograder.nbgrader.release import build_notebook
from autograder.notebook.check import write_cases
from autograder.probe import wire
from autograder.probe.status import Status
from autograder.probe.values import Observation
from autograder.sandbox import backends as sandbox
from autograder.sandbox.backends import LocalSandbox, SandboxUnavailable, open_sandbox
from autograder.sandbox.containers import container_start
from autograder.sandbox.doctor import layers
from autograder.sandbox.limits import Limits
from autograder.sandbox.rooms import Run
from autograder.sandbox.shown import PROBE
from autograder.sandbox.starting import bubblewrap_start
from autograder.submission.given import attach_module, given_files
from autograder.submission.submission import ProgramCell
from exercises import COURSE

ROOT = Path(__file__).parents[3]
QUICK = Limits(seconds=1, cell_seconds=1, cells_seconds=3, memory=512 * 2**20, output=2**16)


@pytest.fixture(scope="module", params=sandbox.KINDS)
def isolating(request):
    try:
        box = open_sandbox(limits=QUICK, mode=request.param)
    except SandboxUnavailable as error:
        if request.param != "container":
            raise
        pytest.skip(str(error))
    yield box
    box.close()


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(grading, "LIMITS", QUICK)
    monkeypatch.setattr(questions, "LIMITS", QUICK)


def grade(box, *sources, digest="a"):
    return judge_program(
        toy.program(*sources), toy.TOY, course_key=b"key", digest=digest, sandbox=box
    )


def test_correct_answers_pass(isolating):
    judgements = grade(isolating)
    assert [judgement.verdict for judgement in judgements.values()] == [Verdict.PASS] * 2


STUB = "def row_mean(X):\n    '''Say what.'''\n    raise NotImplementedError"
ANSWERS = {
    "stub": (STUB, Verdict.MISSING),
    "empty": ("", Verdict.MISSING),
    "no function": ("row_mean = 3", Verdict.MISSING),
    "syntax": ("def row_mean(X:", Verdict.EXCEPTION),
    "raises": ("def row_mean(X): return 1 / 0", Verdict.EXCEPTION),
    "exits": ("def row_mean(X): raise SystemExit", Verdict.EXCEPTION),
    "wrong value": ("def row_mean(X): return X.mean(axis=-1) + 1", Verdict.WRONG_VALUE),
    "wrong shape": ("def row_mean(X): return X.mean(axis=-1)[:, None]", Verdict.WRONG_SHAPE),
    "wrong type": ("def row_mean(X): return [1.0, 2.0]", Verdict.WRONG_TYPE),
    "wrong dtype": ("def row_mean(X): return X.mean(-1).astype(complex)", Verdict.WRONG_DTYPE),
    "object array": ("def row_mean(X): return X.mean(-1).astype(object)", Verdict.WRONG_DTYPE),
    "not finite": ("def row_mean(X): return X.mean(axis=-1) / 0", Verdict.NONFINITE),
    "in place": (
        "def row_mean(X):\n    X *= 1.5\n    return X.mean(-1) / 1.5",
        Verdict.MUTATED_INPUT,
    ),
    "changing": (
        "import itertools\nn = itertools.count()\n"
        "def row_mean(X):\n    return X.mean(axis=-1) + 0.5 * (next(n) % 2)",
        Verdict.NONDETERMINISTIC,
    ),
    "loop": ("def row_mean(X):\n    while True: pass", Verdict.TIMEOUT),
    "loop in cell": ("while True: pass", Verdict.TIMEOUT),
    "stubborn loop": (
        "def row_mean(X):\n    while True:\n        try:\n            while True: pass\n"
        "        except BaseException: pass",
        Verdict.TIMEOUT,
    ),
    "sleep": ("import time\ndef row_mean(X): time.sleep(99)", Verdict.TIMEOUT),
    "memory": ("def row_mean(X): return np.ones(10**10)", Verdict.MEMORY),
    "memory in cell": ("x = bytearray(10**10)", Verdict.MEMORY),
    "output": ("def row_mean(X):\n    while True: print('x' * 999)", Verdict.OUTPUT),
    "exit": ("import os\nos._exit(0)", Verdict.KILLED),
    "crash": ("import ctypes\ndef row_mean(X): ctypes.string_at(0)", Verdict.KILLED),
    "kills all": (
        "import os\ndef row_mean(X): os.kill(-1, 9)",
        Verdict.EXCEPTION,
    ),  # the answer has no other processes
    "liar": (
        "class Liar(np.ndarray):\n    def __eq__(self, other): return True\n"
        "def row_mean(X): return X.mean(axis=-1).view(Liar)",
        Verdict.WRONG_TYPE,
    ),
    "forged result": (
        "import os, sys\nsys.path.insert(0, '/judge')\nfrom probe import wire\n"
        "def row_mean(X):\n"
        "    forged = wire.encode(['row_mean', [np.zeros(2)]])\n"
        "    for fd in range(3, 200):\n"
        "        try: os.write(fd, b'R' + len(forged).to_bytes(8, 'little') + forged)\n"
        "        except OSError: pass\n"
        "    os._exit(0)",
        Verdict.MALFORMED,
    ),
    "forged frames": (
        "import os\n"
        "def row_mean(X):\n"
        "    for fd in range(3, 200):\n"
        "        try: os.write(fd, b'R' + b'AWB3' * 9)\n"
        "        except OSError: pass\n"
        "    os._exit(0)",
        Verdict.OUTPUT,
    ),
}


OF_THE_SANDBOX = (
    "raises",
    "loop in cell",
    "stubborn loop",
    "sleep",
    "memory",
    "output",
    "exit",
    "crash",
    "kills all",
    "forged result",
)
"""Faults whose verdict may depend on the sandbox; others are judged outside it."""


@pytest.mark.parametrize(
    ("name", "isolating"),
    in_places(ANSWERS, sandbox.KINDS, OF_THE_SANDBOX),
    indirect=["isolating"],
)
def test_each_fault_has_its_verdict_and_costs_one_exercise(name, isolating):
    source, verdict = ANSWERS[name]
    judgements = grade(isolating, source)
    assert judgements["row_mean"].verdict is verdict, judgements["row_mean"].message
    assert judgements["scale"].verdict is Verdict.PASS, judgements["scale"].message


def test_misconception_is_named_with_its_hint(isolating):
    judgement = grade(isolating, "def row_mean(X): return X.sum(axis=-1)")["row_mean"]
    assert (judgement.verdict, judgement.misconception) == (Verdict.WRONG_VALUE, "sum for mean")
    assert judgement.hint == "How many numbers are in a row?"


def test_correct_answer_with_warnings_prints_and_magics_passes(isolating):
    source = (
        "%matplotlib inline\nimport sys, warnings\nfrom autograder import check\n"
        "def row_mean(X):\n    warnings.warn('slow'); print('hello', file=sys.stderr)\n"
        "    return X.mean(axis=-1).astype('float32')\ncheck(row_mean)"
    )
    assert grade(isolating, source)["row_mean"].passed


NOTEBOOK_ONLY = (
    "%%time\n",
    "files = !ls\n",
    "np.mean?\n",
    "if True:\n    %timeit -n 1 1\n",
    "display(np.ones(2))\nget_ipython().run_line_magic('matplotlib', 'inline')\n",
    "%precision 3\nn = (7\n     % 4)\nassert n == 3\n",
)


@pytest.mark.parametrize(
    ("line", "isolating"), in_places(NOTEBOOK_ONLY, sandbox.KINDS), indirect=["isolating"]
)
def test_notebook_syntax_costs_no_points(line, isolating):
    judgement = grade(isolating, line + toy.RIGHT_MEAN)["row_mean"]
    assert judgement.passed, judgement.message


TEXT = ("script false", "timeit", "markdown", "html", "bash", "javascript", "latex", "unknown", "")


@pytest.mark.parametrize("magic", TEXT)
def test_body_of_a_non_python_magic_is_not_an_answer(magic, isolating):
    attempt = f"\n%%{magic}\ndef row_mean(X): return X.sum(axis=-1)"
    judgement = grade(isolating, toy.RIGHT_MEAN, toy.RIGHT_SCALE, attempt)["row_mean"]
    assert judgement.passed, judgement.message
    judgement = grade(isolating, f"%%{magic}\n{toy.RIGHT_MEAN}")["row_mean"]
    assert judgement.verdict is Verdict.MISSING


@pytest.mark.parametrize(
    ("text", "run"),
    [
        ("import numpy as np\ndef mean(X): return X.mean(axis=-1)", "%run helper.py"),
        ("def mean(X): return np.mean(X, axis=-1)", "import numpy as np\n%run -i helper.py"),
        ("import numpy as np\ndef mean(X): return X.mean(axis=-1)\n1 / 0", "%run helper.py"),
    ],
)
def test_file_written_by_the_notebook_can_be_run(text, run, isolating):
    own = [f"%%writefile helper.py\n{text}", f"%run nowhere.py\n{run}"]
    answer = "def row_mean(X): return mean(X)"
    judgement = grade(isolating, answer, toy.RIGHT_SCALE, *own)["row_mean"]
    assert judgement.passed, judgement.message


class Answering:
    """A sandbox whose rooms stay open and answer every order with the same run."""

    def __init__(self, run):
        self.answer, self.open = run, True

    def room(self, program, torch):
        return self

    def run(self, calls, **options):
        return self.answer

    def close(self):
        pass


BROKEN = "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"


@pytest.fixture
def broken(tmp_path):
    program = tmp_path / "bwrap"
    program.write_text(BROKEN)
    program.chmod(0o755)
    return program


START = {"warm": bubblewrap_start, "cold": bubblewrap_start, "container": container_start}


@pytest.mark.parametrize("mode", sandbox.KINDS)
def test_sandbox_that_cannot_start_is_a_grader_fault(mode, broken):
    judgements = grade(LocalSandbox(mode, START[mode](str(broken)), QUICK))
    assert [judgement.verdict for judgement in judgements.values()] == [Verdict.GRADER_FAULT] * 2


@pytest.mark.parametrize("cells", [1, 300])
def test_answer_may_use_large_data_from_an_added_cell(isolating, cells):
    data = [toy.Cell(f"data = {[1.0] * 6_000!r}  # \u4e2d")]
    data += [toy.Cell(f"# {'x' * 30_000}")] * (cells - 1)
    answer = "def row_mean(X):\n    return X.mean(axis=-1) * data[-1]"
    judgements = judge_program(
        data + toy.program(answer), toy.TOY, course_key=b"key", digest="a", sandbox=isolating
    )
    assert judgements["row_mean"].passed, judgements["row_mean"].message


def test_only_named_exercises_are_judged(isolating):
    judgements = judge_program(
        toy.program(), toy.TOY, course_key=b"key", digest="a", sandbox=isolating, only=["scale"]
    )
    assert {name: judgement.verdict for name, judgement in judgements.items()} == {
        "scale": Verdict.PASS
    }


def test_failing_added_cell_costs_no_points(isolating):
    for added in ("1 / 0", "import os; os._exit(1)", "while True: pass"):
        judgements = grade(isolating, toy.RIGHT_MEAN, toy.RIGHT_SCALE, added)
        assert all(judgement.passed for judgement in judgements.values()), added


@pytest.mark.parametrize(
    "line",
    [
        "scale = scale(np.ones((2, 3)), factor=2.0)",
        "del scale",
        "scale = None",
        "def scale(X, factor=2.0):\n    raise NotImplementedError",
    ],
)
def test_added_cell_never_replaces_an_answer(line, isolating):
    judgements = judge_program(
        [*toy.program(), ProgramCell(line, None)],
        toy.TOY,
        course_key=b"key",
        digest="a",
        sandbox=isolating,
    )
    assert [judgement.verdict for judgement in judgements.values()] == [Verdict.PASS] * 2


def test_hard_coded_public_results_fail_on_hidden_cases(isolating):
    key = questions.build_key(toy.MEAN, questions.public_cases(toy.MEAN), ())
    inputs = [case.arguments[0].tobytes() for case in key.cases]
    table = dict(zip(inputs, [value.tolist() for value in key.expected], strict=True))
    source = (
        f"table = {table!r}\n"
        "def row_mean(X): return np.array(table.get(X.tobytes(), [0.0] * len(X)))"
    )
    judgement = grade(isolating, source)["row_mean"]
    assert judgement.verdict is Verdict.WRONG_VALUE
    assert "hidden" in judgement.message
    assert "many rows" in judgement.message
    assert not any(character.isdigit() for character in judgement.message), "numbers leak"


def hidden(key, digest):
    draw = questions.draw_questions(toy.TOY, key, digest)
    return b"".join(question.whole.cases[-1].arguments[0].tobytes() for question in draw)


def test_hidden_cases_come_from_few_draws_of_the_course_key():
    drawn = {digest: hidden(b"key", digest) for digest in map(str, range(64))}
    assert len(set(drawn.values())) == questions.DRAWS
    assert hidden(b"key", "7") == drawn["7"]
    assert {hidden(b"other", digest) for digest in drawn}.isdisjoint(drawn.values())


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("__import__('os').listdir('.')", "[]"),
        ("[n for n in __import__('os').environ if 'SECRET' in n]", "[]"),
        ("__import__('os').path.exists('/etc/passwd')", "False"),
        ("sorted(n[:-3] for n in __import__('os').listdir('/judge/probe') if n[-3:] == '.py')",
         repr(sorted(path.stem for path in PROBE.glob("*.py")))),
        ("can('autograder.judging') or can('exercises') or can('solutions')", "False"),
        ("len([n for n in __import__('os').listdir('/proc') if n.isdigit()]) < 5", "True"),
        ("reach()", "False"),
        ("[p for p in ('/usr/x', '/judge', sys.prefix + '/x', '/x', '/dev/x') if write(p)]", "[]"),
        ("[n for n in ('HOST_FILE',) if __import__('os').path.exists(n)]", "[]"),
    ],
)  # fmt: skip
def test_sandbox_reveals_nothing_about_the_host(question, answer, isolating, monkeypatch, tmp_path):
    monkeypatch.setenv("SECRET_TOKEN", "secret")
    secret = tmp_path / "journal.jsonl"
    secret.write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as server:
        source = SPY_TOOLS.replace("PORT", str(server.getsockname()[1]))
        expression = question.replace("HOST_FILE", str(secret))
        source += f"\ndef row_mean(X): raise LookupError(repr({expression}))"
        message = grade(isolating, source)["row_mean"].message
    assert f"LookupError: {answer} " in message


SPY_TOOLS = """
import socket, sys
def can(name):
    sys.modules.pop("autograder", None)
    try: __import__(name)
    except ImportError: return False
    return True
def reach():
    try: socket.create_connection(("127.0.0.1", PORT), timeout=1)
    except OSError: return False
    return True
def write(path):
    try: open(path, "w")
    except OSError: return False
    return True
"""


def test_endless_answers_end_at_the_time_limit(isolating):
    start = time.monotonic()
    judgements = grade(isolating, "while True: pass", "while True: pass")
    assert time.monotonic() - start < 12
    assert {judgement.verdict for judgement in judgements.values()} == {Verdict.TIMEOUT}


def test_many_endless_added_cells_end_at_the_total_time_limit(isolating):
    start = time.monotonic()
    loops = ["while True: pass"] * 50
    judgements = grade(isolating, toy.RIGHT_MEAN, toy.RIGHT_SCALE, *loops)
    assert time.monotonic() - start < 30
    assert {judgement.verdict for judgement in judgements.values()} == {Verdict.TIMEOUT}


ON_EVERY_CASE = wire.encode(
    ["row_mean", [Observation(None, (), None)] * len(questions.public_cases(toy.MEAN))]
)


@pytest.mark.parametrize(
    "run",
    [
        *(
            Run(Status.ENDED, results=(ON_EVERY_CASE,), changed=wire.encode(changed))
            for changed in (None, [], [("row_mean", [])], [("row_mean", 1)], [("scale", [1])])
        ),
        Run(Status.ENDED),
        Run(Status.ENDED, results=(b"noise",)),
        Run(Status.ENDED, results=(wire.encode(["row_mean", 1]),)),
        Run(Status.ENDED, results=(wire.encode(["row_mean", []]),)),
        Run(Status.ENDED, results=(wire.encode({"exercise": "row_mean", "points": 99}),)),
        Run(Status.ENDED, cell=10**9),
        Run(Status.ENDED, changed=b"noise"),
    ],
)
def test_invalid_results_earn_no_points(run):
    judgements = grade(Answering(run))
    assert set(judgements) == {"row_mean", "scale"}
    assert not any(judgement.passed for judgement in judgements.values())
    assert Verdict.GRADER_FAULT not in {judgement.verdict for judgement in judgements.values()}


@pytest.mark.parametrize(("imports", "torch"), [(toy.IMPORTS, False), (toy.TORCH_IMPORTS, True)])
def test_every_room_has_torch_if_the_program_imports_it(imports, torch):
    class Asked(Answering):
        rooms: ClassVar[list[bool]] = []

        def room(self, program, torch):
            self.rooms.append(torch)
            return self

    program = [toy.Cell(imports), *toy.program()[1:]]
    box = Asked(Run(Status.ENDED, results=(ON_EVERY_CASE, b"noise")))
    judge_program(program, toy.TOY, course_key=b"key", digest="a", sandbox=box)
    assert len(Asked.rooms) > 1  # a failure in a shared room is judged again alone
    assert {*Asked.rooms} == {torch}


def test_missing_bubblewrap_is_refused(monkeypatch):
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: None)
    with pytest.raises(SandboxUnavailable, match="install bubblewrap"):
        open_sandbox()
    assert {layer.held for layer in layers()} == {None}
    with pytest.raises(SandboxUnavailable, match="docker or podman is missing"):
        open_sandbox(mode="container")


def test_bubblewrap_that_cannot_isolate_is_refused(broken, monkeypatch):
    monkeypatch.setenv("PATH", str(broken.parent))
    with pytest.raises(SandboxUnavailable, match="No permissions"):
        open_sandbox()


def test_every_layer_withstands_an_attempt_to_break_it():
    reports = layers()
    assert [layer for layer in reports if layer.held is False] == []
    assert {"warm: sandbox", "cold: sandbox"} <= {layer.name for layer in reports if layer.held}


def test_trusted_run_gives_the_same_verdicts_without_a_sandbox():
    box = open_sandbox(trust=True, limits=QUICK)
    judgements = grade(box, "def row_mean(X): return X.sum(axis=-1)")
    assert judgements["row_mean"].misconception == "sum for mean"
    assert judgements["scale"].passed


def test_check_program_uses_the_public_cases(isolating, tmp_path):
    write_cases(toy.TOY, tmp_path / "toy.cases")
    judgements = check_program(toy.program(), tmp_path / "toy.cases", isolating)
    assert all(judgement.passed for judgement in judgements.values())


def test_fingerprint_depends_on_checks_and_release():
    other = dataclasses.replace(toy.TOY, exercises=toy.TOY.exercises[:1])
    harder = dataclasses.replace(toy.MEAN, points=9)
    worth_more = dataclasses.replace(toy.TOY, exercises=(harder, toy.SCALE))
    cells = [new_code_cell("import numpy as np"), new_code_cell("def row_mean(X): ...")]
    release, changed = new_notebook(cells=cells), new_notebook(cells=cells[1:])
    assert fingerprint(toy.TOY, release, ("toy",)) == fingerprint(toy.TOY, release, ("toy",))
    assignments = (toy.TOY, other, worth_more)
    assert len({fingerprint(variant, release, ("toy",)) for variant in assignments}) == 3
    assert fingerprint(toy.TOY, release, ("toy",)) != fingerprint(toy.TOY, changed, ("toy",))


def test_fingerprint_depends_on_the_text_of_a_given_module():
    release = new_notebook(cells=[new_code_cell("from given import rows")])
    digests = set()
    for rows in (2, 3):
        attach_module(release.cells[0], "given", f"rows = {rows}")
        digests.add(fingerprint(toy.TOY, release, ("toy",)))
    assert len(digests) == 2


@pytest.mark.parametrize("name", COURSE)
def test_fingerprint_covers_every_file_that_declares_an_exercise(name):
    """Include the modules they import, such as lists of forbidden names without functions.

    The modules that the assignment gives are in the release, on which a fingerprint depends too.
    """
    exercises = COURSE[name].exercises
    behind = modules_behind([exercise.cases for exercise in exercises], COURSE.packages)
    behind |= modules_behind([exercise.reference for exercise in exercises], COURSE.packages)
    answers = [wrong.answer for exercise in exercises for wrong in exercise.misconceptions]
    behind |= modules_behind([answer.written for answer in answers], COURSE.packages)
    questions = {question.name for question in COURSE[name].written}
    given = given_files(build_notebook(COURSE[name], COURSE.page(name)))
    paths = [path for path in (COURSE.folder / name).glob("*.py") if path.name not in given]
    files = {path.stem for path in paths} - questions - {"__init__"}
    modules = {module.__name__ for module in behind}
    assert {f"{COURSE.name}.{name}.{file}" for file in files} <= modules
    assert ("exercises.forbidden" in modules) == any(exercise.forbidden for exercise in exercises)


def test_book_states_the_configured_limits():
    student, instructor = (
        (ROOT / "book" / f"howto_{who}.md").read_text(encoding="utf-8")
        for who in ("student", "instructor")
    )
    limits = Limits()
    assert (questions.TIMES_THE_REFERENCE, limits.seconds, questions.DRAWS) == (20, 2, 4)
    assert "twenty times as long as ours do, and two seconds more" in student
    assert "2 s and twenty times" in instructor
    assert f"{limits.cell_seconds:.0f} s for a cell, {limits.memory // 2**30} GiB" in instructor
    assert "four draws" in instructor
