"""Test that the grammar in the page is the grammar that generates the translation data."""

import json
import subprocess
from typing import Any

import numpy as np
import pytest
from site_tools import ROOT
from translation_rules import broken

from solutions.data.translation import LONGEST, Pair, english, sample_pairs
from solutions.data.translation.generator import sample_sentences
from solutions.data.translation.nouns import NOUNS
from solutions.data.translation.pairs import translate
from solutions.data.translation.syntax import Clause, NounPhrase, Segment, Sentence, clauses
from solutions.data.translation.verbs import VERBS
from solutions.data.translation.words import (
    ADJECTIVE,
    NUMBERS,
    PHRASES,
    POSSESSIVES,
    PRONOUNS,
    THE,
    THIS,
    YES_OR_NO,
    A,
    Phrase,
    Pronoun,
)

DRIVER = ROOT / "tests" / "web" / "live" / "grammar.mjs"
DETERMINERS = {
    " ".join(phrase.english): phrase for phrase in (THE, A, THIS, *POSSESSIVES, *NUMBERS)
}
CLAUSES = range(1, 9)
Told = dict[str, Any]


@pytest.fixture(scope="module")
def long() -> list[Pair]:
    """Return pairs whose source is as long as the page allows."""
    pairs = sample_pairs("french", 800, np.random.default_rng(25), (7, 8))
    return [pair for pair in pairs if len(pair.source) > LONGEST - 3][:80]


@pytest.fixture(scope="module")
def pairs(long: list[Pair]) -> list[Pair]:
    return sample_pairs("french", 2000, np.random.default_rng(24)) + long


@pytest.fixture(scope="module")
def reports(pairs: list[Pair], long: list[Pair], tmp_path_factory: pytest.TempPathFactory) -> Told:
    request = tmp_path_factory.mktemp("grammar") / "asked.json"
    asking = {
        "sources": [pair.source for pair in pairs],
        "starts": [pair.source[: 42 + at % 16] for at, pair in enumerate(long)],
        "walks": 200,
        "seed": 5,
        "drawn": [count for count in CLAUSES for _ in range(40)],
    }
    request.write_text(json.dumps(asking), encoding="utf-8")
    done = subprocess.run(["node", str(DRIVER), str(request)], capture_output=True, check=True)
    report: Told = json.loads(done.stdout)
    return report


def test_every_data_sentence_gets_the_same_french(reports: Told, pairs: list[Pair]) -> None:
    for pair, report in zip(pairs, reports["sources"], strict=True):
        assert report["says"], pair.source
        compare(report, pair)


def test_the_next_word_is_offered_at_every_position(reports: Told) -> None:
    assert [report["missing"] for report in reports["sources"] if report["missing"]] == []


def test_offered_words_always_lead_to_a_valid_sentence(reports: Told) -> None:
    assert len({tuple(walk["source"]) for walk in reports["walks"]}) > 150
    assert max(len(walk["source"]) for walk in reports["walks"]) == LONGEST
    for walk in reports["walks"]:
        check(walk)


def test_drawn_sentences_are_valid(reports: Told) -> None:
    for count, report in zip(
        [n for n in CLAUSES for _ in range(40)], reports["drawn"], strict=True
    ):
        drawn = check(report["source"])
        assert len(clauses(drawn)) == count
        if report["longer"] is None:
            assert count == 8 or len(report["source"]["source"]) > LONGEST - 4
            continue
        longer = check(report["longer"])
        assert len(clauses(longer)) == count + 1
        remaining = iter(report["longer"]["source"])
        words = report["source"]["source"][:-1]
        assert all(word in remaining for word in words), "a word is lost, or the order changed"


def test_sentences_are_drawn_about_as_in_the_data(reports: Told) -> None:
    drawn = [sentence(report["source"]["says"]) for report in reports["drawn"]]
    counts = [len(clauses(drawn_sentence)) for drawn_sentence in drawn]
    data = [
        sentence
        for count in CLAUSES
        for sentence in sample_sentences(40, np.random.default_rng(count), (count, count))
    ]
    assert counts == [len(clauses(data_sentence)) for data_sentence in data]
    actual, expected = shares(drawn), shares(data)
    assert {key: share for key, share in actual.items() if abs(share - expected[key]) > 0.05} == {}


