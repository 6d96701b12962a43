// @ts-check
// Random clauses that read sensibly, drawn as in draws.py and clauses.py of
// solutions/data/translation, but without a split into training and test.

import { canBeDescribed, goesWith, kindOf, YES_OR_NO } from "./language.mjs";

/**
 * @typedef {import("./language.mjs").Adjective} Adjective
 * @typedef {import("./language.mjs").Clause} Clause
 * @typedef {import("./language.mjs").Language} Language
 * @typedef {import("./language.mjs").Noun} Noun
 * @typedef {import("./language.mjs").NounPhrase} NounPhrase
 * @typedef {import("./language.mjs").Pronoun} Pronoun
 * @typedef {import("./language.mjs").Verb} Verb
 * @typedef {{ verb: Verb, actor: Noun | Pronoun, thing?: Noun }} Core of a clause; thing: the
 * complement of the verb, if it is a noun
 */

/** Half of all statements have a transitive verb. */
const FRAMES = [
    ...["copula", "intransitive", "motion", "locative", "ditransitive"],
    ...Array(4).fill("transitive"),
];
const COUNTED = ["transitive", "ditransitive", "motion", "locative", "opinion"];

export class Drawing {
    /**
     * @param {Language} language
     * @param {() => number} random from 0 to 1, excluding 1
     */
    constructor(language, random) {
        this.language = language;
        this.random = random;
    }

    /** @param {number} probability */
    chance(probability) {
        return this.random() < probability;
    }

    /** @template T @param {Iterable<T>} items @returns {T} */
    choice(items) {
        const all = [...items];
        return all[Math.floor(this.random() * all.length)];
    }

    /**
     * Draw a statement; if `free`, it may begin with a time.
     * @param {boolean} [free]
     * @returns {Clause}
     */
    statement(free = false) {
        const core = this.#core(this.choice(this.language.verbsOf(this.choice(FRAMES))));
        if (core.thing && core.thing === core.actor) return this.statement(free);
        return this.#withTime(this.#withModal(this.#withPlace(this.#dressed(core))), free);
    }

    /** Draw a clause that is followed by "that". @returns {Clause} */
    matrix() {
        return this.#withTime(this.#dressed(this.#core(this.choice(this.language.matrix))), false);
    }

    /** Draw a question. @returns {Clause} */
    question() {
        const { phrases, opinion, never } = this.language;
        const [how, why, where, when] = phrases.question;
        if (this.chance(0.25)) {
            const clause = { ...this.#dressed(this.#core(opinion[0])), question: how };
            return this.chance(0.4) ? { ...clause, time: this.choice(phrases.time) } : clause;
        }
        let clause = this.statement();
        while (clause.frequency === never) clause = this.statement();
        const word = this.choice([YES_OR_NO, why, where, when]);
        const said = word === where ? clause.place || clause.adjective : clause.time;
        return { ...clause, question: said && (word === where || word === when) ? why : word };
    }

    /**
     * Return the clause with a relative clause, if one fits.
     * @param {Clause} clause
     * @returns {Clause}
     */
    described(clause) {
        const { subject, object, modal, verb, recipient, place, time, timeFirst } = clause;
        const roles = "noun" in subject ? [subject] : [];
        const last = !(modal || verb.separable || recipient || place || (time && !timeFirst));
        if (object && last) roles.push(object);
        for (const head of this.chance(0.5) ? roles.reverse() : roles) {
            const relative = this.#relative(head);
            if (relative)
                return {
                    ...clause,
                    [head === object ? "object" : "subject"]: { ...head, relative },
                };
        }
        return clause;
    }

    /** @param {NounPhrase} head @returns {Clause | undefined} */
    #relative(head) {
        if (!canBeDescribed(head)) return undefined;
        const { noun } = head;
        const acts = noun.kind === "person" || noun.kind === "animal";
        const gap = acts && this.chance(0.6) ? "subject" : "object";
        const verbs = this.language.verbsAbout(noun, gap);
        for (let tries = 0; tries < 50 && verbs.length; tries++) {
            const core = this.#core(this.choice(verbs));
            if (gap === "subject") core.actor = noun;
            else core.thing = noun;
            if (core.actor !== core.thing)
                return { ...this.#withModal(this.#dressed(core, gap, head)), gap };
        }
        return undefined;
    }

    /** Draw a subject, and the verb's complement. @param {Verb} verb @returns {Core} */
    #core(verb) {
        const pronoun = verb.personal && this.chance(0.3);
        const actor = pronoun ? this.choice(this.language.pronouns) : this.choice(verb.subjects);
        return COUNTED.includes(verb.frame)
            ? { verb, actor, thing: this.choice(verb.objects) }
            : { verb, actor };
    }

