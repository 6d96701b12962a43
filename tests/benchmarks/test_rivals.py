"""Test the record of the hostile corpus in other graders; the benchmark is not run here."""

import json

import hostile

from tests.benchmarks.rivals import QUESTIONS, RESULT


def measured():
    return json.loads(RESULT.read_text(encoding="utf-8"))


def test_every_measured_case_is_in_the_corpus_with_the_same_description():
    result = measured()
    corpus = {case.name: case for case in hostile.corpus()}
    for name, case in result["cases"].items():
        now = {"group": corpus[name].group, "attacks": corpus[name].attacks}
        assert case == now | {"open": corpus[name].open}
    for rival in result["rivals"].values():
        assert rival["cases"].keys() == result["cases"].keys()


def test_this_grader_has_no_fault_in_any_case():
    cases = measured()["rivals"]["here"]["cases"].values()
    ran = [case for case in cases if "left_out" not in case]
    assert len(ran) > 150
    assert [case for case in ran if any(case[question] for question in QUESTIONS)] == []