def test_the_rules_hold_for_the_data_itself() -> None:
    data = sample_sentences(3000, np.random.default_rng(3))
    assert [broken(data_sentence) for data_sentence in data if broken(data_sentence)] == []


def shares(sentences: list[Sentence]) -> dict[str, float]:
    """Return the frequencies of some features of the clauses."""
    all_clauses = [clause for sentence in sentences for clause in clauses(sentence)]
    segments = [segment for sentence in sentences for segment in sentence]
    subjects = [clause.subject for clause in all_clauses if isinstance(clause.subject, NounPhrase)]
    ways = {
        "pronoun": [isinstance(clause.subject, Pronoun) for clause in all_clauses],
        "modal": [clause.modal is not None for clause in all_clauses],
        "time": [clause.time is not None for clause in all_clauses],
        "frequency": [clause.frequency is not None for clause in all_clauses],
        "place": [clause.place is not None for clause in all_clauses],
        "transitive": [clause.verb.frame == "transitive" for clause in all_clauses],
        "relative": [bool(clause.gap) for clause in all_clauses],
        "described": [bool(subject.adjectives) for subject in subjects],
        "plural": [subject.plural for subject in subjects],
        "joined": [segment.coordinator is not None for segment in segments],
        "subordinate": [segment.subordinator is not None for segment in segments],
        "question": [sentence[-1].clause.question is not None for sentence in sentences],
    }
    return {name: sum(hits) / len(hits) for name, hits in ways.items()}


def check(report: Told) -> Sentence:
    """Build the sentence of the page in Python, and compare the results of both."""
    assert report["says"], f"a dead end: {report['source']}"
    built = sentence(report["says"])
    assert [word for word, _ in english.sentence(built)] == report["source"]
    assert broken(built) == [], report["source"]
    compare(report, translate(built, "french"))
    return built


def compare(report: Told, pair: Pair) -> None:
    """Check the French and its links against those of the pair."""
    assert tuple(report["english"]) == pair.source
    assert tuple(word["word"] for word in report["french"]) == pair.target
    sure = {(i, at) for i, word in enumerate(report["french"]) for at in word["sure"]}
    perhaps = {(i, at) for i, word in enumerate(report["french"]) for at in word["possible"]}
    assert sure == pair.sure
    assert sure | perhaps == pair.possible


def sentence(rows: list[Told]) -> Sentence:
    return tuple(
        Segment(
            clause(row["clause"]),
            phrase("coordinator", row),
            phrase("subordinator", row) or (PHRASES["that"][0] if "subordinator" in row else None),
            row.get("fronted", False),
        )
        for row in rows
    )


def phrase(group: str, row: Told) -> Phrase | None:
    phrases = [phrase for phrase in PHRASES[group] if " ".join(phrase.english) == row.get(group)]
    return phrases[0] if phrases else None


def clause(row: Told) -> Clause:
    subject, place = row["subject"], row.get("place")
    pronouns = [pronoun for pronoun in PRONOUNS if pronoun.english == subject]
    question = YES_OR_NO if row.get("question") == "" else phrase("question", row)
    return Clause(
        subject=pronouns[0] if pronouns else noun_phrase(subject),
        verb=VERBS[row["verb"]],
        object=noun_phrase(row["object"]) if "object" in row else None,
        recipient=noun_phrase(row["recipient"]) if "recipient" in row else None,
        adjective=ADJECTIVE[row["adjective"]] if "adjective" in row else None,
        degree=phrase("degree", row),
        place=noun_phrase(place) if isinstance(place, dict) else phrase("place", row),
        preposition=row.get("preposition", "at"),
        time=phrase("time", row),
        time_first=row.get("timeFirst", False),
        frequency=phrase("frequency", row),
        modal=VERBS[row["modal"]] if "modal" in row else None,
        question=question,
        gap=row.get("gap", ""),
    )


def noun_phrase(row: Told) -> NounPhrase:
    return NounPhrase(
        determiner=DETERMINERS[row["determiner"]],
        noun=NOUNS[row["noun"]],
        adjectives=tuple(ADJECTIVE[word] for word in row["adjectives"]),
        plural=row["plural"],
        relative=clause(row["relative"]) if "relative" in row else None,
    )