    /**
     * Make a clause from its core.
     * @param {Core} core
     * @param {"subject" | "object"} [gap] of a relative clause
     * @param {NounPhrase} [head] the noun phrase that fills the gap
     * @returns {Clause}
     */
    #dressed({ verb, actor, thing }, gap, head) {
        const { language } = this;
        const plain = verb.frame !== "copula"; // no "the small dog is big"
        const drawn = "form" in actor ? actor : this.nounPhrase(actor, plain);
        const subject = gap === "subject" && head ? head : drawn;
        if (verb.frame === "copula") {
            const adjective = this.choice(language.predicates(kindOf(subject)));
            const degree = this.chance(0.3) ? this.choice(language.phrases.degree) : undefined;
            return { subject, verb, adjective, degree };
        }
        if (!thing) return { subject, verb };
        const phrase = gap === "object" && head ? head : this.nounPhrase(thing);
        if (verb.frame === "motion") {
            const from = verb.english[0] === "come" && this.chance(0.5);
            return { subject, verb, place: phrase, preposition: from ? "from" : "to" };
        }
        if (verb.frame === "locative") return { subject, verb, place: phrase };
        if (verb.frame === "opinion" && phrase.determiner.name === "a")
            [phrase.determiner] = this.language.determiners; // not: how do you like "a soup"?
        if (verb.frame !== "ditransitive") return { subject, verb, object: phrase };
        const recipient = this.nounPhrase(this.choice(language.persons));
        return { subject, verb, object: phrase, recipient };
    }

    /** @param {Clause} clause @returns {Clause} */
    #withPlace(clause) {
        const { frame, objects } = clause.verb;
        if ((frame !== "intransitive" && frame !== "transitive") || !this.chance(0.2))
            return clause;
        const { phrases, meetingPlaces } = this.language;
        if (this.chance(0.3)) return { ...clause, place: this.choice(phrases.place) };
        const places = frame === "intransitive" ? objects : meetingPlaces;
        return { ...clause, place: this.nounPhrase(this.choice(places)) };
    }

    /** @param {Clause} clause @returns {Clause} */
    #withModal(clause) {
        if (["copula", "matrix", "opinion"].includes(clause.verb.frame) || !this.chance(0.15))
            return clause;
        return { ...clause, modal: this.choice(this.language.modals) };
    }

    /** @param {Clause} clause @param {boolean} free @returns {Clause} */
    #withTime(clause, free) {
        const { frequency, time } = this.language.phrases;
        const kind = this.random();
        if (kind < 0.2) return { ...clause, frequency: this.choice(frequency) };
        const weather = kindOf(clause.subject) === "weather";
        const timeless = ["matrix", "copula"].includes(clause.verb.frame) && !weather;
        if (kind >= 0.45 || timeless) return clause;
        return { ...clause, time: this.choice(time), timeFirst: free && this.chance(0.35) };
    }

    /**
     * Draw a noun phrase with this noun.
     * @param {Noun} noun
     * @param {boolean} [described] whether it may have adjectives
     * @returns {NounPhrase}
     */
    nounPhrase(noun, described = true) {
        const [determiner, plural] = this.#determiner(noun);
        const named = noun.kind === "name";
        const adjectives = described && !named ? this.#adjectives(noun.kind) : noun.adjectives;
        return { determiner, noun, adjectives, plural };
    }

    /** @param {Noun} noun @returns {[NounPhrase["determiner"], boolean]} */
    #determiner(noun) {
        const { determiners } = this.language;
        const named = (/** @type {string} */ name) =>
            determiners.filter((one) => one.name === name);
        const [the] = determiners;
        if (noun.kind === "name") return [the, false];
        const kind = this.random();
        if (noun.english.length > 1 && kind < 0.18) {
            const plural = this.random();
            if (plural < 0.5) return [the, true];
            return [this.choice(named(plural < 0.8 ? "numbers" : "this")), true];
        }
        if (noun.kind === "weather" || kind < 0.55) return [the, false];
        const wanted = kind < 0.72 ? "a" : kind < 0.85 ? "this" : "possessives";
        const fitting = named(wanted).filter((one) => goesWith(noun, one, false));
        if (fitting.length) return [this.choice(fitting), false];
        return [wanted === "a" ? the : named("this")[0], false];
    }

    /** @param {string} kind of noun @returns {Adjective[]} */
    #adjectives(kind) {
        if (kind === "weather" || this.chance(0.6)) return [];
        const about = this.language.adjectives.filter(({ kinds }) => kinds.includes(kind));
        const of = (/** @type {string[]} */ ...groups) =>
            about.filter(({ group }) => groups.includes(group));
        if (kind === "politics") {
            const [origin, field] = [this.choice(of("origin")), this.choice(of("field"))];
            return this.choice([[origin], [field], [origin, field]]);
        }
        const facts = about.filter(({ fact }) => fact);
        if (facts.length && this.chance(0.15))
            return [this.choice(facts), this.choice(of("after", "origin"))];
        return [this.choice(of("before", "after", "origin"))];
    }
}
