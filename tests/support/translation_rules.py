"""Check sentences against the rules that the generator of the translation data must obey."""

from collections.abc import Iterator

from solutions.data.translation import LONGEST, english
from solutions.data.translation.clauses import _MEETING_PLACES, _PLAIN
from solutions.data.translation.draws import (
    _AFTER,
    _BEFORE,
    _FACTS,
    _FIELDS,
    _NO_POSSESSOR,
    _ORIGINS,
    PREDICATES,
)
from solutions.data.translation.nouns import Noun
from solutions.data.translation.syntax import Clause, NounPhrase, Segment, Sentence, clauses
from solutions.data.translation.words import (
    NUMBERS,
    PHRASES,
    POSSESSIVES,
    THAT,
    THE,
    THIS,
    YES_OR_NO,
    A,
    Pronoun,
)

HOW, WHY, WHERE, WHEN = PHRASES["question"]
NEVER = PHRASES["frequency"][-1]
ASKED: dict[str, set[str]] = {
    "copula": {"adjective"},
    "intransitive": set(),
    "transitive": {"object"},
    "ditransitive": {"object", "recipient"},
    "motion": {"place"},
    "locative": {"place"},
    "matrix": set(),
    "opinion": {"object"},
}


def broken(sentence: Sentence) -> list[str]:
    """Return the broken rules of a sentence; an empty list if the generator can draw it."""
    problems = [problem for clause in clauses(sentence) for problem in _clause(clause)]
    if len(english.sentence(sentence)) > LONGEST or len(clauses(sentence)) > 8:
        problems.append("too long")
    units: list[list[Segment]] = []
    for i, segment in enumerate(sentence):
        hangs = segment.subordinator and not segment.fronted
        if hangs or (i and sentence[i - 1].fronted):
            units[-1].append(segment)
        else:
            units.append([segment])
        if bool(segment.coordinator) != (len(units) > 1 and len(units[-1]) == 1):
            problems.append("coordinator")
    for unit in units:
        problems += _unit(unit, last=unit is units[-1])
    return problems


def _unit(unit: list[Segment], last: bool) -> Iterator[str]:
    first, *more = unit
    kinds = [segment.subordinator for segment in unit]
    verbs = [segment.clause.verb.frame for segment in unit]
    relatives = [_relatives(segment.clause) for segment in unit]
    free = not first.fronted and verbs[0] != "matrix"
    if any(segment.clause.time_first for segment in (more if free else unit)):
        yield "time first"
    if sum(relatives) > (len(unit) == 1):
        yield "relative clauses"
    if any(segment.clause.question is not None for segment in unit):
        if not last or len(unit) > 1 or relatives[0] or first.clause.time_first:
            yield "a question that does not stand alone"
    elif "opinion" in verbs:
        yield "opinion"
    if verbs[0] == "matrix":
        if kinds != [None] + [THAT] * (len(unit) - 1) or len(unit) == 1:
            yield "that"
        if set(verbs[:-1]) != {"matrix"} or verbs[-1] == "matrix":
            yield "what is reported"
    elif "matrix" in verbs or THAT in kinds or len(unit) > 2:
        yield "a unit of no kind"
    elif first.fronted and (len(unit) != 2 or kinds[1] is not None or kinds[0] is None):
        yield "fronted"


def _relatives(clause: Clause) -> int:
    phrases = (clause.subject, clause.object, clause.recipient, clause.place)
    return sum(isinstance(phrase, NounPhrase) and phrase.relative is not None for phrase in phrases)


def _clause(clause: Clause) -> Iterator[str]:
    verb, subject, frame = clause.verb, clause.subject, clause.verb.frame
    used = {name for name in ("object", "recipient", "adjective", "place") if getattr(clause, name)}
    required = ASKED[frame]
    roomy = frame in {"intransitive", "transitive"} and not clause.gap
    if not required <= used <= required | ({"place"} if roomy else set()):
        yield f"what {verb.english[0]} asks for"
    yield from _subject(clause)
    if clause.object:
        yield from _noun_phrase(clause.object)
        if clause.object.noun not in verb.objects:
            yield "object"
        if isinstance(subject, NounPhrase) and subject.noun is clause.object.noun:
            yield "acts on itself"
        if frame == "opinion" and clause.object.determiner is A:
            yield "a in a question of taste"
    if clause.recipient:
        yield from _noun_phrase(clause.recipient)
        if clause.recipient.noun.kind != "person":
            yield "recipient"
    if clause.adjective and clause.adjective not in PREDICATES[_kind(subject)]:
        yield "predicate"
    if clause.degree and not clause.adjective:
        yield "degree"
    yield from _place(clause)
    yield from _when(clause)
    if clause.modal and frame in {"copula", "matrix", "opinion"}:
        yield "modal"
    yield from _question(clause)
    yield from _relative(clause)


