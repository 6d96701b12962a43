"""Test the search: its entries, its ranking, and its use."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from site_tools import MODES, ROOT, Book, Reader
from tex_as_text import as_text

FIND = """
import {{ readFileSync }} from "node:fs";
import {{ searcher }} from "{module}";
const search = searcher(JSON.parse(readFileSync(process.argv[1], "utf8")));
const first = process.argv.slice(2).map((query) => search(query)[0]?.entry.address ?? "");
console.log(JSON.stringify(first));
"""

DEFINED = {
    "softmax": "self_attention.html#from-scores-to-weights",
    "RoPE": "positions.html#turn-the-queries-and-the-keys",
    "teacher forcing": "context_bottleneck.html#the-machine-whole",
    "BLEU": "context_bottleneck.html#where-it-falls",
    "perplexity": "transformer.html#the-loss-and-the-learning-rate",
    "KV cache": "gpt_and_bert.html#drawing-the-next-token",
    "key-value cache": "gpt_and_bert.html#drawing-the-next-token",
    "layer norm": "transformer_block.html#layer-normalisation",
    "self-attention": "self_attention.html#all-words-at-once",
    "multi-head attention": "multi_head.html#split-attend-merge-mix",
    "positional encoding": "positions.html#waves",
    "beam search": "transformer.html#keeping-more-than-one-beginning",
    "tokenizer": "gpt_and_bert.html#tokens-between-letters-and-words",
    "tokenization": "gpt_and_bert.html#tokens-between-letters-and-words",
    "GQA": "cost.html#share-the-keys-or-see-fewer",
    "ALiBi": "positions.html#a-penalty-for-distance",
    "autoregressive": "gpt_and_bert.html#every-token-is-a-question",
    "seq2seq": "context_bottleneck.html#the-machine-whole",
    "Noam": "transformer.html#the-learning-rate",
    "GPU": "glossary.html#term-gpu",
    "overfitting": "glossary.html#term-overfitting",
    "hallucination": "glossary.html#term-hallucination",
    "why sqrt d": "queries_keys_values.html#why-divide-by-d",
    "weight tying": "transformer_appendix.html#what-else-differs-from-the-machine-of-2017",
    "masked_fill": "queries_keys_values.html#masks",
    "layer normalization": "transformer_block.html#layer-normalisation",
}
"""The section that defines a word and has to be the first result."""

GLOSSARY = """# Glossary

```{glossary-of-terms}
term | word: page
claim: page: A claim is … It is
lost: page
vague: page: Nowhere
number: page
own | mine = A definition of its own, as on {doc}`page`.
no line
```
"""
TERMS = """# A page

## A section

A **term** of {cite:p}`nobody`, in $x$ words. A claim is a sentence. It is true or false.
That is a **claim**. It is **vague**. A **number**.
"""
FAULTS = (
    "no 'lost' in bold on 'page'",
    "no sentence of the section begins with 'Nowhere'",
    "cannot read 'no line' as a term",
)

PAGE = """# A page

A **term** is a word, and $x^2$ is none. See {doc}`index` of {cite:t}`nobody`.

## A section

**This is a claim of more than four words.** The term again, with `code`.

```{quiz}
:name: quiz-one
A question?

- [x] The right choice.
  > A reason that gives it away.
- [ ] Another.
  > Another reason.
```

## References

