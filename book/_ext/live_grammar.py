"""The tables of the English and the French grammar, for the page in which a reader composes.

The page knows the rules (`book/_web/live/grammar.mjs` and its neighbours); the words are those of
`solutions.data.translation` alone. What is false, empty or as the page expects is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from solutions.data.translation.clauses import _MEETING_PLACES, _PLAIN
from solutions.data.translation.draws import _FACTS, _NO_POSSESSOR
from solutions.data.translation.english import _BE
from solutions.data.translation.nouns import NOUNS, Noun
from solutions.data.translation.verbs import VERBS, Verb
from solutions.data.translation.words import (
    ADJECTIVES,
    NUMBERS,
    PHRASES,
    POSSESSIVES,
    PRONOUNS,
    THE,
    THIS,
    A,
    Adjective,
    Determiner,
    Link,
    Phrase,
    Pronoun,
)

Row = dict[str, Any]


def tables() -> Row:
    """Return all words with what the rules ask about them, in order and ready for JSON.

    Forms of a word stand in one string, apart by spaces. Nouns are counted through all kinds: a set
    of nouns names whole kinds, and single nouns by their numbers. Links of French words are indices
    of English words, sure and possible ones.
    """
    kinds = dict.fromkeys(noun.kind for noun in NOUNS)
    frames = dict.fromkeys(verb.frame for verb in VERBS)
    groups = dict.fromkeys(adjective.group for adjective in ADJECTIVES)
    return {
        "nouns": {kind: [_noun(one) for one in NOUNS if one.kind == kind] for kind in kinds},
        "verbs": {frame: [_verb(one) for one in VERBS if one.frame == frame] for frame in frames},
        "adjectives": {
            group: [_adjective(one) for one in ADJECTIVES if one.group == group] for group in groups
        },
        "phrases": {group: [_phrase(one) for one in rows] for group, rows in PHRASES.items()},
        "determiners": {
            "the": [_determiner(THE)],
            "a": [_determiner(A)],
            "this": [_determiner(THIS)],
            "possessives": [_determiner(one) for one in POSSESSIVES],
            "numbers": [_determiner(one) for one in NUMBERS],
        },
        "pronouns": [_pronoun(pronoun) for pronoun in PRONOUNS],
        "be": _BE,
        "meetingPlaces": _set(_MEETING_PLACES),
    }


def _kept(**fields: Any) -> Row:
    """Return the fields that say something."""
    return {name: value for name, value in fields.items() if value}


def _set(nouns: Iterable[Noun]) -> list[str | int]:
    """Return the kinds that are whole in `nouns`, and the numbers of the others."""
    numbers = {noun.number for noun in nouns}
    kinds = dict.fromkeys(noun.kind for noun in NOUNS)
    whole = [
        kind for kind in kinds if all(one.number in numbers for one in NOUNS if one.kind == kind)
    ]
    return [*whole, *sorted(number for number in numbers if NOUNS[number].kind not in whole)]


def _noun(noun: Noun) -> Row:
    place = noun.place
    return _kept(
        english=" ".join(filter(None, noun.english)),
        french=" ".join(filter(None, noun.french)),
        feminine=noun.french_gender == "f",
        mass=noun.mass,
        nobodys=noun.number in _NO_POSSESSOR,
        place=" ".join((place.english, *place.french)) if place else "",
        adjectives=" ".join(noun.adjectives),
    )


def _verb(verb: Verb) -> Row:
    return _kept(
        english=" ".join(verb.english),
        particle=verb.particle,
        french=" ".join(verb.french),
        infinitive=verb.french_infinitive,
        preposition=verb.french_preposition,
        # German would put the other half of the verb behind a relative clause of the object.
        separable=bool(verb.prefix),
        plain=verb in _PLAIN,
        subjects=_set(verb.subjects),
        objects=_set(verb.objects),
    )


def _adjective(adjective: Adjective) -> Row:
    return _kept(
        english=adjective.english,
        french=" ".join(adjective.french),
        kinds=" ".join(adjective.kinds),
        fact=any(adjective in facts for facts in _FACTS.values()),
    )


def _phrase(phrase: Phrase) -> Row:
    return {"english": " ".join(phrase.english), "french": [_link(link) for link in phrase.french]}


def _link(link: Link) -> list[Any]:
    if link.possible:
        return [link.word, link.sure, link.possible]
    return [link.word, link.sure] if link.sure else [link.word]


def _determiner(determiner: Determiner) -> Row:
    return {"english": determiner.english, "french": determiner.french}


def _pronoun(pronoun: Pronoun) -> Row:
    return _kept(
        english=pronoun.english,
        french=pronoun.french,
        form=pronoun.form,
        feminine=pronoun.feminine,
        plural=pronoun.plural,
    )


if __name__ == "__main__":
    print(json.dumps(tables(), ensure_ascii=False))
