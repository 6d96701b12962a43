"""German: case, gender, endings of adjectives, and the verb in second or last position."""

from __future__ import annotations

from .syntax import Clause, NounPhrase, Segment, Sentence, Word, is_question, linked
from .words import Determiner, Phrase, Pronoun

_CASES = {"nom": 0, "acc": 1, "dat": 2}
# Endings for nominative, accusative, dative, by gender (p: plural).
_DER = {
    "m": ("er", "en", "em"),
    "f": ("ie", "ie", "er"),
    "n": ("as", "as", "em"),
    "p": ("ie", "ie", "en"),
}
_DIESER = {
    "m": ("er", "en", "em"),
    "f": ("e", "e", "er"),
    "n": ("es", "es", "em"),
    "p": ("e", "e", "en"),
}
_EIN = {**_DIESER, "m": ("", "en", "em"), "n": ("", "", "em")}
_WEAK = {
    "m": ("e", "en", "en"),
    "f": ("e", "e", "en"),
    "n": ("e", "e", "en"),
    "p": ("en", "en", "en"),
}
_MIXED = {**_WEAK, "m": ("er", "en", "en"), "n": ("es", "es", "en")}
_STRONG_PLURAL = {"p": ("e", "e", "en")}
_ADJECTIVE = {"der": _WEAK, "ein": _MIXED, "": _STRONG_PLURAL}
_CONTRACTIONS = {
    ("in", "dem"): "im",
    ("in", "das"): "ins",
    ("an", "dem"): "am",
    ("an", "das"): "ans",
    ("von", "dem"): "vom",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
}
_COMMA: Word = (",", (), ())


def sentence(parts: Sentence) -> list[Word]:
    """Return the German words of `parts`, each with the keys of its English words."""
    words: list[Word] = []
    inverted = False
    for i, segment in enumerate(parts):
        words += _segment(segment, str(i), inverted)
        inverted = segment.fronted
    words.append(("?" if is_question(parts) else ".", ("end",), ()))
    # A comma at the end of a clause is dropped before another punctuation mark.
    following = [*words[1:], ("", (), ())]
    return [
        word
        for word, after in zip(words, following, strict=True)
        if word[0] != "," or after[0] not in {",", ".", "?"}
    ]


def _segment(segment: Segment, at: str, inverted: bool) -> list[Word]:
    words: list[Word] = []
    if segment.coordinator:
        words.append((",", (at + ",",), ()))
        words += linked(segment.coordinator, "german", at + "+")
    if segment.subordinator is None:
        return words + _main(segment.clause, at, inverted)
    conjunction = linked(segment.subordinator, "german", at + "c")
    final = _final(segment.clause, at)
    if segment.fronted:
        return [*words, *conjunction, *final, (",", (at + ";",), ())]
    return [*words, _COMMA, *conjunction, *final, _COMMA]


def _determiner(determiner: Determiner, gender: str, case: int) -> str:
    if determiner.declension == "":
        return determiner.german
    if determiner.german == "d":
        return "d" + _DER[gender][case]
    endings = _EIN if determiner.declension == "ein" else _DIESER
    return determiner.german + endings[gender][case]


def _noun(phrase: NounPhrase, case: int) -> str:
    singular, plural = phrase.noun.german
    if phrase.plural:
        return plural + "n" if case == 2 and plural[-1] not in "ns" else plural
    return plural if phrase.noun.weak and case else singular


def _noun_phrase(phrase: NounPhrase, case: int, at: str) -> list[Word]:
    gender = "p" if phrase.plural else phrase.noun.german_gender
    ending = _ADJECTIVE[phrase.determiner.declension][gender][case]
    words: list[Word] = [(_determiner(phrase.determiner, gender, case), (at + "d",), ())]
    noun = _noun(phrase, case)
    noun_keys: tuple[str, ...] = (at + "n",)
    for i, adjective in enumerate(phrase.adjectives):
        key = f"{at}a{i}"
        if adjective.english == "economic":  # one compound for two words: Wirtschaftskrise
            noun, noun_keys = "Wirtschafts" + noun.lower(), (key, *noun_keys)
            continue
        text = adjective.german_stem + ending
        words.append((text.capitalize() if phrase.noun.kind == "name" else text, (key,), ()))
    words.append((noun, noun_keys, ()))
    return words + _relative(phrase, gender, at)


def _relative(phrase: NounPhrase, gender: str, at: str) -> list[Word]:
    if phrase.relative is None:
        return []
    case = "nom" if phrase.relative.gap == "subject" else phrase.relative.verb.german_case
    pronoun = "denen" if (gender, case) == ("p", "dat") else "d" + _DER[gender][_CASES[case]]
    clause = _final(phrase.relative, at + "-")
    return [_COMMA, (pronoun, (at + "w",), ()), *clause, _COMMA]


