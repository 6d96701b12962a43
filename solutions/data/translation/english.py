"""English: the source side. Each word has the key that alignments refer to."""

from __future__ import annotations

from .syntax import Clause, NounPhrase, Segment, Sentence, is_question
from .words import Phrase, Pronoun

_NOT_AN = {"European", "university"}
_BE = ("am", "is", "are", "are", "are")

Keyed = tuple[str, str]


def sentence(parts: Sentence) -> list[Keyed]:
    """Return the English words of `parts`, each with its key."""
    words: list[Keyed] = []
    for i, segment in enumerate(parts):
        words += _segment(segment, str(i))
    words.append(("?" if is_question(parts) else ".", "end"))
    return words


def _segment(segment: Segment, at: str) -> list[Keyed]:
    words: list[Keyed] = []
    if segment.coordinator:
        words.append((",", at + ","))
        words += _phrase(segment.coordinator, at + "+")
    if segment.subordinator:
        words += _phrase(segment.subordinator, at + "c")
    words += _clause(segment.clause, at)
    if segment.fronted:
        words.append((",", at + ";"))
    return words


def _phrase(phrase: Phrase, at: str) -> list[Keyed]:
    return [(word, f"{at}{i}") for i, word in enumerate(phrase.english)]


def _noun_phrase(phrase: NounPhrase, at: str) -> list[Keyed]:
    name = phrase.noun.kind == "name"
    rest = [
        (adjective.english.capitalize() if name else adjective.english, f"{at}a{i}")
        for i, adjective in enumerate(phrase.adjectives)
    ]
    rest.append((phrase.noun.english[phrase.plural], at + "n"))
    determiner = phrase.determiner.english[phrase.plural]
    if determiner == "a" and rest[0][0][0] in "aeiouAE" and rest[0][0] not in _NOT_AN:
        determiner = "an"
    words = [(determiner, at + "d"), *rest]
    if phrase.relative:
        person = phrase.noun.kind == "person"
        pronoun = ("who" if phrase.relative.gap == "subject" else "whom") if person else "that"
        words.append((pronoun, at + "w"))
        words += _clause(phrase.relative, at + "-")
    return words


def _subject(clause: Clause, at: str) -> list[Keyed]:
    if clause.gap == "subject":
        return []
    if isinstance(clause.subject, Pronoun):
        return [(clause.subject.english, at + "sn")]
    return _noun_phrase(clause.subject, at + "s")


def _clause(clause: Clause, at: str) -> list[Keyed]:
    words: list[Keyed] = []
    if clause.time and clause.time_first:
        words += _phrase(clause.time, at + "t")
    if clause.question is None:
        words += _subject(clause, at) + _verb(clause, at)
    else:
        words += _phrase(clause.question, at + "?") + _question(clause, at)
    if clause.verb.particle:
        words.append((clause.verb.particle, at + "p"))
    if clause.recipient:
        words += _noun_phrase(clause.recipient, at + "r")
    if clause.object and clause.gap != "object":
        words += _noun_phrase(clause.object, at + "o")
    if clause.degree:
        words += _phrase(clause.degree, at + "g")
    if clause.adjective:
        words.append((clause.adjective.english, at + "a"))
    words += _place(clause, at)
    if clause.time and not clause.time_first:
        words += _phrase(clause.time, at + "t")
    return words


def _verb(clause: Clause, at: str) -> list[Keyed]:
    """Return the verb of a statement, its modal, and the adverb of frequency at its position."""
    form = clause.subject.form
    often = _phrase(clause.frequency, at + "q") if clause.frequency else []
    base, third = clause.verb.english
    if clause.modal is None:
        if clause.verb.frame == "copula":
            return [(_BE[form], at + "v"), *often]
        return [*often, (third if form == 1 else base, at + "v")]
    modal = (clause.modal.english[form == 1], at + "m")
    if clause.modal.english[0] == "want":
        return [*often, modal, ("to", at + "to"), (base, at + "v")]
    return [modal, *often, (base, at + "v")]


def _question(clause: Clause, at: str) -> list[Keyed]:
    form = clause.subject.form
    subject = _subject(clause, at)
    often = _phrase(clause.frequency, at + "q") if clause.frequency else []
    if clause.modal is None and clause.verb.frame == "copula":
        return [(_BE[form], at + "v"), *subject, *often]
    base = (clause.verb.english[0], at + "v")
    do = ("does" if form == 1 else "do", at + "do")
    if clause.modal is None:
        return [do, *subject, *often, base]
    modal = (clause.modal.english[0], at + "m")
    if clause.modal.english[0] == "want":
        return [do, *subject, *often, modal, ("to", at + "to"), base]
    return [modal, *subject, *often, base]


def _place(clause: Clause, at: str) -> list[Keyed]:
    if clause.place is None:
        return []
    if isinstance(clause.place, Phrase):
        return _phrase(clause.place, at + "l")
    place = clause.place.noun.place
    assert place is not None, "a place has its prepositions"
    preposition = place.english if clause.preposition == "at" else clause.preposition
    return [(preposition, at + "lp"), *_noun_phrase(clause.place, at + "l")]
