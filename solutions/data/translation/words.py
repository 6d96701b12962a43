"""Adjectives, determiners, pronouns and fixed phrases of the translation data."""

from __future__ import annotations

from dataclasses import dataclass

# English | German (predicate form, then the stem if it differs) | French masculine, feminine, and
# the masculine before a vowel | the kinds of noun that it describes
_ADJECTIVES = {
    "before": """
        big | groß | grand grande | animal thing place
        small | klein | petit petite | animal thing place
        old | alt | vieux vieille vieil | person animal thing place reading
        young | jung | jeune jeune | person animal
        beautiful | schön | beau belle bel | animal thing place weather
        good | gut | bon bonne | food drink reading topic
        bad | schlecht | mauvais mauvaise | food drink reading topic weather
        new | neu | nouveau nouvelle nouvel | thing place reading
        long | lang | long longue | reading""",
    "after": """
        red | rot | rouge rouge | thing
        green | grün | vert verte | thing
        blue | blau | bleu bleue | thing
        white | weiß | blanc blanche | thing animal
        black | schwarz | noir noire | thing animal
        yellow | gelb | jaune jaune | thing
        grey | grau | gris grise | thing animal
        heavy | schwer | lourd lourde | thing
        expensive | teuer teur | cher chère | thing food drink
        modern | modern | moderne moderne | place
        famous | berühmt | célèbre célèbre | person place
        rich | reich | riche riche | person
        poor | arm | pauvre pauvre | person
        tired | müde müd | fatigué fatiguée | person animal
        hungry | hungrig | affamé affamée | person animal
        happy | glücklich | heureux heureuse | person
        sad | traurig | triste triste | person
        sick | krank | malade malade | person animal
        strong | stark | fort forte | person animal
        clever | klug | intelligent intelligente | person animal
        polite | höflich | poli polie | person
        brave | mutig | courageux courageuse | person
        lazy | faul | paresseux paresseuse | person animal
        quiet | ruhig | calme calme | person place
        hot | heiß | chaud chaude | drink weather
        cold | kalt | froid froide | drink weather
        fresh | frisch | frais fraîche | food
        delicious | köstlich | délicieux délicieuse | food drink
        interesting | interessant | intéressant intéressante | reading topic place
        important | wichtig | important importante | topic politics name
        difficult | schwierig | difficile difficile | topic
        simple | einfach | simple simple | topic
        dangerous | gefährlich | dangereux dangereuse | animal
        strange | seltsam | étrange étrange | topic reading person
        clean | sauber | propre propre | thing place
        dirty | schmutzig | sale sale | thing place
        wonderful | wunderbar | merveilleux merveilleuse | weather food reading place""",
    "origin": """
        European | europäisch | européen européenne | politics
        national | national | national nationale | politics
        international | international | international internationale | politics
        French | französisch | français française | politics person
        German | deutsch | allemand allemande | politics person
        American | amerikanisch | américain américaine | politics person""",
    "field": """
        economic | wirtschaftlich | économique économique | politics
        political | politisch | politique politique | politics
        social | sozial | social sociale | politics""",
}

# English words | German words | French words. After ":" come the indices of the English words that
# a word translates: sure links, then "?" and possible links.
_PHRASES = {
    "time": """
        today | heute:0 | aujourd'hui:0
        now | jetzt:0 | maintenant:0
        tonight | heute:0 Abend:0 | ce:0 soir:0
        in the morning | am:01 Morgen:2 | le:1?0 matin:2
        in the evening | am:01 Abend:2 | le:1?0 soir:2
        every day | jeden:0 Tag:1 | chaque:0 jour:1
        on Monday | am:0 Montag:1 | lundi:1?0
        on Tuesday | am:0 Dienstag:1 | mardi:1?0
        on Wednesday | am:0 Mittwoch:1 | mercredi:1?0
        on Thursday | am:0 Donnerstag:1 | jeudi:1?0
        on Friday | am:0 Freitag:1 | vendredi:1?0
        on Saturday | am:0 Samstag:1 | samedi:1?0
        on Sunday | am:0 Sonntag:1 | dimanche:1?0""",
    "frequency": """
        always | immer:0 | toujours:0
        often | oft:0 | souvent:0
        sometimes | manchmal:0 | parfois:0
        rarely | selten:0 | rarement:0
        still | noch:0 | encore:0
        already | schon:0 | déjà:0
        never | nie:0 | jamais:0""",
    "place": """
        here | hier:0 | ici:0
        there | dort:0 | là:0
        everywhere | überall:0 | partout:0
        at home | zu:0 Hause:1 | à:0 la: maison:1""",
    "degree": """
        very | sehr:0 | très:0
        too | zu:0 | trop:0
        rather | ziemlich:0 | assez:0""",
    "question": """
        how | wie:0 | comment:0
        why | warum:0 | pourquoi:0
        where | wo:0 | où:0
        when | wann:0 | quand:0""",
    "coordinator": """
        and | und:0 | et:0
        but | aber:0 | mais:0""",
    "subordinator": """
        because | weil:0 | parce:0 que:0
        when | wenn:0 | quand:0
        if | falls:0 | si:0
        while | während:0 | pendant:0 que:0
        as soon as | sobald:1?02 | dès:1?0 que:2
        as long as | solange:1?02 | tant:1?0 que:2""",
    "that": "that | dass:0 | que:0",
}