def _with_preposition(preposition: str, keys: tuple[str, ...], phrase: list[Word]) -> list[Word]:
    """Join a preposition with a noun phrase; "in" and "dem" become "im"."""
    article, article_keys, _ = phrase[0]
    contracted = _CONTRACTIONS.get((preposition, article))
    if contracted is None:
        return [(preposition, keys, ()), *phrase]
    return [(contracted, keys + article_keys, ()), *phrase[1:]]


def _subject(clause: Clause, at: str) -> list[Word]:
    if clause.gap == "subject":
        return []
    if isinstance(clause.subject, Pronoun):
        return [(clause.subject.german, (at + "sn",), ())]
    return _noun_phrase(clause.subject, 0, at + "s")


def _object(clause: Clause, at: str) -> list[Word]:
    if clause.object is None or clause.gap == "object":
        return []
    verb = clause.verb
    phrase = _noun_phrase(clause.object, _CASES[verb.german_case], at + "o")
    if not verb.german_preposition:
        return phrase
    keys = (at + "p",) if verb.particle else ()
    return _with_preposition(verb.german_preposition, keys, phrase)


def _place(clause: Clause, at: str) -> list[Word]:
    if clause.place is None:
        return []
    if isinstance(clause.place, Phrase):
        return linked(clause.place, "german", at + "l")
    place = clause.place.noun.place
    assert place is not None, "a place has its prepositions"
    where, to = place.german
    if clause.preposition == "from":
        preposition, case = "aus" if where == "in" else "von", "dat"
    elif clause.preposition == "to":
        preposition, case = to, "dat" if to == "zu" else "acc"
    else:
        preposition, case = where, "dat"
    phrase = _noun_phrase(clause.place, _CASES[case], at + "l")
    return _with_preposition(preposition, (at + "lp",), phrase)


def _middle(clause: Clause, at: str, time: list[Word]) -> list[Word]:
    """Return the words between the two parts of the verb, without the subject."""
    words: list[Word] = []
    late = clause.verb.frame == "opinion"  # "Wie finden Sie das Wetter heute?"
    here = clause.object is not None and isinstance(clause.place, Phrase)
    if not late:
        words += time
    if here:  # "liest zu Hause oft das Buch", but "liest oft das Buch im Park"
        words += _place(clause, at)
    if clause.frequency:
        words += linked(clause.frequency, "german", at + "q")
    if clause.recipient:
        words += _noun_phrase(clause.recipient, _CASES["dat"], at + "r")
    words += _object(clause, at)
    if clause.degree:
        words += linked(clause.degree, "german", at + "g")
    if clause.adjective:
        words.append((clause.adjective.german, (at + "a",), ()))
    if not here:
        words += _place(clause, at)
    return words + time if late else words


def _verb(clause: Clause, at: str) -> tuple[Word, list[Word]]:
    """Return the finite verb, and the words in last position: an infinitive or separable prefix."""
    verb, modal = clause.verb, clause.modal
    form = min(clause.subject.form, 2)
    extra = (at + "p",) if verb.particle and not verb.german_preposition else ()
    do = (at + "do",) if clause.question and verb.frame != "copula" else ()
    if modal:
        want = modal.english[0] == "want"
        helpers = (at + "to", *do) if want else ()
        finite: Word = (modal.german[form], (at + "m",), helpers)
        return finite, [(verb.german_infinitive, (at + "v",), extra)]
    last: list[Word] = [(verb.prefix, (at + "v",), extra)] if verb.prefix else []
    return (verb.german[form], (at + "v",), do + extra), last


def _main(clause: Clause, at: str, inverted: bool) -> list[Word]:
    """Return a clause with the verb in second position, or in first for a yes-or-no question."""
    finite, last = _verb(clause, at)
    time = linked(clause.time, "german", at + "t") if clause.time else []
    first: list[Word] = []
    if clause.question is not None:
        first, inverted = linked(clause.question, "german", at + "?"), True
    elif clause.time_first:
        first, time, inverted = time, [], True
    subject = _subject(clause, at)
    head = [*first, finite, *subject] if inverted else [*subject, finite]
    return [*head, *_middle(clause, at, time), *last]


def _final(clause: Clause, at: str) -> list[Word]:
    """Return a subordinate clause, with the finite verb at the end."""
    finite, last = _verb(clause, at)
    time = linked(clause.time, "german", at + "t") if clause.time else []
    words = _subject(clause, at) + _middle(clause, at, time)
    if clause.modal:
        return [*words, *last, finite]
    return [*words, (clause.verb.prefix + finite[0], finite[1], finite[2])]
