"""Random clauses that read sensibly, each from a given split."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from .draws import PREDICATES, Draws, draw_noun_phrase
from .nouns import Noun, nouns_of
from .splits import Split, split_of
from .syntax import Clause, NounPhrase
from .verbs import VERBS, Verb, verbs_of
from .words import PHRASES, POSSESSIVES, PRONOUNS, THE, YES_OR_NO, A, Adjective, Pronoun

_FRAMES = ("copula", "intransitive", "motion", "locative", "ditransitive", *4 * ("transitive",))
_VERBS = {frame: verbs_of(frame) for frame in {verb.frame for verb in VERBS}}
_COUNTED = {"transitive", "ditransitive", "motion", "locative", "opinion"}
_PERSONS = nouns_of("person")
_MEETING_PLACES = nouns_of("park garden city school market station restaurant beach office hotel")
_SUBJECT_KINDS = ("person", "animal")
_PLAIN = tuple(
    verb
    for verb in _VERBS["transitive"]
    if not (verb.particle or verb.german_preposition or verb.french_preposition)
)
_NEVER = PHRASES["frequency"][-1]
_HOW, _WHY, _WHERE, _WHEN = PHRASES["question"]

Core = tuple[Verb, Noun | Pronoun, Noun | Adjective | None]


def _core(
    draw: Draws, verb: Verb, subject: Noun | None = None, complement: Noun | None = None
) -> Core:
    """Draw the subject and the complement of `verb`, unless they are given."""
    actor: Noun | Pronoun
    if subject:
        actor = subject
    elif verb.subjects[0].kind == "person" and draw.chance(0.3):
        actor = draw.choice(PRONOUNS)
    else:
        actor = draw.choice(verb.subjects)
    if verb.frame == "copula":
        kind = "person" if isinstance(actor, Pronoun) else actor.kind
        return verb, actor, draw.choice(PREDICATES[kind])
    if verb.frame in _COUNTED:
        return verb, actor, complement or draw.choice(verb.objects)
    return verb, actor, None


def _belongs(core: Core, split: Split) -> bool:
    verb, subject, complement = core
    if complement is subject:
        return False
    return split_of((subject.number, verb.number, complement.number if complement else -1)) == split


def _dress(
    draw: Draws, core: Core, *, heads: tuple[NounPhrase | None, ...] = (None, None)
) -> Clause:
    """Make a clause from its core; `heads` are noun phrases for the subject and the object."""
    verb, actor, complement = core
    subject: NounPhrase | Pronoun
    if isinstance(actor, Pronoun):
        subject = actor
    else:
        described = verb.frame != "copula"  # no "the small dog is big"
        subject = heads[0] or draw_noun_phrase(draw, actor, described=described)
    if complement is None:
        return Clause(subject, verb)
    if isinstance(complement, Adjective):
        degree = draw.choice(PHRASES["degree"]) if draw.chance(0.3) else None
        return Clause(subject, verb, adjective=complement, degree=degree)
    phrase = heads[1] or draw_noun_phrase(draw, complement)
    if verb.frame == "motion":
        origin = verb.english[0] == "come" and draw.chance(0.5)
        return Clause(subject, verb, place=phrase, preposition="from" if origin else "to")
    if verb.frame == "locative":
        return Clause(subject, verb, place=phrase)
    if verb.frame == "opinion" and phrase.determiner is A:  # not: how do you like "a soup"?
        phrase = replace(phrase, determiner=THE)
    recipient = None
    if verb.frame == "ditransitive":
        recipient = draw_noun_phrase(draw, draw.choice(_PERSONS))
    return Clause(subject, verb, object=phrase, recipient=recipient)


def _with_place(draw: Draws, clause: Clause) -> Clause:
    if clause.verb.frame not in {"intransitive", "transitive"} or not draw.chance(0.2):
        return clause
    if draw.chance(0.3):
        return replace(clause, place=draw.choice(PHRASES["place"]))
    places = clause.verb.objects if clause.verb.frame == "intransitive" else _MEETING_PLACES
    return replace(clause, place=draw_noun_phrase(draw, draw.choice(places)))


def _with_modal(draw: Draws, clause: Clause) -> Clause:
    if clause.verb.frame in {"copula", "matrix", "opinion"} or not draw.chance(0.15):
        return clause
    return replace(clause, modal=draw.choice(_VERBS["modal"]))


def _with_time(draw: Draws, clause: Clause, time_first: bool) -> Clause:
    kind = draw.random()
    if kind < 0.2:
        return replace(clause, frequency=draw.choice(PHRASES["frequency"]))
    subject = clause.subject
    weather = isinstance(subject, NounPhrase) and subject.noun.kind == "weather"
    if kind < 0.45 and (weather or clause.verb.frame not in {"matrix", "copula"}):
        first = time_first and draw.chance(0.35)
        return replace(clause, time=draw.choice(PHRASES["time"]), time_first=first)
    return clause


def statement(draw: Draws, split: Split, *, time_first: bool = False) -> Clause:
    """Return a statement; it may begin with a time if `time_first` is true."""
    while True:
        core = _core(draw, draw.choice(_VERBS[draw.choice(_FRAMES)]))
        if core[2] is not None and not _belongs(core, split):
            continue
        clause = _with_modal(draw, _with_place(draw, _dress(draw, core)))
        clause = _with_time(draw, clause, time_first)
        if split_of(clause.combination) == split:
            return clause


def matrix(draw: Draws, split: Split) -> Clause:
    """Return a clause that is followed by "that", such as "the man says"."""
    while True:
        core = _core(draw, draw.choice(_VERBS["matrix"]))
        clause = _with_time(draw, _dress(draw, core), False)
        if split_of(clause.combination) == split:
            return clause


def question(draw: Draws, split: Split) -> Clause:
    """Return a question: yes or no, why, where, when, or how someone likes something."""
    if draw.chance(0.25):
        core = _core(draw, _VERBS["opinion"][0])
        while not _belongs(core, split):
            core = _core(draw, _VERBS["opinion"][0])
        clause = replace(_dress(draw, core), question=_HOW)
        return replace(clause, time=draw.choice(PHRASES["time"])) if draw.chance(0.4) else clause
    clause = statement(draw, split)
    while clause.frequency is _NEVER:
        clause = statement(draw, split)
    word = draw.choice((YES_OR_NO, _WHY, _WHERE, _WHEN))
    if (word is _WHERE and (clause.place or clause.adjective)) or (word is _WHEN and clause.time):
        word = _WHY
    return replace(clause, question=word)


def with_relative(draw: Draws, clause: Clause, split: Split) -> Clause | None:
    """Return `clause` with a relative clause on its subject or at its end, or None if none fits."""
    last = not (clause.modal or clause.verb.prefix or clause.recipient or clause.place)
    late_time = clause.time is not None and not clause.time_first
    roles = ["subject"] if isinstance(clause.subject, NounPhrase) else []
    if clause.object and last and not late_time:
        roles.append("object")
    for role in roles[::-1] if draw.chance(0.5) else roles:
        head = clause.object if role == "object" else clause.subject
        assert isinstance(head, NounPhrase), "only a noun phrase has a relative clause"
        relative = _relative(draw, head, split)
        if relative is None:
            continue
        described = replace(head, relative=relative)
        if role == "object":
            return replace(clause, object=described)
        return replace(clause, subject=described)
    return None


@cache
def _verbs_about(noun: Noun, gap: str) -> tuple[Verb, ...]:
    """Return the verbs that may have `noun` as their subject or object, as `gap` says."""
    if gap == "object":
        return tuple(verb for verb in _PLAIN if noun in verb.objects)
    frames = ("copula", "intransitive", "transitive", "locative", "motion")
    return tuple(verb for frame in frames for verb in _VERBS[frame] if noun in verb.subjects)


def _relative(draw: Draws, head: NounPhrase, split: Split) -> Clause | None:
    noun = head.noun
    if noun.kind in {"name", "weather"} or head.determiner in POSSESSIVES:
        return None
    gap = "subject" if noun.kind in _SUBJECT_KINDS and draw.chance(0.6) else "object"
    verbs = _verbs_about(noun, gap)
    for _ in range(50 if verbs else 0):
        given = (noun, None) if gap == "subject" else (None, noun)
        core = _core(draw, draw.choice(verbs), *given)
        if _belongs(core, split):
            heads = (head, None) if gap == "subject" else (None, head)
            return replace(_with_modal(draw, _dress(draw, core, heads=heads)), gap=gap)
    return None
