"""The command: quick to start, one clear line for every error, and nbgrader kept in the sandbox."""

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

import classroom
import nbformat
import pytest
from classroom import MEAN_SUM, hand_in, make_course
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


@pytest.fixture
def course(tmp_path, monkeypatch):
    classroom.known_everywhere(monkeypatch)
    made = make_course(tmp_path / "course")
    hand_in(made, "ann")
    hand_in(made, "bob", mean=MEAN_SUM)
    return made


def _run(*arguments):
    return RUNNER.invoke(cli.app, [str(one) for one in arguments])


def _failure(*arguments):
    """The one line on stderr of a command that fails with exit code 1."""
    result = _run(*arguments)
    assert result.exit_code == 1, result.output
    *progress, line = result.stderr.strip().splitlines()
    assert all(other.startswith("grading ") for other in progress), result.stderr
    assert line.startswith("autograder: ")
    return line


def _seconds_of_children():
    """Processor time of the child processes that have ended; other programs do not disturb it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_the_start_is_quick_and_loads_nothing_heavy():
    program = (
        "import sys; from autograder.cli import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'torch', 'nbgrader', 'nbconvert', 'sqlalchemy'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    seconds = {program: [], "import numpy, typer, rich.table": []}
    for one in 6 * list(seconds):
        start = _seconds_of_children()
        done = subprocess.run(
            [sys.executable, "-c", one], capture_output=True, text=True, check=False
        )
        seconds[one].append(_seconds_of_children() - start)
        assert done.returncode == 0, done.stderr
        assert ("grade" in done.stdout) == (one is program)
    ours, least = (min(times) for times in seconds.values())
    assert ours < 2 * least, seconds


def test_grade_shows_each_assignment_and_writes_the_grades(course):
    result = _run("grade", "--course", course.root)
    assert result.exit_code == 0, result.output
    assert "1 student: sum for mean (row_mean)" in result.stdout
    assert re.search("toy +2 +4.0/5 +80% +2", result.stdout)
    assert "3/5" not in result.stdout
    assert "grading 2 of 2" in result.stderr
    assert len(json.loads(course.grades.read_text())) == 4
    assert "0 judged, 2 known" in _run("grade", "--course", course.root).stdout


def test_a_course_without_submissions_is_told_where_to_put_them(course):
    shutil.rmtree(course.submitted)
    course.submitted.mkdir()
    result = _run("grade", "--course", course.root)
    assert result.exit_code == 0
    assert "No submissions yet. Put them at" in result.stdout


INTERRUPTED = """
import signal, sys
from autograder import cli
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background has none
sys.argv = ["autograder", "grade", "--jobs", "1", "--course", sys.argv[1]]
cli.app()
"""


def test_ctrl_c_says_how_far_it_came_and_the_same_command_goes_on(course):
    for number in range(20):
        hand_in(course, f"student{number}")
    command = [sys.executable, "-c", INTERRUPTED, str(course.root)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        first = running.stderr.readline()
        running.send_signal(signal.SIGINT)
        *_, said = running.stderr.read().splitlines()
    assert first.startswith("grading ")
    assert running.returncode == 130
    done = re.fullmatch(
        r"autograder: stopped\. (\d+) of 22 submissions are graded\. Run the same command "
        r"again to continue\.",
        said,
    )
    known = re.search(r"(\d+) judged, (\d+) known", _run("grade", "--course", course.root).stdout)
    assert int(known[2]) >= int(done[1]) > 0
    assert int(known[1]) + int(known[2]) == 22


def test_the_course_is_the_current_directory_by_default(course, monkeypatch):
    monkeypatch.chdir(course.root)
    assert _run("grade", "--jobs", "1").exit_code == 0


def test_a_narrowed_grade_shows_the_students_one_by_one(course):
    named = _run("grade", "--course", course.root, "toy").stdout
    for line in ("ann +5/5 +1 to mark", "bob +3/5 +1 to mark", r"sum for mean \(row_mean\)"):
        assert re.search(line, named)
    ann = _run("grade", "--course", course.root, "--student", "ann").stdout
    assert re.search("ann +5/5 +1 to mark", ann)
    assert "bob" not in ann


def test_errors_are_one_clear_line(course, tmp_path):
    assert "not a course directory" in _failure("grade", "--course", tmp_path)
    assert "course directory already" in _failure("init", course.root)
    assert "no assignment has this name" in _failure("grade", "nope", "--course", course.root)
    assert "no such student" in _failure("grade", "--student", "n\x1b", "--course", course.root)
    assert "nothing is graded yet" in _failure("feedback", "--course", course.root)
    assert "nothing is graded yet" in _failure("export", "--course", course.root)


def test_usage_errors_have_exit_code_2(course):
    assert _run("grade", "--jobs", "0", "--course", course.root).exit_code == 2
    assert _run("grade", "--no-such-option").exit_code == 2


def test_without_isolation_it_refuses_and_says_what_to_install(course, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert "bubblewrap" in _failure("grade", "--course", course.root)
    assert not course.grades.exists()
    result = _run("grade", "--course", course.root, "--trust", "--jobs", "1")
    assert result.exit_code == 0, result.output
    assert json.loads(course.journal.read_text().splitlines()[0])["trusted"] is True


def test_a_locked_gradebook_a_torn_and_a_damaged_journal(course, monkeypatch):
    assert _run("grade", "--course", course.root).exit_code == 0
    monkeypatch.setattr(database, "LOCK_WAIT", 0.2)
    holder = sqlite3.connect(course.root / "gradebook.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    assert "another program holds" in _failure("grade", "--course", course.root)
    holder.close()
    with course.journal.open("ab") as stream:
        stream.write(b'{"before"')
    torn = _run("grade", "--course", course.root)
    assert torn.exit_code == 0
    assert "was incomplete" in torn.stdout
    lines = course.journal.read_bytes().splitlines(keepends=True)
    course.journal.write_bytes(b"".join(lines[1:]))
    assert "line 1 is damaged or edited" in _failure("grade", "--course", course.root)


def test_a_gradebook_that_was_moved_away_is_made_anew_from_the_journal(course):
    assert _run("grade", "--course", course.root).exit_code == 0
    (course.root / "gradebook.db").unlink()
    assert "restores every machine grade" in _failure("feedback", "--course", course.root)
    assert _run("grade", "--course", course.root).exit_code == 0
    assert _run("feedback", "--course", course.root).exit_code == 0


def test_a_page_that_cannot_be_written_is_named_with_its_folder(course, monkeypatch):
    assert _run("grade", "--course", course.root).exit_code == 0

    def refused(*_):  # as shutil.rmtree is refused in a read-only folder: it names no folder
        raise OSError(errno.EROFS, "Read-only file system", "toy.html")

    page = course.feedback / "ann" / "toy" / "toy.html"
    page.parent.mkdir(parents=True)
    monkeypatch.setattr(GenerateFeedback, "init_destination", refused)
    monkeypatch.setattr("nbgrader.converters.base.rmtree", refused)
    result = _run("feedback", "--course", course.root)
    assert result.exit_code == 1
    assert f"{page}: the page cannot be written (Read-only file system)" in result.stderr


def test_a_place_that_cannot_hold_a_course_is_named(tmp_path, monkeypatch):
    long = tmp_path.joinpath(*["x" * 200] * 3)
    assert "SQLite cannot open longer paths" in _failure("init", long)
    assert not long.parent.exists()
    assert "must be UTF-8" in _failure("init", os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert "has been removed. Change to another folder" in _failure("grade")


def test_feedback_pages_name_the_misconception_and_run_nothing(course):
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
    assert "://" not in page, "it asks no other host for anything"
    assert "A person will mark this answer. Its points are not in the score yet." in page
    page += (course.feedback / "eve" / "toy" / "toy.html").read_text()
    for alarm in ("<script>alert", "<img src=x", 'href="javascript', 'href="data', 'href="&'):
        assert alarm not in page, alarm
    assert "&lt;script&gt;alert(5)&lt;/script&gt; *x*" in page


def test_only_pages_that_would_change_are_made_again(course):
    for student in ("ann", "bob"):
        hand_in(course, student, mean=MEAN_SUM, why="Because.")
    _run("grade", "--course", course.root)
    _run("feedback", "--course", course.root)
    ann, bob = (course.feedback / one / "toy" / "toy.html" for one in ("ann", "bob"))
    made = {page: page.stat().st_mtime_ns for page in (ann, bob)}
    with api.Gradebook(course.gradebook_url) as book:
        book.find_comment("why", "toy", "toy", "bob").manual_comment = "Say more."
        book.db.commit()
    _run("feedback", "--course", course.root)
    assert ann.stat().st_mtime_ns == made[ann]
    assert "Say more." in bob.read_text()
    torn = ann.read_text()[:-20]
    ann.write_text(torn)
    _run("feedback", "--course", course.root)
    assert ann.read_text().startswith(torn)
    assert ann.read_text() != torn


def test_markdown_is_shown_and_nothing_else():
    assert clean_markdown("**a** x<y").strip() == "<p><strong>a</strong> x&lt;y</p>"
    table = clean_markdown("| a |\n| --- |\n| b |")
    assert "<td>b</td>" in table
    plain = "# a *b* _c_ `d` <e> [f](g) \\h $i$ 1. j"
    shown = clean_markdown(markdown_escape(plain)).strip()
    assert shown == f"<p>{plain.replace('<', '&lt;').replace('>', '&gt;')}</p>"


def test_export_has_a_row_for_each_submission_and_a_column_for_each_answer(course):
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


def test_doctor_names_the_layers(monkeypatch):
    held, broken = doctor.Layer("network", True, "a"), doctor.Layer("time", False, "NOT held")
    missing = doctor.Layer("container: sandbox", None, "docker or podman is missing")
    for found, code in (
        ([held, broken], 1),
        ([held, broken, missing], 1),
        ([held, missing], 0),
        ([missing], 1),
    ):
        monkeypatch.setattr(doctor, "layers", lambda found=found: found)
        result = _run("doctor")
        assert result.exit_code == code, "a layer that does not hold is a failure, or no sandbox"
        for layer in found:
            here = {True: "yes", False: "NO", None: "not here"}[layer.held]
            assert f"│ {here} " in result.stdout
            assert layer.detail.split()[0] in result.stdout


def test_doctor_says_who_can_read_a_course(course, monkeypatch):
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
    ("limit", "most"), [(resource.RLIMIT_NOFILE, 40), (resource.RLIMIT_AS, 600 * 2**20)]
)
def test_a_class_that_nothing_could_judge_is_a_failure_with_its_reason(course, limit, most):
    done = subprocess.run(
        [*COMMAND, "grade", "--course", course.root],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(limit, (most, most)),
    )
    assert done.returncode == 1, done.stdout
    if course.grades.exists():
        assert f"the grader failed on 2 submissions; {course.faults} has the" in done.stderr
        assert "The sandbox did not start (" in course.faults.read_text()
        assert _run("grade", "--course", course.root).exit_code == 0
    else:  # no sandbox, or no worker: said at once
        (line,) = [one for one in done.stderr.splitlines() if one.startswith("autograder: ")]
        assert "sandbox" in line or "worker" in line


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_names_are_the_same_in_a_locale_without_utf_8(course, locale):
    hand_in(course, "Zoë")
    told = {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for command in (["grade"], ["grade", "--student", "Zoë"], ["feedback"], ["export"]):
        done = subprocess.run(
            [*COMMAND, command[0], "--course", course.root, *command[1:]],
            env=os.environ | told,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        assert b"Traceback" not in done.stderr
    rows = json.loads(course.grades.read_text(encoding="utf-8"))
    assert {row["student"] for row in rows} == {"ann", "bob", "Zoë"}
    assert (course.feedback / "Zoë" / "toy" / "toy.html").exists()


@pytest.fixture
def escape(tmp_path):
    """A file outside of the sandbox, and answers that try to make it."""
    target = tmp_path / "escaped"
    attack = f"open({str(target)!r}, 'w').write('x')\n"
    exec(attack)
    assert target.exists(), "the attack works where nothing stops it"
    target.unlink()
    return target, attack


def test_nbgrader_autograde_gives_our_scores_and_runs_nothing_itself(course, escape):
    target, attack = escape
    hand_in(course, "eve", mean=attack + MEAN_SUM, scale=attack)
    hand_in(course, "fay").write_bytes(b"{ not a notebook")
    secret = course.submitted / "eve" / "toy" / "notes.txt"
    secret.symlink_to(course.root / "course.key")
    ours = Course.open(course.root)
    assert _run("grade", "--course", course.root).exit_code == 0
    expected = course.grades.read_bytes()
    with api.Gradebook(ours.gradebook_url) as book:
        scores = {s.student.id: s.score for s in book.assignment_submissions("toy")}
    (course.root / "gradebook.db").unlink()
    course.journal.unlink()
    with gradebook.Gradebook(ours.gradebook_url) as book:
        book.add_assignment("toy", nbformat.read(course.release / "toy" / "toy.ipynb", 4))
    done = nbgrader(course, "autograde", "toy", "--force")
    assert done.returncode == 0, done.stderr
    assert course.grades.read_bytes() == expected
    with api.Gradebook(ours.gradebook_url) as book:
        assert scores == {s.student.id: s.score for s in book.assignment_submissions("toy")}
        assert "sum for mean" in book.find_comment("row_mean", "toy", "toy", "bob").auto_comment
    assert not target.exists()
    assert sorted(os.listdir(course.autograded / "eve" / "toy")) == ["toy.ipynb"]
    again = _run("grade", "--course", course.root)
    assert "0 judged, 4 known" in again.stdout


def test_nbgraders_own_feedback_and_export_work(course):
    assert _run("grade", "--course", course.root).exit_code == 0
    done = nbgrader(course, "generate_feedback", "toy")
    assert done.returncode == 0, done.stderr
    assert "sum for mean" in (course.feedback / "bob" / "toy" / "toy.html").read_text()
    done = nbgrader(course, "export", "--to", "all.csv")
    assert done.returncode == 0, done.stderr
    assert "row_mean" in (course.root / "all.csv").read_text()
    stock = "nbgrader.plugins.CsvExportPlugin"
    done = nbgrader(course, "export", "--to", "stock.csv", "--exporter", stock)
    assert done.returncode == 0, done.stderr
    assert "raw_score" in (course.root / "stock.csv").read_text()
