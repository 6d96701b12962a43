"""The journal: it survives kills, shows damage, and never lets a grade be made twice."""

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


def test_a_record_has_all_or_nothing_points_for_each_exercise():
    rows = _record().rows
    assert [(row.exercise, row.points, row.max_points) for row in rows] == [
        ("scores", 2, 2),
        ("weights", 0, 3),
    ]
    assert (rows[1].verdict, rows[1].misconception) == ("WRONG_VALUE", "wrong axis")
    assert _record().hints == {"weights": "Which axis?"}


def test_records_come_back_equal_after_the_journal_is_opened_again(tmp_path):
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


def test_only_an_answer_whose_text_has_changed_is_looked_at_again(tmp_path):
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.enter([(_record("ann"), {"scores": "t1", "weights": "t2"})])
    with Journal(path) as journal:
        assert journal.changed(_record("bob"), {"scores": "t1"}) == frozenset()
        again = replace(_record("ann"), digest="d2")
        assert journal.changed(again, {"scores": "t1", "weights": "t3"}) == {"weights"}
        assert journal.changed(again, {"scores": "t1"}) == {"weights"}
    former = path.read_text().replace(', "texts": {"scores": "t1", "weights": "t2"}', "")
    path.write_text(former)  # as the version before this one wrote it
    with Journal(path) as journal:
        assert journal.changed(again, {"scores": "t1"}) == {"scores"}


def test_a_dry_run_reads_the_journal_and_writes_nothing(tmp_path):
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


def test_a_sandboxed_run_does_not_build_on_a_trusting_one(tmp_path):
    with Journal(tmp_path / "journal.jsonl") as journal:
        journal.append(_record(trusted=True))
        assert journal.find("ann", "rows", "d1", "f1", trusted=True) is not None
        assert journal.find("ann", "rows", "d1", "f1", trusted=False) is None


def test_a_grader_fault_is_kept_but_judged_again(tmp_path):
    fault = Judgement(Verdict.GRADER_FAULT, "KeyError in the grader.")
    with Journal(tmp_path / "journal.jsonl") as journal:
        journal.append(_record(scores=fault))
        assert journal.find("ann", "rows", "d1", "f1", trusted=False) is None
        assert [record.rows[0].verdict for record in journal.latest()] == ["GRADER_FAULT"]


def test_going_back_to_an_earlier_version_makes_it_the_newest(tmp_path):
    with Journal(tmp_path / "journal.jsonl") as journal:
        journal.append(_record(digest="d1"))
        journal.append(_record(digest="d2"))
        journal.use(_record(digest="d2"))
        journal.use(_record(digest="d1"))
        assert [record.digest for record in journal.latest()] == ["d1"]
    assert len((tmp_path / "journal.jsonl").read_bytes().splitlines()) == 3


def test_every_line_carries_the_hash_of_the_line_before_it(tmp_path):
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        for student in ("ann", "bob", "cay"):
            journal.append(_record(student))
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert lines[0]["before"] == FIRST
    assert len({line["before"] for line in lines}) == 3


@pytest.mark.parametrize("cut", [1, 40])
def test_a_torn_last_line_is_dropped_and_reported(tmp_path, cut):
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
def test_damage_elsewhere_is_an_error_that_names_the_line(tmp_path, damage):
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


def test_a_second_run_waits_and_then_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(journal_module, "LOCK_WAIT", 0.2)
    with (
        Journal(tmp_path / "journal.jsonl"),
        pytest.raises(JournalError, match="another run is grading"),
    ):
        Journal(tmp_path / "journal.jsonl")


def test_a_line_is_on_the_disk_when_append_returns(tmp_path):
    """A process that dies right after `append` has lost nothing."""
    path = tmp_path / "journal.jsonl"
    program = f"""
        import os
        from pathlib import Path
        from autograder.course.journal import Journal, Record
        journal = Journal(Path({str(path)!r}))
        journal.append(Record("ann", "rows", "d", "f", False, (), {{}}))
        os._exit(9)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], env={**os.environ}, check=False
    )
    assert done.returncode == 9
    with Journal(path) as journal:
        assert [record.student for record in journal.latest()] == ["ann"]
