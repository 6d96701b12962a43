"""The nouns of the translation data: a line for each noun, in three languages.

A line is `English plural | German gender plural | French gender plural`. A noun without a plural is
used only in the singular. `~` marks a mass noun, which takes no "a" and no number. `weak` marks a
German noun of the weak declension, whose accusative and dative look like its plural (*der Junge,
den Jungen, dem Jungen*). A place has a fourth part: the English preposition, and the German and the
French prepositions for "where" and "where to".
"""

from __future__ import annotations

from dataclasses import dataclass

_TABLE = {
    "person": """
        man men | Mann m Männer | homme m hommes
        woman women | Frau f Frauen | femme f femmes
        boy boys | Junge m Jungen weak | garçon m garçons
        girl girls | Mädchen n Mädchen | fille f filles
        child children | Kind n Kinder | enfant m enfants
        teacher teachers | Lehrer m Lehrer | professeur m professeurs
        doctor doctors | Arzt m Ärzte | médecin m médecins
        student students | Student m Studenten weak | étudiant m étudiants
        friend friends | Freund m Freunde | ami m amis
        mother mothers | Mutter f Mütter | mère f mères
        father fathers | Vater m Väter | père m pères
        sister sisters | Schwester f Schwestern | sœur f sœurs
        brother brothers | Bruder m Brüder | frère m frères
        neighbour neighbours | Nachbar m Nachbarn weak | voisin m voisins
        farmer farmers | Bauer m Bauern weak | fermier m fermiers
        baker bakers | Bäcker m Bäcker | boulanger m boulangers
        engineer engineers | Ingenieur m Ingenieure | ingénieur m ingénieurs
        nurse nurses | Krankenschwester f Krankenschwestern | infirmière f infirmières
        painter painters | Maler m Maler | peintre m peintres
        lawyer lawyers | Anwalt m Anwälte | avocat m avocats
        king kings | König m Könige | roi m rois
        queen queens | Königin f Königinnen | reine f reines""",
    "animal": """
        dog dogs | Hund m Hunde | chien m chiens
        cat cats | Katze f Katzen | chat m chats
        horse horses | Pferd n Pferde | cheval m chevaux
        bird birds | Vogel m Vögel | oiseau m oiseaux
        cow cows | Kuh f Kühe | vache f vaches
        mouse mice | Maus f Mäuse | souris f souris
        rabbit rabbits | Kaninchen n Kaninchen | lapin m lapins
        bear bears | Bär m Bären weak | ours m ours""",
    "food": """
        apple apples | Apfel m Äpfel | pomme f pommes
        egg eggs | Ei n Eier | œuf m œufs
        orange oranges | Orange f Orangen | orange f oranges
        pear pears | Birne f Birnen | poire f poires
        tomato tomatoes | Tomate f Tomaten | tomate f tomates
        cake | Kuchen m | gâteau m
        soup | Suppe f | soupe f
        salad | Salat m | salade f
        fish | Fisch m | poisson m
        ~bread | Brot n | pain m
        ~cheese | Käse m | fromage m
        ~meat | Fleisch n | viande f""",
    "drink": """
        ~coffee | Kaffee m | café m
        ~tea | Tee m | thé m
        ~water | Wasser n | eau f
        ~milk | Milch f | lait m
        ~wine | Wein m | vin m
        ~beer | Bier n | bière f""",
    "reading": """
        book books | Buch n Bücher | livre m livres
        letter letters | Brief m Briefe | lettre f lettres
        newspaper newspapers | Zeitung f Zeitungen | journal m journaux
        story stories | Geschichte f Geschichten | histoire f histoires
        poem | Gedicht n | poème m
        report | Bericht m | rapport m
        novel | Roman m | roman m""",
    "thing": """
        car | Auto n | voiture f
        bicycle | Fahrrad n | vélo m
        table | Tisch m | table f
        chair chairs | Stuhl m Stühle | chaise f chaises
        lamp | Lampe f | lampe f
        clock | Uhr f | horloge f
        hat | Hut m | chapeau m
        coat | Mantel m | manteau m
        dress | Kleid n | robe f
        shirt | Hemd n | chemise f
        shoe shoes | Schuh m Schuhe | chaussure f chaussures
        bag | Tasche f | sac m
        key keys | Schlüssel m Schlüssel | clé f clés
        cup | Tasse f | tasse f
        bottle bottles | Flasche f Flaschen | bouteille f bouteilles
        picture | Bild n | image f
        flower flowers | Blume f Blumen | fleur f fleurs
        tree trees | Baum m Bäume | arbre m arbres
        window windows | Fenster n Fenster | fenêtre f fenêtres
        door doors | Tür f Türen | porte f portes
        box | Kiste f | boîte f
        gift | Geschenk n | cadeau m
        ring | Ring m | bague f""",
    "place": """
        park | Park m | parc m | in; in in; dans à
        garden | Garten m | jardin m | in; in in; dans dans
        city | Stadt f | ville f | in; in in; dans dans
        village | Dorf n | village m | in; in in; dans à
        house | Haus n | maison f | in; in zu; dans à
        school | Schule f | école f | at; in zu; à à
        market | Markt m | marché m | at; auf auf; à à
        station | Bahnhof m | gare f | at; an zu; à à
        hospital | Krankenhaus n | hôpital m | in; in in; à à
        church | Kirche f | église f | in; in in; dans à
        museum | Museum n | musée m | in; in in; dans à
        library | Bibliothek f | bibliothèque f | in; in in; dans à
        restaurant | Restaurant n | restaurant m | in; in in; dans à
        beach | Strand m | plage f | at; an zu; à à
        forest | Wald m | forêt f | in; in in; dans dans
        office | Büro n | bureau m | in; in in; dans à
        kitchen | Küche f | cuisine f | in; in in; dans dans
        bridge | Brücke f | pont m | on; auf zu; sur à
        hotel | Hotel n | hôtel m | in; in in; dans à
        university | Universität f | université f | at; an zu; à à""",
    "topic": """
        idea | Idee f | idée f
        plan | Plan m | plan m
        question | Frage f | question f
        answer | Antwort f | réponse f
        problem | Problem n | problème m
        film | Film m | film m
        song | Lied n | chanson f
        game | Spiel n | jeu m
        ~music | Musik f | musique f""",
    "politics": """
        crisis | Krise f | crise f
        reform | Reform f | réforme f
        system | System n | système m
        law | Gesetz n | loi f
        project | Projekt n | projet m
        community | Gemeinschaft f | communauté f""",
    "name": """
        Area | Raum m | zone f | European economic
        Union | Union f | Union f | European
        Parliament | Parlament n | Parlement m | European
        Commission | Kommission f | Commission f | European
        Republic | Republik f | République f | French""",
    "weather": """
        ~weather | Wetter n | temps m""",
}