@dataclass(frozen=True, slots=True)
class Adjective:
    """An adjective. `french` is (masculine, feminine, masculine before a vowel).

    `group` says where it belongs: "before" or "after" the French noun. Adjectives of the groups
    "origin" and "field" also follow the noun, in the reverse of the English order.
    """

    number: int
    group: str
    english: str
    german: str
    german_stem: str
    french: tuple[str, str, str]
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """A translated word with the indices of its sure and of its possible English words."""

    word: str
    sure: tuple[int, ...] = ()
    possible: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Phrase:
    """A fixed phrase: an adverb, conjunction or question word; `number` is for the splits."""

    number: int = -1
    english: tuple[str, ...] = ()
    german: tuple[Link, ...] = ()
    french: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Determiner:
    """The first word of a noun phrase; `french` is (masculine, feminine, plural).

    `german` is a stem; `declension` names its endings: "der", "ein", or "" for a numeral.
    """

    english: tuple[str, str]
    german: str
    declension: str
    french: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Pronoun:
    """A subject pronoun; `form` selects the verb form: 0 I, 1 he or she, 2 we, 3 you, 4 they."""

    number: int
    form: int
    english: str
    german: str
    french: str
    feminine: bool = False
    plural: bool = False


def _adjective(number: int, group: str, line: str) -> Adjective:
    english, german, french, kinds = (part.split() for part in line.split("|"))
    forms = (french[0], french[1], french[-1] if len(french) == 3 else french[0])
    return Adjective(number, group, english[0], german[0], german[-1], forms, tuple(kinds))


def _link(text: str) -> Link:
    word, _, indices = text.partition(":")
    sure, _, possible = indices.partition("?")
    return Link(word, tuple(map(int, sure)), tuple(map(int, possible)))


def _phrase(number: int, line: str) -> Phrase:
    english, german, french = (part.split() for part in line.split("|"))
    return Phrase(number, tuple(english), tuple(map(_link, german)), tuple(map(_link, french)))


_ROWS = [(g, line) for g, text in _ADJECTIVES.items() for line in text.strip().split("\n")]
ADJECTIVES = tuple(_adjective(number, *row) for number, row in enumerate(_ROWS))
ADJECTIVE = {adjective.english: adjective for adjective in ADJECTIVES}
PHRASES = {
    group: tuple(_phrase(n, line) for n, line in enumerate(text.strip().split("\n")))
    for group, text in _PHRASES.items()
}
THAT = PHRASES["that"][0]
YES_OR_NO = Phrase()
"""Marks a question without a question word."""

THE = Determiner(("the", "the"), "d", "der", ("le", "la", "les"))
A = Determiner(("a", ""), "ein", "ein", ("un", "une", ""))
THIS = Determiner(("this", "these"), "dies", "der", ("ce", "cette", "ces"))
POSSESSIVES = (
    Determiner(("my", "my"), "mein", "ein", ("mon", "ma", "mes")),
    Determiner(("your", "your"), "Ihr", "ein", ("votre", "votre", "vos")),
    Determiner(("his", "his"), "sein", "ein", ("son", "sa", "ses")),
    Determiner(("her", "her"), "ihr", "ein", ("son", "sa", "ses")),
    Determiner(("our", "our"), "unser", "ein", ("notre", "notre", "nos")),
    Determiner(("their", "their"), "ihr", "ein", ("leur", "leur", "leurs")),
)
NUMBERS = (
    Determiner(("", "two"), "zwei", "", ("", "", "deux")),
    Determiner(("", "three"), "drei", "", ("", "", "trois")),
    Determiner(("", "four"), "vier", "", ("", "", "quatre")),
    Determiner(("", "five"), "fünf", "", ("", "", "cinq")),
    Determiner(("", "ten"), "zehn", "", ("", "", "dix")),
)
PRONOUNS = (
    Pronoun(1000, 0, "I", "ich", "je"),
    Pronoun(1001, 1, "he", "er", "il"),
    Pronoun(1002, 1, "she", "sie", "elle", feminine=True),
    Pronoun(1003, 2, "we", "wir", "nous", plural=True),
    Pronoun(1004, 3, "you", "Sie", "vous"),
    Pronoun(1005, 4, "they", "sie", "ils", plural=True),
)
