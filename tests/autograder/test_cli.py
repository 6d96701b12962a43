"""Test the command: quick start, one-line errors, and sandboxing under nbgrader's commands."""

import csv
import errno
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from classroom import MEAN_SUM, hand_in
from nbgrader import api
from nbgrader.converters import GenerateFeedback
from nbgrader_command import nbgrader
from typer.testing import CliRunner

from autograder import cli
from autograder.course.course import Course
from autograder.course.plaintext import markdown_escape
from autograder.nbgrader import database, gradebook
from autograder.nbgrader.rendering import clean_markdown
from autograder.sandbox import doctor

SCRIPTS = Path(sys.executable).parent
RUNNER = CliRunner()


def _run(*arguments):
    return RUNNER.invoke(cli.app, [str(argument) for argument in arguments])


def _failure(*arguments):
    """Run a command that must fail with exit code 1; return its single line on stderr."""
    result = _run(*arguments)
    assert result.exit_code == 1, result.output
    *progress, line = result.stderr.strip().splitlines()
    assert all(other.startswith("grading ") for other in progress), result.stderr
    assert line.startswith("autograder: ")
    return line


def _seconds_of_children():
    """Return the CPU time of ended child processes in seconds, unaffected by other programs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_command_starts_quickly_without_heavy_imports():
    program = (
        "import sys; from autograder.cli import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'torch', 'nbgrader', 'nbconvert', 'sqlalchemy'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    seconds = {program: [], "import numpy, typer, rich.table": []}
    for code in 6 * list(seconds):
        start = _seconds_of_children()
        process = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        seconds[code].append(_seconds_of_children() - start)
        assert process.returncode == 0, process.stderr
        assert ("grade" in process.stdout) == (code is program)
    own, least = (min(times) for times in seconds.values())
    assert own < 2 * least, seconds


def test_grade_shows_each_assignment_and_writes_the_grades_file(course):
    result = _run("grade", "--course", course.root)
    assert result.exit_code == 0, result.output
    assert "1 student: sum for mean (row_mean)" in result.stdout
    assert re.search("toy +2 +4.0/5 +80% +2", result.stdout)
    assert "3/5" not in result.stdout
    assert "grading 2 of 2" in result.stderr
    assert len(json.loads(course.grades.read_text())) == 4
    assert "0 judged, 2 known" in _run("grade", "--course", course.root).stdout


def test_course_without_submissions_is_told_where_to_put_them(course):
    shutil.rmtree(course.submitted)
    course.submitted.mkdir()
    result = _run("grade", "--course", course.root)
    assert result.exit_code == 0
    assert "No submissions yet. Put them at" in result.stdout


INTERRUPTED = """
import signal, sys
from autograder import cli
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it
sys.argv = ["autograder", "grade", "--jobs", "1", "--course", sys.argv[1]]
cli.app()
"""


def test_interrupted_grading_reports_progress_and_can_be_resumed(course):
    for number in range(20):
        hand_in(course, f"student{number}")
    command = [sys.executable, "-c", INTERRUPTED, str(course.root)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        first = running.stderr.readline()
        running.send_signal(signal.SIGINT)
        *_, message = running.stderr.read().splitlines()
    assert first.startswith("grading ")
    assert running.returncode == 130
    progress = re.fullmatch(
        r"autograder: stopped\. (\d+) of 22 submissions are graded\. Run the same command "
        r"again to continue\.",
        message,
    )
    known = re.search(r"(\d+) judged, (\d+) known", _run("grade", "--course", course.root).stdout)
    assert int(known[2]) >= int(progress[1]) > 0
    assert int(known[1]) + int(known[2]) == 22


def test_course_defaults_to_the_current_directory(course, monkeypatch):
    monkeypatch.chdir(course.root)
    assert _run("grade", "--jobs", "1").exit_code == 0


def test_grading_a_selection_lists_the_students(course):
    named = _run("grade", "--course", course.root, "toy").stdout
    for line in ("ann +5/5 +1 to mark", "bob +3/5 +1 to mark", r"sum for mean \(row_mean\)"):
        assert re.search(line, named)
    ann = _run("grade", "--course", course.root, "--student", "ann").stdout
    assert re.search("ann +5/5 +1 to mark", ann)
    assert "bob" not in ann


def test_errors_are_a_single_clear_line(course, tmp_path):
    assert "not a course directory" in _failure("grade", "--course", tmp_path)
    assert "course directory already" in _failure("init", course.root)
    assert "no assignment has this name" in _failure("grade", "nope", "--course", course.root)
    assert "no such student" in _failure("grade", "--student", "n\x1b", "--course", course.root)
    assert "nothing is graded yet" in _failure("feedback", "--course", course.root)
    assert "nothing is graded yet" in _failure("export", "--course", course.root)


def test_usage_errors_have_exit_code_2(course):
    assert _run("grade", "--jobs", "0", "--course", course.root).exit_code == 2
    assert _run("grade", "--no-such-option").exit_code == 2


def test_missing_isolation_is_refused_with_advice(course, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert "bubblewrap" in _failure("grade", "--course", course.root)
    assert not course.grades.exists()
    result = _run("grade", "--course", course.root, "--trust", "--jobs", "1")
    assert result.exit_code == 0, result.output
    assert json.loads(course.journal.read_text().splitlines()[0])["trusted"] is True


def test_locked_gradebook_and_damaged_journal_are_reported(course, monkeypatch):
    assert _run("grade", "--course", course.root).exit_code == 0
    monkeypatch.setattr(database, "LOCK_WAIT", 0.2)
    holder = sqlite3.connect(course.root / "gradebook.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    assert "program has locked" in _failure("grade", "--course", course.root)
    holder.close()
    with course.journal.open("ab") as stream:
        stream.write(b'{"before"')
    torn = _run("grade", "--course", course.root)
    assert torn.exit_code == 0
    assert "was incomplete" in torn.stdout
    lines = course.journal.read_bytes().splitlines(keepends=True)
    course.journal.write_bytes(b"".join(lines[1:]))
    assert "line 1 is damaged or edited" in _failure("grade", "--course", course.root)


def test_missing_gradebook_is_rebuilt_from_the_journal(course):
    assert _run("grade", "--course", course.root).exit_code == 0
    (course.root / "gradebook.db").unlink()
    assert "restores every machine grade" in _failure("feedback", "--course", course.root)
    assert _run("grade", "--course", course.root).exit_code == 0
    assert _run("feedback", "--course", course.root).exit_code == 0


def test_unwritable_page_is_reported_with_its_folder(course, monkeypatch):
    assert _run("grade", "--course", course.root).exit_code == 0

    def refuse(*_):  # like shutil.rmtree in a read-only folder, whose error names no folder
        raise OSError(errno.EROFS, "Read-only file system", "toy.html")

    page = course.feedback / "ann" / "toy" / "toy.html"
    page.parent.mkdir(parents=True)
    monkeypatch.setattr(GenerateFeedback, "init_destination", refuse)
    monkeypatch.setattr("nbgrader.converters.base.rmtree", refuse)
    result = _run("feedback", "--course", course.root)
    assert result.exit_code == 1
    assert f"{page}: the page cannot be written (Read-only file system)" in result.stderr


def test_unusable_course_path_is_reported(tmp_path, monkeypatch):
    long = tmp_path.joinpath(*["x" * 200] * 3)
    assert "SQLite cannot open longer paths" in _failure("init", long)
    assert not long.parent.exists()
    assert "must be UTF-8" in _failure("init", os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert "has been removed. Change to another folder" in _failure("grade")


def test_feedback_pages_name_the_misconception_and_run_no_code(course):
    evil = "<script>alert(1)</script>\n\n**why** <img src=x onerror=alert(2)>"
    evil += " [x](javascript:alert(3)) [y](data:text/html,x) [z](&#106;avascript:alert(4))"
    hand_in(course, "bob", mean=MEAN_SUM, why=evil)
    boom = "def scale(X, factor=2.0):\n    raise ValueError('<script>alert(5)</script> *x*')"
    hand_in(course, "eve", scale=boom)
    assert _run("grade", "--course", course.root).exit_code == 0
    result = _run("feedback", "--course", course.root)
    assert result.exit_code == 0, result.output
    page = (course.feedback / "bob" / "toy" / "toy.html").read_text()
    assert "sum for mean" in page
    assert "How many numbers are in a row?" in page
    assert "<strong>why</strong>" in page
    assert "3 of 10 points" in page
    contents = re.findall(r'<li class="(\w+)"><a href="#\w+">(\w+)</a>(.*?)</li>', page)
    assert contents[0] == ("none", "row_mean", " 0/2: sum for mean")
    assert contents[1] == ("full", "scale", " 3/3")
    assert contents[-1] == ("waits", "why", ": waiting to be marked")
    assert all(f'id="{name}"' in page for _, name, _ in contents)
    assert "://" not in page, "a page must not request anything from another host"
    assert "A person will mark this answer. Its points are not in the score yet." in page
    page += (course.feedback / "eve" / "toy" / "toy.html").read_text()
    for alarm in ("<script>alert", "<img src=x", 'href="javascript', 'href="data', 'href="&'):
        assert alarm not in page, alarm
    assert "&lt;script&gt;alert(5)&lt;/script&gt; *x*" in page


def test_only_changed_or_incomplete_pages_are_rewritten(course):
    for student in ("ann", "bob"):
        hand_in(course, student, mean=MEAN_SUM, why="Because.")
    _run("grade", "--course", course.root)
    _run("feedback", "--course", course.root)
    ann, bob = (course.feedback / student / "toy" / "toy.html" for student in ("ann", "bob"))
    times = {page: page.stat().st_mtime_ns for page in (ann, bob)}
    with api.Gradebook(course.gradebook_url) as book:
        book.find_comment("why", "toy", "toy", "bob").manual_comment = "Say more."
        book.db.commit()
    _run("feedback", "--course", course.root)
    assert ann.stat().st_mtime_ns == times[ann]
    assert "Say more." in bob.read_text()
    torn = ann.read_text()[:-20]
    ann.write_text(torn)
    _run("feedback", "--course", course.root)
    assert ann.read_text().startswith(torn)
    assert ann.read_text() != torn


def test_markdown_is_rendered_and_escaped_text_is_not():
    assert clean_markdown("**a** x<y").strip() == "<p><strong>a</strong> x&lt;y</p>"
    table = clean_markdown("| a |\n| --- |\n| b |")
    assert "<td>b</td>" in table
    plain = "# a *b* _c_ `d` <e> [f](g) \\h $i$ 1. j"
    html = clean_markdown(markdown_escape(plain)).strip()
    assert html == f"<p>{plain.replace('<', '&lt;').replace('>', '&gt;')}</p>"


def test_export_has_a_row_per_submission_and_a_column_per_answer(course):
    assert _run("grade", "--course", course.root).exit_code == 0
    with api.Gradebook(course.gradebook_url) as book:
        mark = book.find_grade("why", "toy", "toy", "bob")
        mark.manual_score, mark.needs_manual_grade = 4.0, False
        book.db.commit()
    assert _run("export", "--course", course.root).exit_code == 0
    with (course.root / "grades.csv").open(newline="") as stream:
        ann, bob = list(csv.DictReader(stream))
    assert (ann["student"], ann["score"], ann["max_score"], ann["waiting"]) == (
        "ann",
        "5.0",
        "10.0",
        "1",
    )
    assert (ann["row_mean"], ann["scale"], ann["why"]) == ("2.0", "3.0", "")
    assert (bob["score"], bob["row_mean"], bob["why"], bob["waiting"]) == ("7.0", "0.0", "4.0", "0")


def test_doctor_lists_the_layers_of_the_sandbox(monkeypatch):
    held, broken = doctor.Layer("network", True, "a"), doctor.Layer("time", False, "NOT held")
    missing = doctor.Layer("container: sandbox", None, "docker or podman is missing")
    for reports, code in (
        ([held, broken], 1),
        ([held, broken, missing], 1),
        ([held, missing], 0),
        ([missing], 1),
    ):
        monkeypatch.setattr(doctor, "layers", lambda reports=reports: reports)
        result = _run("doctor")
        assert result.exit_code == code, "a broken layer or a missing sandbox is a failure"
        for layer in reports:
            cell = {True: "yes", False: "NO", None: "not here"}[layer.held]
            assert f"│ {cell} " in result.stdout
            assert layer.detail.split()[0] in result.stdout


def test_doctor_reports_who_can_read_a_course(course, monkeypatch):
    monkeypatch.setattr(doctor, "layers", lambda: [doctor.Layer("network", True, "a")])
    result = _run("doctor", "--course", course.root)
    assert result.exit_code == 0, result.output
    assert "drwx------" in result.stdout
    course.root.chmod(0o755)
    monkeypatch.chdir(course.root)
    result = _run("doctor")
    assert result.exit_code == 1
    assert "│ NO " in result.stdout
    assert "chmod 700" in " ".join(result.stdout.replace("│", " ").split())


COMMAND = [sys.executable, "-m", "autograder"]


@pytest.mark.parametrize(
    ("limit", "maximum"), [(resource.RLIMIT_NOFILE, 40), (resource.RLIMIT_AS, 600 * 2**20)]
)
def test_grading_without_resources_fails_with_a_reason(course, limit, maximum):
    process = subprocess.run(
        [*COMMAND, "grade", "--course", course.root],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(limit, (maximum, maximum)),
    )
    assert process.returncode == 1, process.stdout
    if course.grades.exists():
        assert f"the grader failed on 2 submissions; {course.faults} gives the" in process.stderr
        assert "The sandbox did not start (" in course.faults.read_text()
        assert _run("grade", "--course", course.root).exit_code == 0
    else:  # no sandbox or no worker: reported at once
        (line,) = [text for text in process.stderr.splitlines() if text.startswith("autograder: ")]
        assert "sandbox" in line or "worker" in line


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_names_are_preserved_in_locales_without_utf_8(course, locale):
    hand_in(course, "Zoë")
    variables = {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for command in (["grade"], ["grade", "--student", "Zoë"], ["feedback"], ["export"]):
        process = subprocess.run(
            [*COMMAND, command[0], "--course", course.root, *command[1:]],
            env=os.environ | variables,
            capture_output=True,
            check=False,
        )
        assert process.returncode == 0, process.stderr.decode()
        assert b"Traceback" not in process.stderr
    rows = json.loads(course.grades.read_text(encoding="utf-8"))
    assert {row["student"] for row in rows} == {"ann", "bob", "Zoë"}
    assert (course.feedback / "Zoë" / "toy" / "toy.html").exists()


@pytest.fixture
def escape(tmp_path):
    """Return a path outside of the sandbox, and code that tries to create it."""
    target = tmp_path / "escaped"
    attack = f"open({str(target)!r}, 'w').write('x')\n"
    exec(attack)
    assert target.exists(), "the attack must work without a sandbox"
    target.unlink()
    return target, attack


def test_nbgrader_autograde_uses_this_grader_and_runs_no_code_itself(course, escape):
    target, attack = escape
    hand_in(course, "eve", mean=attack + MEAN_SUM, scale=attack)
    hand_in(course, "fay").write_bytes(b"{ not a notebook")
    secret = course.submitted / "eve" / "toy" / "notes.txt"
    secret.symlink_to(course.root / "course.key")
    original = Course.open(course.root)
    assert _run("grade", "--course", course.root).exit_code == 0
    expected = course.grades.read_bytes()
    with api.Gradebook(original.gradebook_url) as book:
        scores = {s.student.id: s.score for s in book.assignment_submissions("toy")}
    (course.root / "gradebook.db").unlink()
    course.journal.unlink()
    with gradebook.Gradebook(original.gradebook_url) as book:
        book.add_assignment("toy", nbformat.read(course.release / "toy" / "toy.ipynb", 4))
    process = nbgrader(course, "autograde", "toy", "--force")
    assert process.returncode == 0, process.stderr
    assert course.grades.read_bytes() == expected
    with api.Gradebook(original.gradebook_url) as book:
        assert scores == {s.student.id: s.score for s in book.assignment_submissions("toy")}
        assert "sum for mean" in book.find_comment("row_mean", "toy", "toy", "bob").auto_comment
    assert not target.exists()
    assert sorted(os.listdir(course.autograded / "eve" / "toy")) == ["toy.ipynb"]
    again = _run("grade", "--course", course.root)
    assert "0 judged, 4 known" in again.stdout


def test_feedback_and_export_of_nbgrader_work(course):
    assert _run("grade", "--course", course.root).exit_code == 0
    process = nbgrader(course, "generate_feedback", "toy")
    assert process.returncode == 0, process.stderr
    assert "sum for mean" in (course.feedback / "bob" / "toy" / "toy.html").read_text()
    process = nbgrader(course, "export", "--to", "all.csv")
    assert process.returncode == 0, process.stderr
    assert "row_mean" in (course.root / "all.csv").read_text()
    stock = "nbgrader.plugins.CsvExportPlugin"
    process = nbgrader(course, "export", "--to", "stock.csv", "--exporter", stock)
    assert process.returncode == 0, process.stderr
    assert "raw_score" in (course.root / "stock.csv").read_text()


def test_closed_output_ends_a_command_without_a_message(course):
    command = [*COMMAND, "release", "--course", str(course.root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1