@dataclass(frozen=True, slots=True)
class Place:
    """The prepositions of a place: where (`at`) and where to (`to`); English always has "to"."""

    english: str
    german: tuple[str, str]
    french: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun; each language has (singular, plural), with "" for an unused plural.

    `number` is the row in the table, `kind` its meaning ("person", "food", ...); `adjectives` are
    the English adjectives that are part of a name like "the European Union".
    """

    number: int
    kind: str
    mass: bool
    english: tuple[str, str]
    german: tuple[str, str]
    german_gender: str
    weak: bool
    french: tuple[str, str]
    french_gender: str
    place: Place | None
    adjectives: tuple[str, ...]


def _place(text: str) -> Place:
    english, german, french = (part.split() for part in text.split(";"))
    return Place(english[0], (german[0], german[1]), (french[0], french[1]))


def _noun(number: int, kind: str, line: str) -> Noun:
    english, german, french, *extra = (part.strip() for part in line.split("|"))
    singular, *plural = english.removeprefix("~").split()
    de, de_gender, *de_rest = german.split()
    fr, fr_gender, *fr_plural = french.split()
    return Noun(
        number=number,
        kind=kind,
        mass=english.startswith("~"),
        english=(singular, "".join(plural)),
        german=(de, de_rest[0] if de_rest else ""),
        german_gender=de_gender,
        weak="weak" in de_rest,
        french=(fr, "".join(fr_plural)),
        french_gender=fr_gender,
        place=_place(extra[0]) if kind == "place" else None,
        adjectives=tuple(extra[0].split()) if kind == "name" else (),
    )


def _nouns() -> tuple[Noun, ...]:
    lines = [(kind, line) for kind, text in _TABLE.items() for line in text.strip().split("\n")]
    return tuple(_noun(number, kind, line) for number, (kind, line) in enumerate(lines))


NOUNS = _nouns()
"""All nouns, in the order of the table."""

NOUN = {noun.english[0]: noun for noun in NOUNS}
"""English singular -> noun."""


def nouns_of(names: str) -> tuple[Noun, ...]:
    """Return the nouns that `names` lists, with spaces: kinds ("food") or English singulars."""
    chosen = set(names.split())
    unknown = chosen - set(_TABLE) - set(NOUN)
    if unknown:
        raise ValueError(f"no such noun or kind of noun: {', '.join(sorted(unknown))}")
    return tuple(noun for noun in NOUNS if noun.kind in chosen or noun.english[0] in chosen)