def _kind(subject: NounPhrase | Pronoun) -> str:
    return "person" if isinstance(subject, Pronoun) else subject.noun.kind


def _subject(clause: Clause) -> Iterator[str]:
    subject, verb = clause.subject, clause.verb
    if isinstance(subject, Pronoun):
        if verb.subjects[0].kind != "person":
            yield "pronoun"
        return
    yield from _noun_phrase(subject)
    if subject.noun not in verb.subjects:
        yield "subject"
    described = subject.adjectives and subject.noun.kind != "name"
    if described and verb.frame == "copula" and clause.gap != "subject":
        yield "described subject of is"


def _noun_phrase(phrase: NounPhrase) -> Iterator[str]:
    noun, determiner, adjectives = phrase.noun, phrase.determiner, phrase.adjectives
    if noun.kind == "name":
        right = determiner is THE and not phrase.plural
        if not right or tuple(adjective.english for adjective in adjectives) != noun.adjectives:
            yield "name"
        return
    if not _determined(phrase):
        yield "determiner"
    if adjectives and not _described(noun, phrase):
        yield "adjectives"


def _determined(phrase: NounPhrase) -> bool:
    noun, determiner = phrase.noun, phrase.determiner
    if phrase.plural:
        return bool(noun.english[1]) and determiner in (THE, THIS, *NUMBERS)
    if determiner is THE:
        return True
    if noun.kind == "weather":
        return False
    if determiner in POSSESSIVES:
        return noun.number not in _NO_POSSESSOR
    return determiner is THIS or (determiner is A and not noun.mass)


def _described(noun: Noun, phrase: NounPhrase) -> bool:
    kind, adjectives = noun.kind, phrase.adjectives
    if kind == "weather":
        return False
    if kind == "politics":
        both = {(origin, field) for origin in _ORIGINS for field in _FIELDS}
        return adjectives in both | {(adjective,) for adjective in (*_ORIGINS, *_FIELDS)}
    if len(adjectives) == 1:
        return adjectives[0] in _BEFORE[kind] + _AFTER[kind]
    first, *rest = adjectives
    return first in _FACTS[kind] and len(rest) == 1 and rest[0] in _AFTER[kind]


def _place(clause: Clause) -> Iterator[str]:
    place, frame = clause.place, clause.verb.frame
    if isinstance(place, NounPhrase):
        yield from _noun_phrase(place)
        meeting = frame == "transitive"
        if place.noun not in (_MEETING_PLACES if meeting else clause.verb.objects):
            yield "place"
    elif place is not None and frame not in {"intransitive", "transitive"}:
        yield "place of no kind"
    ways = {"at"}
    if frame == "motion":
        ways = {"to", "from"} if clause.verb.english[0] == "come" else {"to"}
    if clause.preposition not in ways:
        yield "preposition"


def _when(clause: Clause) -> Iterator[str]:
    if clause.time and clause.frequency:
        yield "time and frequency"
    if clause.time_first and not clause.time:
        yield "no time first"
    frame = clause.verb.frame
    if clause.time and frame in {"copula", "matrix"} and _kind(clause.subject) != "weather":
        yield "time"
    if clause.frequency and frame == "opinion":
        yield "frequency of a taste"


def _question(clause: Clause) -> Iterator[str]:
    word = clause.question
    if (word is HOW) != (clause.verb.frame == "opinion"):
        yield "how"
    if word not in (None, YES_OR_NO, HOW, WHY, WHERE, WHEN):
        yield "question word"
    if word is not None and (clause.frequency is NEVER or clause.verb.frame == "matrix"):
        yield "question"
    if (word is WHERE and (clause.place or clause.adjective)) or (word is WHEN and clause.time):
        yield "asks for what is said"


def _relative(clause: Clause) -> Iterator[str]:
    if clause.gap and (clause.time or clause.frequency or clause.question is not None):
        yield "too much in a relative clause"
    heads = [phrase for phrase in (clause.subject, clause.object) if isinstance(phrase, NounPhrase)]
    for head in heads:
        relative = head.relative
        if relative is None:
            continue
        if head.noun.kind in {"name", "weather"} or head.determiner in POSSESSIVES:
            yield "head"
        if clause.gap:
            yield "nested"
        if head is clause.object:
            late = clause.time and not clause.time_first
            if clause.modal or clause.verb.prefix or clause.recipient or clause.place or late:
                yield "not at the end"
        same = relative.subject if relative.gap == "subject" else relative.object
        if not isinstance(same, NounPhrase) or same.noun is not head.noun:
            yield "gap"
        if relative.gap == "object" and relative.verb not in _PLAIN:
            yield "verb about an object"
        if relative.gap == "subject":
            if head.noun.kind not in {"person", "animal"}:
                yield "what does not act"
            if relative.verb.frame in {"ditransitive", "matrix", "opinion"}:
                yield "verb about a subject"
