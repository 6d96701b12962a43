"""What was measured of other graders; the measurement itself is not run here."""

import json

import hostile

from tests.benchmarks.rivals import QUESTIONS, RESULT


def measured():
    return json.loads(RESULT.read_text(encoding="utf-8"))


def test_what_was_measured_stands_in_the_corpus():
    found = measured()
    corpus = {case.name: case for case in hostile.corpus()}
    for name, case in found["cases"].items():
        now = {"group": corpus[name].group, "attacks": corpus[name].attacks}
        assert case == now | {"open": corpus[name].open}
    for rival in found["rivals"].values():
        assert rival["cases"].keys() == found["cases"].keys()


def test_nothing_was_found_of_this_grader():
    cases = measured()["rivals"]["here"]["cases"].values()
    ran = [one for one in cases if "left_out" not in one]
    assert len(ran) > 150
    assert [one for one in ran if any(one[question] for question in QUESTIONS)] == []
