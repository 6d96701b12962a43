"""The glossary: each term with its definition from a chapter, and a link to that place.

    ```{glossary-of-terms}
    softmax: self_attention
    KV cache | key-value cache: gpt_and_bert
    teacher forcing: context_bottleneck: In training … That is
    GPU | graphics card = A graphics processor. See {doc}`cost`.
    ```

A line names a term, its synonyms, and the page on which one of these names is in bold or is the
title of a section. The definition is the sentence around the first such place, so no definition is
written twice. If that sentence makes no sense alone, the line lists the first words of the
sentences of that section that form the definition, in order and separated by ellipses. A term that
no chapter defines gets its definition in the glossary, after `=`.

The build warns about a page or name that is not found, about words that do not begin a sentence,
and about a definition that is too long or contains a number from a run. The search leads from each
name to the place of its definition (`course_search.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from course_contents import parts_of
from docutils import nodes
from page_words import plain_text
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

PAGE = "glossary"
MOST_WORDS = 4
"""The maximum number of words in a term. A longer text in bold is a claim."""
MOST_CHARACTERS = 420
"""The maximum length of a definition."""
LINE = re.compile(r"(?P<names>[^:=]+?)(?:: (?P<page>\w+)(?:: (?P<words>.+))?| = (?P<text>.+))")
SENTENCE = re.compile(r"(?<=[.?!])\s+|(?<=[.?!][)\u201d])\s+")
KEPT = (nodes.Text, nodes.emphasis, nodes.literal, nodes.math)
WRITTEN = (nodes.strong, nodes.inline, nodes.reference)

logger = logging.getLogger(__name__)


@dataclass
class Defined:
    """A term in bold on a page.

    section: the anchor of its section, "" for the page's beginning. place: the anchor of the
    paragraph. sentences: the sentences of the section. at: the index of the term's own sentence,
    -1 if the term is the title of the section.
    """

    term: str
    section: str
    place: str
    sentences: list[list[nodes.Node]]
    at: int


@dataclass
class Term:
    """A line of the glossary. Either `text` is empty, or `page` and `words` are."""

    names: list[str]
    line: int
    page: str = ""
    words: str = ""
    text: list[nodes.Node] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """The anchor of the term, both in the glossary and on the page that defines it."""
        return anchor(self.names[0])


class glossary_of_terms(nodes.General, nodes.Element):
    """A placeholder for the list of terms."""


class Glossary(SphinxDirective):
    """The list of terms. The module's docstring describes its syntax."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        terms: list[Term] = []
        for number, line in enumerate(self.content):
            at = self.lineno + self.content_offset + number + 1
            match = LINE.fullmatch(line)
            if not match:
                warn(at, f"cannot read {line!r} as a term; write `name | other name: page`")
                continue
            names = [name.strip() for name in match["names"].split("|")]
            text = self.state.inline_text(match["text"], at)[0] if match["text"] else []
            terms.append(Term(names, at, match["page"] or "", match["words"] or "", text))
        vars(self.env)["course_terms"] = sorted(terms, key=lambda term: term.names[0].lower())
        return [glossary_of_terms()]


def anchor(name: str) -> str:
    """Return the anchor of a term."""
    return "term-" + re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def plain(name: str) -> str:
    """Return a name in lower case, without punctuation at its ends."""
    return name.strip(" ,.:;?").lower()


def terms_in(node: nodes.Element) -> list[str]:
    """Return the texts in bold in a node that are short enough for a term."""
    texts = (plain_text(strong).strip(" ,.:;?") for strong in node.findall(nodes.strong))
    return [text for text in texts if text and len(text.split()) <= MOST_WORDS]


def note_terms(app: Sphinx, document: nodes.document) -> None:
    """Record the terms in bold on a page that was read, and give their paragraphs anchors."""
    terms_of_page: dict[str, Defined] = {}
    definitions(app.env)[app.env.docname] = terms_of_page
    for section in document.findall(nodes.section):
        home = "" if isinstance(section.parent, nodes.document) else section["ids"][0]
        sentences: list[list[nodes.Node]] = []
        if home:
            title = plain_text(section[0])
            terms_of_page.setdefault(plain(title), Defined(title, home, home, sentences, -1))
        for paragraph in own_paragraphs(section):
            for sentence in sentences_of(paragraph):
                sentences.append([kept_node for node in sentence for kept_node in as_kept(node)])
                for term in (term for node in sentence for term in bold(node)):
                    name = plain(term)
                    if name not in terms_of_page or terms_of_page[name].at < 0:
                        paragraph["ids"].append(anchor(name))
                        place = Defined(term, home, anchor(name), sentences, len(sentences) - 1)
                        terms_of_page[name] = place


