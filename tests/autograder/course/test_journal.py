"""Test the journal: it survives kills, detects damage, and prevents grading twice."""

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import replace

import pytest

from autograder.course import journal as journal_module
from autograder.course.journal import (
    FIRST,
    Journal,
    JournalError,
    Record,
    Standing,
    make_record,
)
from autograder.exercise.outline import Outline, Part
from autograder.judging.verdict import Judgement, Verdict

ASSIGNMENT = Outline("rows", (Part("scores", 2), Part("weights", 3)), ())
STANDING = Standing(4.0, 2.0, 3.0, 1.0, "d1", "f1")
WRONG = Judgement(Verdict.WRONG_VALUE, "On the case “one”: no.", "wrong axis", "Which axis?", 0)


def _record(student: str = "ann", digest: str = "d1", trusted: bool = False, **changed) -> Record:
    judgements = {"scores": Judgement(Verdict.PASS, "Right."), "weights": WRONG} | changed
    return make_record(
        student,
        ASSIGNMENT,
        judgements,
        digest=digest,
        fingerprint="f1",
        trusted=trusted,
        before=None,
    )


def test_record_has_full_or_zero_points_for_each_exercise():
    rows = _record().rows
    assert [(row.exercise, row.points, row.max_points) for row in rows] == [
        ("scores", 2, 2),
        ("weights", 0, 3),
    ]
    assert (rows[1].verdict, rows[1].misconception) == ("WRONG_VALUE", "wrong axis")
    assert _record().hints == {"weights": "Which axis?"}


def test_records_survive_reopening_the_journal(tmp_path):
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.append(_record("ann"))
        journal.append(_record("bob", trusted=True))
        journal.enter([(_record("ann"), {"scores": "t1"})])
        journal.stand({("ann", "rows"): STANDING})
    with Journal(path) as journal:
        assert journal.notes == []
        assert journal.find("ann", "rows", "d1", "f1", trusted=False) == _record("ann")
        assert journal.find("ann", "rows", "d2", "f1", trusted=False) is None
        assert journal.find("ann", "rows", "d1", "f2", trusted=False) is None
        assert {record.student for record in journal.latest()} == {"ann", "bob"}
        assert journal.standings == {("ann", "rows"): STANDING}


def test_only_answers_with_changed_text_are_marked_again(tmp_path):
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.enter([(_record("ann"), {"scores": "t1", "weights": "t2"})])
    with Journal(path) as journal:
        assert journal.changed(_record("bob"), {"scores": "t1"}) == frozenset()
        again = replace(_record("ann"), digest="d2")
        assert journal.changed(again, {"scores": "t1", "weights": "t3"}) == {"weights"}
        assert journal.changed(again, {"scores": "t1"}) == {"weights"}
    former = path.read_text().replace(', "texts": {"scores": "t1", "weights": "t2"}', "")
    path.write_text(former)  # as the previous version wrote it
    with Journal(path) as journal:
        assert journal.changed(again, {"scores": "t1"}) == {"scores"}


def test_dry_run_reads_the_journal_and_writes_nothing(tmp_path):
    path = tmp_path / "journal.jsonl"
    with Journal(path, dry=True) as journal:
        journal.append(_record("ann"))
        assert journal.newest("ann", "rows") == _record("ann")
    assert not path.exists()
    with Journal(path) as journal:
        journal.append(_record("ann"))
    before = path.read_bytes()
    with Journal(path, dry=True) as journal:
        assert journal.newest("ann", "rows") == _record("ann")
        journal.stand({("ann", "rows"): STANDING})
    assert path.read_bytes() == before


def test_sandboxed_run_does_not_reuse_trusted_results(tmp_path):
    with Journal(tmp_path / "journal.jsonl") as journal:
        journal.append(_record(trusted=True))
        assert journal.find("ann", "rows", "d1", "f1", trusted=True) is not None
        assert journal.find("ann", "rows", "d1", "f1", trusted=False) is None


def test_grader_fault_is_stored_but_judged_again(tmp_path):
    fault = Judgement(Verdict.GRADER_FAULT, "KeyError in the grader.")
    with Journal(tmp_path / "journal.jsonl") as journal:
        journal.append(_record(scores=fault))
        assert journal.find("ann", "rows", "d1", "f1", trusted=False) is None
        assert [record.rows[0].verdict for record in journal.latest()] == ["GRADER_FAULT"]


def test_reused_earlier_version_becomes_the_newest(tmp_path):
    with Journal(tmp_path / "journal.jsonl") as journal:
        journal.append(_record(digest="d1"))
        journal.append(_record(digest="d2"))
        journal.use(_record(digest="d2"))
        journal.use(_record(digest="d1"))
        assert [record.digest for record in journal.latest()] == ["d1"]
    assert len((tmp_path / "journal.jsonl").read_bytes().splitlines()) == 3


def test_every_line_contains_the_hash_of_the_previous_line(tmp_path):
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        for student in ("ann", "bob", "cay"):
            journal.append(_record(student))
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert lines[0]["before"] == FIRST
    assert len({line["before"] for line in lines}) == 3


@pytest.mark.parametrize("cut", [1, 40])
def test_incomplete_last_line_is_dropped_and_reported(tmp_path, cut):
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.append(_record("ann"))
        journal.append(_record("bob"))
    path.write_bytes(path.read_bytes()[:-cut])
    with Journal(path) as journal:
        assert "line 2 was incomplete" in journal.notes[0]
        assert [record.student for record in journal.latest()] == ["ann"]
        journal.append(_record("cay"))
    with Journal(path) as journal:
        assert journal.notes == []
        assert [record.student for record in journal.latest()] == ["ann", "cay"]


def _edit(lines):
    lines[1] = lines[1].replace(b'"points": 0', b'"points": 3')


def _remove(lines):
    del lines[1]


def _swap(lines):
    lines[0], lines[1] = lines[1], lines[0]


def _garble(lines):
    lines[1] = b"\x00\x00\xff\n"


def _other_json(lines):
    lines[1] = b'["before"]\n'


@pytest.mark.parametrize("damage", [_edit, _remove, _swap, _garble, _other_json])
def test_damage_elsewhere_is_an_error_naming_the_line(tmp_path, damage):
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        for student in ("ann", "bob", "cay"):
            journal.append(_record(student))
    lines = path.read_bytes().splitlines(keepends=True)
    damage(lines)
    path.write_bytes(b"".join(lines))
    with pytest.raises(JournalError, match=r"journal\.jsonl: line \d is damaged or edited.*backup"):
        Journal(path)
    assert path.read_bytes() == b"".join(lines), "an error must not change the journal"


def test_second_run_waits_for_the_lock_and_then_gives_up(tmp_path, monkeypatch):
    monkeypatch.setattr(journal_module, "LOCK_WAIT", 0.2)
    with (
        Journal(tmp_path / "journal.jsonl"),
        pytest.raises(JournalError, match="another run is grading"),
    ):
        Journal(tmp_path / "journal.jsonl")


def test_append_writes_the_line_to_disk_before_returning(tmp_path):
    """Check that a process may die right after `append` without losing the record."""
    path = tmp_path / "journal.jsonl"
    program = f"""
        import os
        from pathlib import Path
        from autograder.course.journal import Journal, Record
        journal = Journal(Path({str(path)!r}))
        journal.append(Record("ann", "rows", "d", "f", False, (), {{}}))
        os._exit(9)
    """
    process = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], env={**os.environ}, check=False
    )
    assert process.returncode == 9
    with Journal(path) as journal:
        assert [record.student for record in journal.latest()] == ["ann"]
