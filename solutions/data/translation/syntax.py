"""The abstract sentence that the English, German and French grammars write out.

Every English word has a key, such as "0sn": clause 0, subject, noun. A grammar writes each word
with the keys of the English words that it translates. These keys are the gold alignment.
"""

from __future__ import annotations

from dataclasses import dataclass

from .nouns import Noun
from .verbs import Verb
from .words import Adjective, Determiner, Phrase, Pronoun

Word = tuple[str, tuple[str, ...], tuple[str, ...]]
"""A translated word: its text, the keys of its sure links, the keys of its possible links."""


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun with its determiner, its adjectives in the English order, and a relative clause."""

    determiner: Determiner
    noun: Noun
    adjectives: tuple[Adjective, ...] = ()
    plural: bool = False
    relative: Clause | None = None

    @property
    def form(self) -> int:
        """The form of the verb that agrees with it: that for "he" or that for "they"."""
        return 4 if self.plural else 1

    @property
    def number(self) -> int:
        """The row number of the noun, for the splits."""
        return self.noun.number


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause. A part that is None is absent.

    `preposition` is "at", "to" or "from" and belongs to `place`. `question` is the question word of
    a question, or `YES_OR_NO`. In a relative clause, `gap` names the part ("subject" or "object")
    that the relative pronoun replaces.
    """

    subject: NounPhrase | Pronoun
    verb: Verb
    object: NounPhrase | None = None
    recipient: NounPhrase | None = None
    adjective: Adjective | None = None
    degree: Phrase | None = None
    place: NounPhrase | Phrase | None = None
    preposition: str = "at"
    time: Phrase | None = None
    time_first: bool = False
    frequency: Phrase | None = None
    modal: Verb | None = None
    question: Phrase | None = None
    gap: str = ""

    @property
    def combination(self) -> tuple[int, int, int]:
        """The row numbers of subject, verb and complement; -1 for no complement.

        The complement is the verb's object, its adjective, or the place of a verb such as "go" or
        "live". For a verb that needs no complement, it is the place, the time or the adverb of
        frequency of the clause, if there is one.
        """
        complement = self.object or self.adjective or self.place or self.time or self.frequency
        return self.subject.number, self.verb.number, complement.number if complement else -1


@dataclass(frozen=True, slots=True)
class Segment:
    """A clause with the conjunction that joins it to the clauses before it.

    A `subordinator` makes it a subordinate clause; if it is `fronted`, its main clause follows.
    """

    clause: Clause
    coordinator: Phrase | None = None
    subordinator: Phrase | None = None
    fronted: bool = False


Sentence = tuple[Segment, ...]
"""A sentence: its segments, in order."""


def clauses(sentence: Sentence) -> tuple[Clause, ...]:
    """Return all clauses of `sentence`, including relative clauses."""
    found: list[Clause] = []
    for segment in sentence:
        clause = segment.clause
        found.append(clause)
        for phrase in (clause.subject, clause.object):
            if isinstance(phrase, NounPhrase) and phrase.relative is not None:
                found.append(phrase.relative)
    return tuple(found)


def is_question(sentence: Sentence) -> bool:
    """Return whether `sentence` ends with a question mark."""
    return any(segment.clause.question is not None for segment in sentence)


def linked(phrase: Phrase, language: str, at: str) -> list[Word]:
    """Return the words of a fixed phrase in "german" or "french"; `at` begins its keys."""
    links = phrase.german if language == "german" else phrase.french
    return [
        (link.word, tuple(f"{at}{i}" for i in link.sure), tuple(f"{at}{i}" for i in link.possible))
        for link in links
    ]
