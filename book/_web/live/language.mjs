// @ts-check
// The words of the translation data, from the tables of book/_ext/live_grammar.py, and the abstract
// sentence that each language writes out. The rules are those of solutions/data/translation; this
// code generates no other sentences.

/**
 * @typedef {"noun" | "verb" | "adjective" | "determiner" | "pronoun" | "adverb" | "preposition"
 *     | "question word" | "joining word" | "mark"} Group of words that are offered together
 * @typedef {{ number: number, kind: string, english: string[], french: string[], feminine: boolean,
 *     mass: boolean, nobodys: boolean, place: string[], adjectives: Adjective[] }} Noun forms are
 * singular and plural. nobodys: takes no possessive. place: in English; in French where, where to.
 * @typedef {{ number: number, frame: string, english: string[], particle: string, french: string[],
 *     infinitive: string, preposition: string, separable: boolean, plain: boolean,
 *     subjects: Set<Noun>, objects: Set<Noun>, personal: boolean }} Verb
 * @typedef {{ group: string, english: string, french: string[], kinds: string[], fact: boolean }}
 *     Adjective
 * @typedef {[word: string, sure?: number[], possible?: number[]]} Link
 * @typedef {{ english: string[], french: Link[] }} Phrase
 * @typedef {{ name: string, english: string[], french: string[] }} Determiner
 * @typedef {{ english: string, french: string, form: number, feminine: boolean, plural: boolean }}
 *     Pronoun
 *
 * @typedef {{ determiner: Determiner, noun: Noun, adjectives: Adjective[], plural: boolean,
 *     relative?: Clause }} NounPhrase
 * @typedef {{ subject: NounPhrase | Pronoun, verb: Verb, object?: NounPhrase,
 *     recipient?: NounPhrase, adjective?: Adjective, degree?: Phrase, place?: NounPhrase | Phrase,
 *     preposition?: string, time?: Phrase, timeFirst?: boolean, frequency?: Phrase, modal?: Verb,
 *     question?: Phrase, gap?: "subject" | "object" }} Clause a missing part is absent
 * @typedef {{ clause: Clause, coordinator?: Phrase, subordinator?: Phrase, fronted?: boolean }}
 *     Segment
 * @typedef {Segment[]} Sentence
 *
 * @typedef {{ nouns: Record<string, any[]>, verbs: Record<string, any[]>,
 *     adjectives: Record<string, any[]>, phrases: Record<string, any[]>,
 *     determiners: Record<string, any[]>, pronouns: any[], be: string[],
 *     meetingPlaces: (string | number)[] }} Tables
 */

/** The largest number of tokens in a sentence, with its punctuation mark, and of clauses. */
export const [LONGEST, MOST_CLAUSES] = [60, 8];

/** Marks a question without a question word. @type {Phrase} */
export const YES_OR_NO = { english: [], french: [] };

/** Frames of the verbs that can form a statement by themselves, except "is". */
const ACTIVE = ["intransitive", "motion", "locative", "ditransitive", "transitive"];

/** Frames of the verbs in a relative clause about its subject. */
const ABOUT = ["copula", "intransitive", "transitive", "locative", "motion"];

const words = (/** @type {string | undefined} */ text) => (text ? text.split(" ") : []);

export class Language {
    /** @type {Map<Verb[], Noun[]>} */
    #actors = new Map();
    /** @type {Map<string, Verb[]>} */
    #about = new Map();