def own_paragraphs(section: nodes.section) -> Iterator[nodes.paragraph]:
    """Yield the paragraphs of a section, but not those of its subsections."""
    for paragraph in section.findall(nodes.paragraph):
        above = paragraph.parent
        while not isinstance(above, nodes.section):
            above = above.parent
        if above is section:
            yield paragraph


def bold(node: nodes.Node) -> list[str]:
    """Return the terms that a node of a sentence sets in bold."""
    if isinstance(node, nodes.strong):
        return terms_in(nodes.paragraph("", "", node.deepcopy()))
    return []


def sentences_of(paragraph: nodes.paragraph) -> Iterator[list[nodes.Node]]:
    """Yield the nodes of each sentence of a paragraph."""
    sentence: list[nodes.Node] = []
    for child in merge_texts(paragraph.children):
        pieces = [child]
        if isinstance(child, nodes.Text):
            pieces = [nodes.Text(piece) for piece in SENTENCE.split(child.astext())]
        for number, piece in enumerate(pieces):
            if number:
                yield sentence
                sentence = []
            sentence.append(piece)
        if isinstance(child, nodes.strong) and child.astext().endswith((".", "?", "!")):
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def as_kept(node: nodes.Node) -> Iterator[nodes.Node]:
    """Yield the nodes that the glossary shows for a node of a sentence; none for a citation."""
    if isinstance(node, KEPT):
        yield node.deepcopy()
    elif isinstance(node, WRITTEN):
        yield nodes.Text(plain_text(node))
    elif isinstance(node, pending_xref) and node.get("refexplicit"):
        yield nodes.Text(node.astext())
    elif node.get("refdomain") != "cite":
        yield node.deepcopy()


def definitions(env: BuildEnvironment) -> dict[str, dict[str, Defined]]:
    """Return the terms in bold on each page: page -> plain name -> where the term is defined."""
    stored: dict[str, dict[str, Defined]] = vars(env).setdefault("course_definitions", {})
    return stored


def terms(env: BuildEnvironment) -> list[Term]:
    """Return the lines of the glossary; an empty list in a book without a glossary."""
    return getattr(env, "course_terms", []) if PAGE in env.found_docs else []


def place_of(env: BuildEnvironment, term: Term) -> Defined | None:
    """Return where a term is defined; None if its page has none of its names in bold."""
    on_page = definitions(env).get(term.page, {})
    places = [on_page[plain(name)] for name in term.names if plain(name) in on_page]
    return next((place for place in places if place.at >= 0), places[0] if places else None)


