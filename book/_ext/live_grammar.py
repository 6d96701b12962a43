"""Tables of the English and French grammar, for the page on which a reader composes a sentence.

The page implements the rules (`book/_web/live/grammar.mjs` and its neighbours); the words come only
from `solutions.data.translation`. Values that are false, empty or the page's default are left out.
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
    """Return all words with the properties that the rules need, in order and ready for JSON.

    The forms of a word are joined by spaces. Nouns are numbered across all kinds: a set of nouns
    lists whole kinds by name, and the other nouns by number. The links of a French word are the
    indices of English words: first its sure links, then its possible links.
    """
    kinds = dict.fromkeys(noun.kind for noun in NOUNS)
    frames = dict.fromkeys(verb.frame for verb in VERBS)
    groups = dict.fromkeys(adjective.group for adjective in ADJECTIVES)
    return {
        "nouns": {kind: [_noun(noun) for noun in NOUNS if noun.kind == kind] for kind in kinds},
        "verbs": {
            frame: [_verb(verb) for verb in VERBS if verb.frame == frame] for frame in frames
        },
        "adjectives": {
            group: [_adjective(adjective) for adjective in ADJECTIVES if adjective.group == group]
            for group in groups
        },
        "phrases": {group: [_phrase(phrase) for phrase in rows] for group, rows in PHRASES.items()},
        "determiners": {
            "the": [_determiner(THE)],
            "a": [_determiner(A)],
            "this": [_determiner(THIS)],
            "possessives": [_determiner(possessive) for possessive in POSSESSIVES],
            "numbers": [_determiner(number) for number in NUMBERS],
        },
        "pronouns": [_pronoun(pronoun) for pronoun in PRONOUNS],
        "be": _BE,
        "meetingPlaces": _set(_MEETING_PLACES),
    }


def _nonempty(**fields: Any) -> Row:
    """Return the fields that are neither false nor empty."""
    return {name: value for name, value in fields.items() if value}


def _set(nouns: Iterable[Noun]) -> list[str | int]:
    """Return the kinds of which `nouns` has every noun, and the numbers of its other nouns."""
    numbers = {noun.number for noun in nouns}
    kinds = dict.fromkeys(noun.kind for noun in NOUNS)
    whole = [
        kind for kind in kinds if all(noun.number in numbers for noun in NOUNS if noun.kind == kind)
    ]
    return [*whole, *sorted(number for number in numbers if NOUNS[number].kind not in whole)]


def _noun(noun: Noun) -> Row:
    place = noun.place
    return _nonempty(
        english=" ".join(filter(None, noun.english)),
        french=" ".join(filter(None, noun.french)),
        feminine=noun.french_gender == "f",
        mass=noun.mass,
        nobodys=noun.number in _NO_POSSESSOR,
        place=" ".join((place.english, *place.french)) if place else "",
        adjectives=" ".join(noun.adjectives),
    )


def _verb(verb: Verb) -> Row:
    return _nonempty(
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
    return _nonempty(
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
    return _nonempty(
        english=pronoun.english,
        french=pronoun.french,
        form=pronoun.form,
        feminine=pronoun.feminine,
        plural=pronoun.plural,
    )


if __name__ == "__main__":
    print(json.dumps(tables(), ensure_ascii=False))