    /** @param {Tables} tables */
    constructor(tables) {
        this.be = tables.be;
        this.adjectives = Object.entries(tables.adjectives).flatMap(([group, rows]) =>
            rows.map((row) => ({
                ...{ group, english: row.english, french: words(row.french) },
                ...{ kinds: words(row.kinds), fact: !!row.fact },
            })),
        );
        this.nouns = Object.entries(tables.nouns)
            .flatMap(([kind, rows]) => rows.map((row) => ({ kind, row })))
            .map(({ kind, row }, number) => this.#noun(number, kind, row));
        this.verbs = Object.entries(tables.verbs)
            .flatMap(([frame, rows]) => rows.map((row) => ({ frame, row })))
            .map(({ frame, row }, number) => this.#verb(number, frame, row));
        this.phrases = /** @type {Record<string, Phrase[]>} */ (
            Object.fromEntries(
                Object.entries(tables.phrases).map(([group, rows]) => [
                    group,
                    rows.map((row) => ({ ...row, english: words(row.english) })),
                ]),
            )
        );
        this.determiners = Object.entries(tables.determiners).flatMap(([name, rows]) =>
            rows.map((row) => /** @type {Determiner} */ ({ name, ...row })),
        );
        this.pronouns = tables.pronouns.map(
            (row) => /** @type {Pronoun} */ ({ form: 0, feminine: false, plural: false, ...row }),
        );
        this.persons = this.nouns.filter((noun) => noun.kind === "person");
        this.weather = this.nouns.filter((noun) => noun.kind === "weather");
        this.meetingPlaces = this.#set(tables.meetingPlaces);
        this.never = this.phrases.frequency.filter((one) => one.english[0] === "never")[0];
        this.that = this.phrases.that[0];
        this.copula = this.verbsOf("copula");
        this.modals = this.verbsOf("modal");
        this.matrix = this.verbsOf("matrix");
        this.opinion = this.verbsOf("opinion");
        this.active = this.verbsOf(...ACTIVE);
        /** The verbs that a question for the place may have. */
        this.placeless = this.active.filter(({ frame }) => !["motion", "locative"].includes(frame));
    }

    /** @param {number} number @param {string} kind @param {any} row @returns {Noun} */
    #noun(number, kind, row) {
        const named = words(row.adjectives);
        return {
            ...{ number, kind, english: words(row.english), french: words(row.french) },
            ...{ feminine: !!row.feminine, mass: !!row.mass, nobodys: !!row.nobodys },
            place: words(row.place),
            adjectives: named.flatMap((name) =>
                this.adjectives.filter(({ english }) => english === name),
            ),
        };
    }

    /** @param {number} number @param {string} frame @param {any} row @returns {Verb} */
    #verb(number, frame, row) {
        const subjects = this.#set(row.subjects ?? []);
        return {
            ...{ number, frame, english: words(row.english), french: words(row.french), subjects },
            ...{ particle: row.particle ?? "", infinitive: row.infinitive },
            ...{ preposition: row.preposition ?? "", objects: this.#set(row.objects ?? []) },
            ...{ separable: !!row.separable, plain: !!row.plain },
            personal: [...subjects][0]?.kind === "person",
        };
    }

    /** @param {(string | number)[]} names of kinds, or numbers of nouns */
    #set(names) {
        return new Set(
            this.nouns.filter(({ kind, number }) => names.includes(kind) || names.includes(number)),
        );
    }

    /** Return the verbs of some frames. @param {string[]} frames */
    verbsOf(...frames) {
        return this.verbs.filter((verb) => frames.includes(verb.frame));
    }

    /**
     * Return the nouns that can be the subject of at least one of the verbs.
     * @param {Verb[]} verbs
     */
    actors(verbs) {
        let nouns = this.#actors.get(verbs);
        if (!nouns) {
            nouns = this.nouns.filter((noun) => verbs.some((verb) => verb.subjects.has(noun)));
            this.#actors.set(verbs, nouns);
        }
        return nouns;
    }

    /** Return the adjectives that may follow "is" for a kind of noun. @param {string} kind */
    predicates(kind) {
        return this.adjectives.filter(
            ({ group, kinds }) => (group === "before" || group === "after") && kinds.includes(kind),
        );
    }

    /**
     * Return the verbs of a relative clause in which the noun has the role `gap`.
     * @param {Noun} noun
     * @param {"subject" | "object"} gap
     */
    verbsAbout(noun, gap) {
        const key = `${noun.number} ${gap}`;
        let verbs = this.#about.get(key);
        if (!verbs) {
            verbs =
                gap === "object"
                    ? this.verbs.filter((verb) => verb.plain && verb.objects.has(noun))
                    : this.verbsOf(...ABOUT).filter((verb) => verb.subjects.has(noun));
            this.#about.set(key, verbs);
        }
        return verbs;
    }
}

/**
 * Return the verb form that agrees with a subject: 0 for "I", 1 "he", 2 "we", 3 "you", 4 "they".
 * @param {NounPhrase | Pronoun} subject
 */
export const formOf = (subject) => ("form" in subject ? subject.form : subject.plural ? 4 : 1);

/**
 * Return the kind of a subject's noun; pronouns are persons.
 * @param {NounPhrase | Pronoun} subject
 */
export const kindOf = (subject) => ("noun" in subject ? subject.noun.kind : "person");

/**
 * Return whether a phrase can have a relative clause.
 * @param {NounPhrase | Pronoun | undefined} phrase
 */
export const canBeDescribed = (phrase) =>
    !!phrase &&
    "noun" in phrase &&
    phrase.noun.kind !== "name" &&
    phrase.noun.kind !== "weather" &&
    phrase.determiner.name !== "possessives";

/**
 * Return whether a noun may have a determiner.
 * @param {Noun} noun
 * @param {Determiner} determiner
 * @param {boolean} plural
 */
export function goesWith(noun, { name }, plural) {
    if (noun.kind === "name" || noun.kind === "weather") return name === "the" && !plural;
    if (plural) return noun.english.length > 1 && name !== "a" && name !== "possessives";
    if (name === "a") return !noun.mass;
    return name === "possessives" ? !noun.nobodys : name !== "numbers";
}
