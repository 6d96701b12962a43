"""Grade every case of the hostile corpus with the command. support/hostile.py describes a case."""

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
        names = {case.in_class for case in hostile.cases_in(mode) if not case.class_name}
        yield from ((name, mode) for name in sorted(names))


@pytest.mark.parametrize(("case", "mode"), list(parameters()))
def test_hostile_submission_gets_the_expected_result(case, mode):
    skip_if_unavailable(mode)
    outcome = graded(case.in_class, mode)
    faults = list(hostile.faults_of(case, outcome))
    if case.class_name or faults:
        faults += outcome.faults
    if case.feedback:
        page = outcome.pages.get(case.name)
        if page is None:
            faults.append("it has no feedback")
        else:
            faults += [
                f"live: {content}" for content in live(page) - live(outcome.pages["0-honest"])
            ]
    assert faults == []


@pytest.mark.parametrize(("name", "mode"), list(classes()))
def test_attacked_class_loses_no_results(name, mode):
    skip_if_unavailable(mode)
    assert graded(name, mode).faults == ()


def skip_if_unavailable(mode):
    """Skip if no container engine is available; bubblewrap is always required."""
    if mode == CONTAINER and (why := why_no_container()):
        pytest.skip(why)


@functools.cache
def why_no_container():
    """Return the reason why no container can be started, or an empty string."""
    try:
        open_sandbox(mode=CONTAINER).close()
    except SandboxUnavailable as error:
        return str(error)
    return ""


def test_corpus_covers_every_group_of_attacks():
    assert len(CASES) >= 90
    assert {case.group for case in CASES} == set(hostile.GROUPS)


def test_every_entry_of_the_answers_file_is_a_case():
    """YAML keeps only the last of two entries with the same name."""
    file = hostile.CORPUS / "answers.yml"
    names = [case.name for case in hostile.read_answers(file)]
    assert len(names) == file.read_text(encoding="utf-8").count("code: |") > 90
    assert len({case.name for case in CASES}) == len(CASES)


def test_cold_sandbox_runs_cases_of_every_group(monkeypatch):
    monkeypatch.setattr(hostile, "NIGHTLY", False)
    some = hostile.cases_in(COLD)
    assert {case.group for case in some} == set(hostile.GROUPS)
    assert {case.assignment for case in some} >= set(hostile.IN_THE_COLD)
    assert len(CASES) / 8 <= len(some) < len(CASES) / 3
    assert hostile.cases_in(WARM) == CASES
    assert hostile.cases_in(CONTAINER) == ()
    monkeypatch.setattr(hostile, "NIGHTLY", True)
    assert hostile.cases_in(COLD) == hostile.cases_in(CONTAINER) == CASES


def test_case_with_an_unknown_key_is_refused(tmp_path):
    text = "attacks: x\ngroup: files\nassignment: self_attention\n"
    (tmp_path / "expect.yml").write_text(text)
    assert hostile.read_case(tmp_path).others == "PASS"
    (tmp_path / "expect.yml").write_text(f"{text}verdict: PASS\n")
    with pytest.raises(ValueError, match="verdict"):
        hostile.read_case(tmp_path)


def test_unexpected_results_are_reported():
    case = next(case for case in CASES if case.name == "busy_loop")
    names = [exercise.name for exercise in hostile.assignment(case.assignment).exercises]
    right = {name: hostile.Row("PASS", 9, "Right.") for name in names}
    faults = list(hostile.faults_of(case, hostile.Graded(rows={case.name: right})))
    assert len(faults) == len(names)
    assert "softmax: PASS, 9 points: Right." in faults
    assert list(hostile.faults_of(case, hostile.Graded())) == ["it has rows for []"]


@pytest.mark.parametrize(
    "text",
    ["<script>", "<p onclick=x>", "<a href='JavaScript:x'>", "<a href=' data:x'>", "<svg>"],
)
def test_active_content_in_a_page_is_detected(text):
    assert live(f"<p>{text}</p>")
    assert not live("<p><a href='https://example.org/a:b'>x</a> &lt;script&gt;</p>")
