"""Every case of the hostile corpus, graded by the command; support/hostile.py says what one is."""

import functools

import hostile
import pytest
from hostile_class import graded, live

from autograder.probe.supervisor import COLD, CONTAINER, WARM
from autograder.sandbox.backends import SandboxUnavailable, open_sandbox

CASES = hostile.corpus()


def parameters():
    for mode in hostile.MODES:
        for case in hostile.cases_in(mode):
            marks = [pytest.mark.xfail(strict=True, reason=case.fails)] if case.fails else []
            yield pytest.param(case, mode, marks=marks, id=f"{case.name}-{mode}")


def classes():
    for mode in hostile.MODES:
        names = {case.in_class for case in hostile.cases_in(mode) if not case.room}
        yield from ((name, mode) for name in sorted(names))


@pytest.mark.parametrize(("case", "mode"), list(parameters()))
def test_a_submission_gets_what_it_has_earned(case, mode):
    skip_where_there_is_no(mode)
    found = graded(case.in_class, mode)
    faults = list(hostile.faults_of(case, found))
    if case.room or faults:
        faults += found.faults
    if case.feedback:
        page = found.pages.get(case.name)
        if page is None:
            faults.append("it has no feedback")
        else:
            faults += [f"live: {what}" for what in live(page) - live(found.pages["0-honest"])]
    assert faults == []


@pytest.mark.parametrize(("name", "mode"), list(classes()))
def test_a_class_that_many_attack_loses_nothing(name, mode):
    skip_where_there_is_no(mode)
    assert graded(name, mode).faults == ()


def skip_where_there_is_no(mode):
    """A container engine need not be there; bubblewrap must."""
    if mode == CONTAINER and (why := refused()):
        pytest.skip(why)


@functools.cache
def refused():
    """Why no container can be made, or nothing."""
    try:
        open_sandbox(mode=CONTAINER).close()
    except SandboxUnavailable as error:
        return str(error)
    return ""


def test_the_corpus_attacks_everything_that_can_be_attacked():
    assert len(CASES) >= 90
    assert {case.group for case in CASES} == set(hostile.GROUPS)


def test_every_group_is_attacked_in_the_cold_sandbox_too(monkeypatch):
    monkeypatch.setattr(hostile, "NIGHTLY", False)
    some = hostile.cases_in(COLD)
    assert {case.group for case in some} == set(hostile.GROUPS)
    assert {case.assignment for case in some} >= set(hostile.IN_THE_COLD)
    assert len(CASES) / 8 <= len(some) < len(CASES) / 3
    assert hostile.cases_in(WARM) == CASES
    assert hostile.cases_in(CONTAINER) == ()
    monkeypatch.setattr(hostile, "NIGHTLY", True)
    assert hostile.cases_in(COLD) == hostile.cases_in(CONTAINER) == CASES


def test_a_case_with_a_word_that_means_nothing_is_refused(tmp_path):
    text = "attacks: x\ngroup: files\nassignment: self_attention\n"
    (tmp_path / "expect.yml").write_text(text)
    assert hostile.read_case(tmp_path).others == "PASS"
    (tmp_path / "expect.yml").write_text(f"{text}verdict: PASS\n")
    with pytest.raises(ValueError, match="verdict"):
        hostile.read_case(tmp_path)


def test_what_was_not_expected_is_seen():
    case = next(case for case in CASES if case.name == "busy_loop")
    names = [one.name for one in hostile.assignment(case.assignment).exercises]
    right = {name: hostile.Row("PASS", 9, "Right.") for name in names}
    found = list(hostile.faults_of(case, hostile.Graded(rows={case.name: right})))
    assert len(found) == len(names)
    assert "softmax: PASS, 9 points: Right." in found
    assert list(hostile.faults_of(case, hostile.Graded())) == ["it has rows for []"]


@pytest.mark.parametrize(
    "text",
    ["<script>", "<p onclick=x>", "<a href='JavaScript:x'>", "<a href=' data:x'>", "<svg>"],
)
def test_what_lives_in_a_page_is_seen(text):
    assert live(f"<p>{text}</p>")
    assert not live("<p><a href='https://example.org/a:b'>x</a> &lt;script&gt;</p>")
