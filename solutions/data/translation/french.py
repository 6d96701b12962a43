"""French: agreement, adjectives before and after the noun, contraction and elision."""

from __future__ import annotations

from .syntax import Clause, NounPhrase, Segment, Sentence, Word, is_question, linked
from .words import Adjective, Phrase, Pronoun

_VOWELS = frozenset("aeiouâàéèêëîïôûœh")  # none of the nouns begins with an aspirated h
_BEFORE_VOWEL = {"le": "l'", "la": "l'", "ce": "cet", "ma": "mon", "sa": "son"}
_CONTRACTIONS = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}
_ELISIONS = {"je": "j'", "ne": "n'", "que": "qu'", "de": "d'"}


def _vowel(word: str) -> bool:
    return word[:1].lower() in _VOWELS


def sentence(parts: Sentence) -> list[Word]:
    """Return the French words of `parts`, with the keys of the English words they translate."""
    words: list[Word] = []
    for i, segment in enumerate(parts):
        words += _segment(segment, str(i))
    words.append(("?" if is_question(parts) else ".", ("end",), ()))
    return _elide(words)


def _elide(words: list[Word]) -> list[Word]:
    """Shorten "je", "ne", "que" and "de" before a vowel, and "si" before "il"."""
    for i in range(len(words) - 1):
        text, sure, possible = words[i]
        after = words[i + 1][0]
        if text in _ELISIONS and _vowel(after):
            words[i] = (_ELISIONS[text], sure, possible)
        elif text == "si" and after in {"il", "ils"}:
            words[i] = ("s'", sure, possible)
    return words


def _segment(segment: Segment, at: str) -> list[Word]:
    words: list[Word] = []
    if segment.coordinator:
        words.append((",", (at + ",",), ()))
        words += linked(segment.coordinator, "french", at + "+")
    if segment.subordinator:
        words += linked(segment.subordinator, "french", at + "c")
    words += _clause(segment.clause, at)
    if segment.fronted:
        words.append((",", (at + ";",), ()))
    return words


def _agreeing(adjective: Adjective, feminine: bool, plural: bool, vowel: bool = False) -> str:
    masculine, female, before_vowel = adjective.french
    if feminine:
        return female + "s" if plural else female
    if plural:
        return masculine if masculine[-1] in "sx" else _plural(masculine)
    return before_vowel if vowel else masculine


def _plural(masculine: str) -> str:
    if masculine.endswith("eau"):
        return masculine + "x"
    return masculine[:-1] + "ux" if masculine.endswith("al") else masculine + "s"


def _noun_phrase(phrase: NounPhrase, at: str) -> list[Word]:
    feminine, plural = phrase.noun.french_gender == "f", phrase.plural
    noun = phrase.noun.french[plural]
    words: list[Word] = [(noun, (at + "n",), ())]
    # From the last adjective to the first, because adjectives after the noun are in reverse order.
    for i in reversed(range(len(phrase.adjectives))):
        adjective, keys = phrase.adjectives[i], (f"{at}a{i}",)
        if adjective.group == "before":
            text = _agreeing(adjective, feminine, plural, _vowel(words[0][0]))
            words.insert(0, (text, keys, ()))
        else:
            words.append((_agreeing(adjective, feminine, plural), keys, ()))
    determiner = phrase.determiner.french[2 if plural else int(feminine)]
    if _vowel(words[0][0]):
        determiner = _BEFORE_VOWEL.get(determiner, determiner)
    words.insert(0, (determiner, (at + "d",), ()))
    if phrase.relative:
        pronoun = "qui" if phrase.relative.gap == "subject" else "que"
        words.append((pronoun, (at + "w",), ()))
        words += _clause(phrase.relative, at + "-")
    return words


