"""Test that files are replaced as a whole and that files of students never block the grader."""

import csv
import errno
import itertools
import os
from datetime import datetime
from pathlib import Path

import pytest
from classroom import make_course
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder.course import times
from autograder.course.files import replace_text
from autograder.nbgrader.export import COLUMNS, export_csv
from autograder.nbgrader.gradebook import Gradebook
from autograder.nbgrader.preset import configure


@pytest.fixture
def course(tmp_path):
    return make_course(tmp_path / "course")


@pytest.fixture
def full_disk(monkeypatch):
    """Simulate a disk that is full after the first bytes of a file."""
    real = Path.open

    def open_on_full_disk(path, mode="r", *args, **kwargs):
        stream = real(path, mode, *args, **kwargs)
        if "w" not in mode:
            return stream

        def write(data):
            os.write(stream.fileno(), data[:10])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

        class Full:
            def __enter__(self):
                return self

            def __exit__(self, *_):
                stream.close()

        full = Full()
        full.write = write
        return full

    monkeypatch.setattr(Path, "open", open_on_full_disk)


def test_full_disk_keeps_the_old_file_and_leaves_no_temporary_file(tmp_path, full_disk):
    os.mknod(tmp_path / "grades.json")
    with pytest.raises(OSError, match="No space left"):
        replace_text(tmp_path / "grades.json", "a long text that fits only in part")
    assert os.listdir(tmp_path) == ["grades.json"]
    assert (tmp_path / "grades.json").read_bytes() == b""


def _add_submissions(course, *students):
    with Gradebook(course.gradebook_url) as book:
        assignment = book.nbgrader.add_assignment("toy")
        for student in students:
            book.nbgrader.add_student(student, first_name=student, last_name="a;=1+1")
            book.nbgrader.add_submission(assignment.name, student)


def test_export_onto_a_full_disk_keeps_the_old_file(course, request):
    _add_submissions(course, "ann", "bob")
    before = export_csv(course)[0].read_bytes()
    request.getfixturevalue("full_disk")
    with pytest.raises(OSError, match="No space left"):
        export_csv(course)
    assert (course.root / "grades.csv").read_bytes() == before
    assert not list(course.root.glob(".*.tmp"))


NAMES = ["=cmd", "'=cmd", "''=cmd", "cmd", "'cmd", "a;=1+1", "a;'=1+1", "a,-1", "a|@x", "+1"]
NAMES += ["'+1", 'a"=1', "a;", "\uff1dcmd", "Anna-Maria", "o'brien", "x@y.example", "a;;=1"]
NAMES += [" =1", "  '=1", "\u00a0+1", "a; =1", "a;\u3000@x", " cmd", "\u22121"]


def test_names_stay_distinct_and_never_become_formulas(course):
    _add_submissions(course, *NAMES)
    path, _ = export_csv(course)
    with path.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len({row["student"] for row in rows}) == len(NAMES)
    honest = {"cmd", "'cmd", "Anna-Maria", "o'brien", "x@y.example"}
    assert honest < {row["student"] for row in rows}
    for separator in ",;|":
        with path.open(newline="", encoding="utf-8") as stream:
            fields = itertools.chain(*csv.reader(stream, delimiter=separator))
            for field in fields:
                assert not field.lstrip('"').strip().startswith(tuple("=+-@\uff1d\u2212")), (
                    separator,
                    field,
                )


def test_csv_quotes_text_but_not_numbers(course):
    _add_submissions(course, "ann")
    header, row = export_csv(course)[0].read_text().splitlines()
    assert header == ",".join(f'"{name}"' for name in COLUMNS)
    assert row == '"ann","a;\'=1+1","ann","toy","no","",0.0,0.0,0.0,0.0,0,0'


def _pipe(path):
    os.mkfifo(path)


def _link_to_a_pipe(path):
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to("pipe")


def _endless(path):
    path.symlink_to("/dev/zero")


def _nonsense(path):
    path.write_bytes(b"\xff soon")


@pytest.mark.parametrize("make", [_pipe, _link_to_a_pipe, _endless, _nonsense, Path.mkdir])
def test_nbgrader_does_not_block_on_an_invalid_timestamp_file(course, make):
    config = Config()
    configure(config)
    config.CourseDirectory.root = str(course.root)
    directory = CourseDirectory(config=config)
    folder = course.submitted / "ann" / "toy"
    folder.mkdir(parents=True)
    (folder / "timestamp.txt").write_text("2026-02-03 10:00:00 UTC\n")
    api = NbGraderAPI(directory, config=config)
    assert api.get_submitted_timestamp("toy", "ann") == datetime(2026, 2, 3, 10)
    (folder / "timestamp.txt").unlink()
    assert api.get_submitted_timestamp("toy", "ann") is None
    make(folder / "timestamp.txt")
    assert api.get_submitted_timestamp("toy", "ann") is None
    assert directory.get_existing_timestamp(str(folder)) is None
    with pytest.raises(ValueError, match="it holds no time"):
        times.submission_time(folder)
