# ruff: noqa: E501 (each verb is on one line)
"""The verbs of the translation data: a line for each verb, in three languages.

A line is `English third-person | German | French | subjects | objects`. Regular forms are left out:
"sleeps"; *ich frage, er fragt*; *je parle, nous parlons*. German may name the third person, or the
first and the third person; `an+rufen` is separable (*ruft ... an*). An irregular French verb names
its five forms: je, il, nous, vous, ils. After `/` comes the preposition of the object, and in
German its case if that is not the accusative.
"""

from __future__ import annotations

from dataclasses import dataclass

from .nouns import Noun, nouns_of

_TABLE = {
    "intransitive": """
        sleep | schlafen schläft | dormir dors dort dormons dormez dorment | person animal | house hotel garden park hospital
        laugh | lachen | rire ris rit rions riez rient | person | school restaurant office kitchen
        dance | tanzen | danser | person | restaurant park hotel city
        sing | singen | chanter | person | church school garden kitchen
        swim | schwimmen | nager nage nage nageons nagez nagent | person animal | beach
        work | arbeiten | travailler | person | office school hospital library restaurant university museum
        wait | warten | attendre attends attend attendons attendez attendent | person animal | station market bridge hotel
        play | spielen | jouer | person animal | park garden school house beach
        cry cries | weinen | pleurer | person | hospital kitchen church
        arrive | an+kommen | arriver | person | station hotel hospital village""",
    "transitive": """
        eat | essen isst | manger mange mange mangeons mangez mangent | person animal | food
        drink | trinken | boire bois boit buvons buvez boivent | person | drink
        read | lesen liest | lire lis lit lisons lisez lisent | person | reading
        write | schreiben | écrire écris écrit écrivons écrivez écrivent | person | book letter story poem report novel
        buy | kaufen | acheter achète achète achetons achetez achètent | person | food drink thing book newspaper
        sell | verkaufen | vendre vends vend vendons vendez vendent | person | food drink thing
        see | sehen sieht | voir vois voit voyons voyez voient | person animal | person animal thing
        hear | hören | entendre entends entend entendons entendez entendent | person animal | person animal song music
        love | lieben | aimer | person | person animal
        find | finden | trouver | person | thing
        lose | verlieren | perdre perds perd perdons perdez perdent | person | hat coat bag key ring book letter
        look for | suchen | chercher | person | person animal thing
        look at | an+sehen sieht | regarder | person animal | person animal thing
        visit | besuchen | visiter | person | city village school church museum library park garden hospital university
        meet | treffen trifft | rencontrer | person | person
        invite | ein+laden lädt | inviter | person | person
        call | an+rufen | appeler appelle appelle appelons appelez appellent | person | person
        paint | malen | peindre peins peint peignons peignez peignent | person | person animal flower tree bridge
        carry carries | tragen trägt | porter | person | bag chair lamp box bottle table
        open | öffnen öffnet | ouvrir ouvre ouvre ouvrons ouvrez ouvrent | person | window door box bottle letter bag
        close | schließen | fermer | person | window door box bag
        clean | putzen | nettoyer nettoie nettoie nettoyons nettoyez nettoient | person | window door table shoe car kitchen
        wash washes | waschen wäscht | laver | person | shirt dress coat car cup bottle apple
        repair | reparieren | réparer | person | car bicycle clock chair lamp
        prepare | zu+bereiten | préparer | person | soup salad cake fish meat tea coffee
        take | nehmen nimmt | prendre prends prend prenons prenez prennent | person | hat coat bag key cup bottle
        understand | verstehen | comprendre comprends comprend comprenons comprenez comprennent | person | question answer idea plan problem law report
        explain | erklären | expliquer | person name | idea plan problem question crisis reform law
        support | unterstützen | soutenir soutiens soutient soutenons soutenez soutiennent | person name | plan idea politics name
        criticise | kritisieren | critiquer | person name | plan idea report politics name
        examine | prüfen | examiner | person name | plan report question law project system
        forget | vergessen vergisst | oublier | person | hat coat bag key question answer
        help | helfen hilft / dat | aider | person | person
        thank | danken / dat | remercier | person | person
        follow | folgen / dat | suivre suis suit suivons suivez suivent | person animal | person animal
        listen to | zu+hören / dat | écouter | person | person
        wait for | warten / auf | attendre attends attend attendons attendez attendent | person | person
        speak about | sprechen spricht / über | parler / de | person | person topic politics weather
        think of | denken / an | penser / à | person | person topic
        dream of | träumen / von dat | rêver / de | person | car ring house garden beach forest horse""",
    "ditransitive": """
        give | geben gibt | donner | person | food thing reading
        show | zeigen | montrer | person | reading picture ring flower dress key
        send | schicken | envoyer envoie envoie envoyons envoyez envoient | person | reading gift flower picture
        lend | leihen | prêter | person | book novel car bicycle coat bag
        bring | bringen | apporter | person | food drink chair cup flower""",
    "motion": """
        go goes | gehen | aller vais va allons allez vont | person | place
        come | kommen | venir viens vient venons venez viennent | person animal | place
        run | rennen | courir cours court courons courez courent | person animal | place
        return | zurück+kehren | retourner | person | place""",
    "locative": """
        live | wohnen | habiter | person | city village house hotel
        stay | bleiben | rester | person animal | place""",
    "matrix": """
        say | sagen | dire dis dit disons dites disent | person
        know | wissen weiß weiß | savoir sais sait savons savez savent | person
        think | denken | penser | person
        believe | glauben | croire crois croit croyons croyez croient | person
        hope | hoffen | espérer espère espère espérons espérez espèrent | person
        claim | behaupten | affirmer | person name""",
    "opinion": """
        like | finden | trouver | person | weather food drink reading topic place""",
    "copula": """
        be is | sein bin ist sind | être suis est sommes êtes sont | person animal food drink reading thing place topic politics name weather""",
    "modal": """
        can can | können kann kann | pouvoir peux peut pouvons pouvez peuvent |
        must must | müssen muss muss | devoir dois doit devons devez doivent |
        want | wollen will will | vouloir veux veut voulons voulez veulent |
        should should | sollen sollte sollte sollten | devoir devrais devrait devrions devriez devraient |""",
}


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb with its forms, and the nouns that may be its subject and its object.

    `german` has the forms for ich, er and the plural, without the separable `prefix`; `french` has
    the forms for je, il, nous, vous, ils. The prepositions are "" for a direct object.
    """

    number: int
    frame: str
    english: tuple[str, str]
    particle: str
    german_infinitive: str
    german: tuple[str, str, str]
    prefix: str
    german_preposition: str
    german_case: str
    french_infinitive: str
    french: tuple[str, ...]
    french_preposition: str
    subjects: tuple[Noun, ...]
    objects: tuple[Noun, ...]


def _german_forms(infinitive: str, given: list[str]) -> tuple[str, str, str]:
    stem = infinitive[:-2]
    third = stem + ("et" if stem[-1] in "td" else "t")
    if not given:
        return stem + "e", third, infinitive
    if len(given) == 1:
        return stem + "e", given[0], infinitive
    return given[0], given[1], given[2] if len(given) == 3 else infinitive


def _french_forms(infinitive: str, given: list[str]) -> tuple[str, ...]:
    stem = infinitive[:-2]
    return tuple(given) or (stem + "e", stem + "e", stem + "ons", stem + "ez", stem + "ent")


def _english_forms(text: str) -> tuple[tuple[str, str], str]:
    base, *rest = text.split()
    particle = rest[0] if rest and rest[0] in {"for", "at", "to", "about", "of"} else ""
    third = rest[0] if rest and not particle else base + "s"
    return (base, third), particle


def _verb(number: int, frame: str, line: str) -> Verb:
    english, german, french, subjects, objects = ([*line.split("|"), ""])[:5]
    forms, particle = _english_forms(english)
    german, _, german_link = german.partition("/")
    infinitive, *german_given = german.split()
    prefix, _, simple = infinitive.rpartition("+")
    link = german_link.split()
    case = link.pop() if link and link[-1] == "dat" else "acc"
    french, _, french_link = french.partition("/")
    french_infinitive, *french_given = french.split()
    return Verb(
        number=number,
        frame=frame,
        english=forms,
        particle=particle,
        german_infinitive=prefix + simple,
        german=_german_forms(simple, german_given),
        prefix=prefix,
        german_preposition="".join(link),
        german_case=case,
        french_infinitive=french_infinitive,
        french=_french_forms(french_infinitive, french_given),
        french_preposition=french_link.strip(),
        subjects=nouns_of(subjects),
        objects=nouns_of(objects),
    )


def _verbs() -> tuple[Verb, ...]:
    lines = [(frame, line) for frame, text in _TABLE.items() for line in text.strip().split("\n")]
    return tuple(_verb(number, frame, line) for number, (frame, line) in enumerate(lines))


VERBS = _verbs()
"""All verbs, in the order of the table."""


def verbs_of(frame: str) -> tuple[Verb, ...]:
    """Return the verbs of a frame, such as "transitive"."""
    return tuple(verb for verb in VERBS if verb.frame == frame)


def verb_of(english: str, frame: str = "") -> Verb:
    """Return the verb with this English base form and particle, such as "look for"."""
    for verb in VERBS:
        name = " ".join(filter(None, (verb.english[0], verb.particle)))
        if name == english and frame in {"", verb.frame}:
            return verb
    raise KeyError(f"no verb {english!r}")