class FillGlossary(SphinxPostTransform):
    """Replace the placeholder with the list of terms."""

    default_priority = 5  # before formulas are drawn and references resolved

    def run(self, **kwargs: object) -> None:
        for holder in list(self.document.findall(glossary_of_terms)):
            items = [self.item(term) for term in terms(self.env)]
            filled = nodes.definition_list("", *(item for item in items if item is not None))
            holder.replace_self(nodes.container("", filled, classes=["glossary"]))

    def item(self, term: Term) -> nodes.definition_list_item | None:
        """Return a term with its definition; warn and return None if there is a mistake in it."""
        name, *others = term.names
        head = nodes.term("", name, ids=[term.anchor])
        if others:
            head += nodes.inline("", f" also {', '.join(others)}", classes=["glossary-also"])
        if not term.page:
            body = nodes.paragraph("", "", *(node.deepcopy() for node in term.text))
            return nodes.definition_list_item("", head, nodes.definition("", body))
        where = place_of(self.env, term)
        if where is None:
            warn(term.line, f"no {' or '.join(map(repr, term.names))} in bold on {term.page!r}")
            return None
        body = self.definition(term, where)
        if body is None:
            return None
        link = nodes.reference("", self._link_text(term, where), internal=True)
        link["refuri"] = f"{self.app.builder.get_relative_uri(PAGE, term.page)}#{where.place}"
        body += [nodes.Text(" "), nodes.inline("", "", link, classes=["glossary-where"])]
        return nodes.definition_list_item("", head, nodes.definition("", body))

    def definition(self, term: Term, where: Defined) -> nodes.paragraph | None:
        """Return the sentences that define a term."""
        chosen = [where.at]
        if term.words:
            starts = [
                plain_text(nodes.inline("", "", *copy_nodes(sentence)))
                for sentence in where.sentences
            ]
            chosen = []
            for words in term.words.split("…"):
                begin, after = words.strip(), chosen[-1] + 1 if chosen else 0
                matches = [at for at in range(after, len(starts)) if starts[at].startswith(begin)]
                if not matches:
                    warn(term.line, f"no sentence of the section begins with {begin!r}")
                    return None
                chosen.append(matches[0])
        if chosen[0] < 0:
            warn(
                term.line,
                "the term is only the title of a section; "
                "add the first words of the sentence that defines it",
            )
            return None
        body = nodes.paragraph()
        for at in chosen:
            body += [*([nodes.Text(" ")] if len(body) else []), *tidy(where.sentences[at])]
        if any(not isinstance(node, KEPT) for node in body.children):
            warn(
                term.line,
                f"the definition of {term.names[0]!r} may only hold text, emphasis, code and "
                "formulas",
            )
            return None
        if len(body.astext()) > MOST_CHARACTERS:
            warn(
                term.line,
                f"the definition of {term.names[0]!r} has {len(body.astext())} characters; "
                f"at most {MOST_CHARACTERS} are allowed",
            )
            return None
        return body

    def _link_text(self, term: Term, where: Defined) -> str:
        """Return the text of the link to the page that defines a term."""
        for part in parts_of(self.env):
            for entry in part.entries:
                if entry.name == term.page:
                    return f"Chapter {entry.number}" if entry.number else entry.title
                if term.page in (below.name for below in entry.below):
                    return f"Appendix {entry.number}" if entry.number else entry.title
        return term.page


def merge_texts(texts: Iterable[nodes.Node]) -> list[nodes.Node]:
    """Return the same nodes, with adjacent text nodes merged."""
    merged: list[nodes.Node] = []
    for node in texts:
        if isinstance(node, nodes.Text) and merged and isinstance(merged[-1], nodes.Text):
            merged.append(nodes.Text(f"{merged.pop()}{node}"))
        else:
            merged.append(node)
    return merged


def copy_nodes(sentence: list[nodes.Node]) -> list[nodes.Node]:
    """Return a copy of the nodes of a sentence."""
    return [node.deepcopy() for node in sentence]


def tidy(sentence: list[nodes.Node]) -> list[nodes.Node]:
    """Return a sentence that ends in a full stop, without the space that a citation leaves."""
    whole = merge_texts(copy_nodes(sentence))
    if isinstance(whole[0], nodes.Text):
        whole[0] = nodes.Text(whole[0].lstrip())
    cleaned = [
        nodes.Text(re.sub(r"\s+(?=[\s.,;:])", "", node)) if isinstance(node, nodes.Text) else node
        for node in whole
    ]
    if isinstance(cleaned[-1], nodes.Text):
        cleaned[-1] = nodes.Text(re.sub(r"(?<![.?!])[:;,]?\Z", ".", cleaned[-1].rstrip(), count=1))
    else:
        cleaned.append(nodes.Text("."))
    return cleaned


def warn(line: int, problem: str) -> None:
    logger.warning("glossary: %s", problem, location=(PAGE, line))


def forget(app: Sphinx, env: BuildEnvironment, page: str) -> None:
    """Forget the terms of a page that has been removed or will be read again."""
    definitions(env).pop(page, None)


def write_again(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the glossary as a page to write: the pages that it quotes may have changed."""
    return [PAGE] if PAGE in env.found_docs else []


def setup(app: Sphinx) -> dict[str, object]:
    app.add_directive("glossary-of-terms", Glossary)
    app.add_node(glossary_of_terms)
    app.add_post_transform(FillGlossary)
    app.connect("doctree-read", note_terms)
    app.connect("env-purge-doc", forget)
    app.connect("env-updated", write_again)
    return {"parallel_read_safe": False, "parallel_write_safe": True, "env_version": 1}