```{bibliography}
```
"""
CITED = "@book{nobody, author = {Nobody, N.}, title = {Unheard}, publisher = {A}, year = {2001}}"


@pytest.fixture(scope="module")
def entries(make_book: Callable[..., Book]) -> list[dict[str, Any]]:
    book = make_book(page=PAGE)
    book.write("book/references.bib", CITED)
    result = book.build()
    assert result.returncode == 0, result.stdout
    return json.loads(book.page("_static/search.json"))


def test_an_entry_has_only_the_prose_of_its_section(entries: list[dict[str, Any]]) -> None:
    page, section = entries
    assert (page["address"], section["address"]) == ("page.html", "page.html#a-section")
    assert page["text"].strip() == (
        "A term is a word, and x² is none. See Front page of Nobody [2001]."
    )
    assert "The term again, with code." in section["text"]


def test_the_glossary_matches_the_pages(make_book: Callable[..., Book]) -> None:
    sound = "\n".join(
        line
        for line in GLOSSARY.splitlines()
        if not line.startswith(("lost", "vague", "number", "no line"))
    )
    book = make_book(page=f"{TERMS}\n## References\n\n```{{bibliography}}\n```\n", glossary=sound)
    book.write("book/references.bib", CITED)
    result = book.build()
    assert result.returncode == 0, result.stdout
    page = re.sub(r"<mjx-.*</mjx-container>", "F", book.page("glossary.html"))
    items = re.findall(r"<dt.*?</dd>", page, re.DOTALL)
    assert [" ".join(re.sub("<[^>]+>", " ", item).split()) for item in items] == [
        "claim A claim is a sentence. It is true or false. A page",
        "own also mine A definition of its own, as on A page .",
        "term also word A term of, in F words. A page",
    ]
    assert 'href="page.html#term-term"' in items[2]
    assert 'id="term-term"' in book.page("page.html")
    entries = json.loads(book.page("_static/search.json"))
    assert [(entry["address"], entry["terms"]) for entry in entries if entry["terms"]] == [
        ("page.html#a-section", ["vague", "number", "claim", "term", "word"]),
        ("glossary.html#term-own", ["own", "mine"]),
    ]


def test_each_fault_of_the_glossary_is_a_warning(make_book: Callable[..., Book]) -> None:
    book = make_book(page=TERMS.replace("{cite:p}`nobody`", "it"), glossary=GLOSSARY)
    result = book.build()
    assert result.returncode != 0
    output = " ".join(result.stdout.split())
    assert [fault for fault in FAULTS if fault not in output] == []


def test_an_entry_gives_no_answer_away(entries: list[dict[str, Any]]) -> None:
    text = json.dumps(entries)
    assert "A question?" in text
    assert "gives it away" not in text


def test_a_term_belongs_to_the_first_section_in_which_it_is_bold(
    entries: list[dict[str, Any]],
) -> None:
    assert [entry["terms"] for entry in entries] == [["term"], []]


def test_entries_of_pages_not_rewritten_are_kept(make_book: Callable[..., Book]) -> None:
    book = make_book(one="# One\n\nA **term**.\n", two="# Two\n\nA **term** again.\n")

    def found() -> list[tuple[str, list[str]]]:
        result = book.build()
        assert result.returncode == 0, result.stdout
        entries = json.loads(book.page("_static/search.json"))
        return [(entry["text"].strip(), entry["terms"]) for entry in entries]

    assert found() == [("A term.", ["term"]), ("A term again.", [])]
    book.write("book/one.md", "# One\n\nNothing.\n")
    assert found() == [("Nothing.", []), ("A term again.", ["term"])]


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"\sqrt{d}", "√d"),
        (r"s_{i-1}", "s_i-1"),
        (r"n \times d^2", "n × d²"),  # noqa: RUF001 (meant)
        (r"10^{-3}", "10⁻³"),
        (r"\tfrac12\,\text{scores}_j", "1/2 scores_j"),
        (r"\mathrm{softmax}(\alpha)", "softmax(α)"),  # noqa: RUF001 (meant)
        (r"\begin{aligned} a \end{aligned}", "…"),
    ],
)
def test_a_formula_is_indexed_as_it_is_read(tex: str, text: str) -> None:
    assert as_text(tex) == text


def test_no_formula_is_indexed_as_source(site: Path) -> None:
    entries = json.loads((site / "_static" / "search.json").read_text(encoding="utf-8"))
    texts = [f"{entry['title']} {' '.join(entry['terms'])} {entry['text']}" for entry in entries]
    assert [
        text for text in texts if re.search(r"\\(frac|sum|sqrt|cdot|text|top|le|ge)\b", text)
    ] == []


def test_the_first_search_result_is_the_defining_section(site: Path) -> None:
    module = (ROOT / "book" / "_web" / "searching.mjs").as_uri()
    script = FIND.format(module=module)
    command = ["node", "--input-type=module", "-e", script, str(site / "_static" / "search.json")]
    results = subprocess.run([*command, *DEFINED], capture_output=True, text=True, check=True)
    assert dict(zip(DEFINED, json.loads(results.stdout), strict=True)) == DEFINED


def test_no_stock_index_is_shipped(site: Path) -> None:
    assert [*site.rglob("searchindex.js"), *site.rglob("searchtools.js")] == []
    assert "searchtools" not in (site / "search.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("mode", ["dark", "phone"])
def test_search_works_by_keyboard(reader: Callable[..., Reader], mode: str) -> None:
    person = reader(**MODES[mode])
    page = person.open("self_attention.html")
    page.get_by_role("searchbox").click()
    page.keyboard.type("softmax")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=softmax")
    expect(page.get_by_role("status")).to_contain_text("sections, the best first")
    expect(page.locator(".search-results mark").first).to_have_text("softmax")
    assert person.violations(page) == []
    field, first = page.get_by_role("searchbox"), page.locator(".search-results a").first
    page.keyboard.press("ArrowDown")
    expect(first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(field).to_be_focused()
    page.keyboard.press("Enter")
    expect(first).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/self_attention.html#term-softmax")
    assert person.errors == []


def test_an_empty_search_result_gives_advice(reader: Callable[..., Reader]) -> None:
    page = reader(**MODES["light"]).open("search.html?q=zzzz")
    expect(page.get_by_role("status")).to_contain_text("Try one word only")


def test_a_failed_index_download_is_reported(reader: Callable[..., Reader]) -> None:
    person = reader(**MODES["light"])
    person.context.route("**/search.json", lambda route: route.abort())
    page = person.open("search.html?q=softmax")
    expect(page.get_by_role("status")).to_contain_text("Load this page again.")


@pytest.mark.parametrize("scripts", [True, False])
def test_missing_module_support_is_reported(
    reader: Callable[..., Reader], site: Path, scripts: bool
) -> None:
    page = reader(java_script_enabled=scripts, **MODES["light"]).page
    page.goto((site / "search.html").as_uri())  # modules are not loaded from a file
    expect(page.get_by_text("The search needs JavaScript")).to_be_visible()
    expect(page.get_by_role("searchbox")).to_be_hidden()
    expect(page.locator(".contents").get_by_role("link", name="Alignment")).to_be_visible()