def _with_preposition(preposition: str, keys: tuple[str, ...], phrase: list[Word]) -> list[Word]:
    """Join a preposition with a noun phrase; "de" and "le" become "du"."""
    article, article_keys, _ = phrase[0]
    contracted = _CONTRACTIONS.get((preposition, article))
    if contracted is None:
        return [(preposition, keys, ()), *phrase]
    return [(contracted, keys + article_keys, ()), *phrase[1:]]


def _subject(clause: Clause, at: str) -> list[Word]:
    if clause.gap == "subject":
        return []
    if isinstance(clause.subject, Pronoun):
        return [(clause.subject.french, (at + "sn",), ())]
    return _noun_phrase(clause.subject, at + "s")


def _clause(clause: Clause, at: str) -> list[Word]:
    words: list[Word] = []
    if clause.time and clause.time_first:
        words += linked(clause.time, "french", at + "t")
    finite, infinitive = _verb(clause, at)
    if clause.question is None:
        words += [*_subject(clause, at), *finite]
    else:
        words += linked(clause.question, "french", at + "?") + _question(clause, finite, at)
    if clause.frequency:
        words += linked(clause.frequency, "french", at + "q")
    words += infinitive
    words += _object(clause, at)
    if clause.recipient:
        words += _with_preposition("à", (), _noun_phrase(clause.recipient, at + "r"))
    if clause.degree:
        words += linked(clause.degree, "french", at + "g")
    if clause.adjective:
        subject = clause.subject
        if isinstance(subject, Pronoun):
            feminine, plural = subject.feminine, subject.plural
        else:
            feminine, plural = subject.noun.french_gender == "f", subject.plural
        words.append((_agreeing(clause.adjective, feminine, plural), (at + "a",), ()))
    words += _place(clause, at)
    if clause.time and not clause.time_first:
        words += linked(clause.time, "french", at + "t")
    return words


def _verb(clause: Clause, at: str) -> tuple[list[Word], list[Word]]:
    """Return the finite verb, after "ne" if the clause says "never", and the infinitive."""
    verb, modal, form = clause.verb, clause.modal, clause.subject.form
    extra = (at + "p",) if verb.particle and not verb.french_preposition else ()
    never = clause.frequency is not None and clause.frequency.english == ("never",)
    finite: list[Word] = [("ne", (), (at + "q0",))] if never else []
    if modal is None:
        return [*finite, (verb.french[form], (at + "v",), extra)], []
    helpers = (at + "to",) if modal.english[0] == "want" else ()
    finite.append((modal.french[form], (at + "m",), helpers))
    return finite, [(verb.french_infinitive, (at + "v",), extra)]


def _question(clause: Clause, finite: list[Word], at: str) -> list[Word]:
    """Put the verb before "vous"; ask with "est-ce que" for any other subject."""
    if isinstance(clause.subject, Pronoun) and clause.subject.french == "vous":
        return [*finite, ("-vous", (at + "sn",), ())]
    modal = clause.modal.english[0] if clause.modal else ""
    do = clause.verb.frame != "copula" and modal in {"", "want"}
    helper = (at + "do",) if do else ()
    return [("est-ce", (), helper), ("que", (), helper), *_subject(clause, at), *finite]


def _object(clause: Clause, at: str) -> list[Word]:
    if clause.object is None or clause.gap == "object":
        return []
    phrase = _noun_phrase(clause.object, at + "o")
    if not clause.verb.french_preposition:
        return phrase
    keys = (at + "p",) if clause.verb.particle else ()
    return _with_preposition(clause.verb.french_preposition, keys, phrase)


def _place(clause: Clause, at: str) -> list[Word]:
    if clause.place is None:
        return []
    if isinstance(clause.place, Phrase):
        return linked(clause.place, "french", at + "l")
    place = clause.place.noun.place
    assert place is not None, "a place has its prepositions"
    where, to = place.french
    preposition = {"at": where, "to": to, "from": "de"}[clause.preposition]
    return _with_preposition(preposition, (at + "lp",), _noun_phrase(clause.place, at + "l"))
