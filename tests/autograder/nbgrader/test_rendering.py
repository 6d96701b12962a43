"""Test pages that show student text: no active content, bounded time, and no lost text."""

import os
import random
import re

import pytest
from bs4 import BeautifulSoup
from classroom import released
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell
from traitlets.config import Config

from autograder.nbgrader import formulas, rendering
from autograder.nbgrader.feedback_page import FeedbackPage
from autograder.nbgrader.markup import LINK, TAGS, markdown
from autograder.nbgrader.preset import configure
from autograder.nbgrader.rendering import clean_markdown, highlight_code

GRADES = {"score": 0, "max_score": 10, "late_penalty": 0, "notebook": "toy"}
RESOURCES = {"nbgrader": GRADES, "index": 0, "total": 1, "base_url": "", "notebook_path": "x"}
# Each paragraph reopens all open tags: nine million tags.
ENDLESS = "".join(f"<b x={i}>" for i in range(3_000)) + "<p>x" * 3_000
CHOKES = "(" * 100_000  # highlighting this takes far too long as well


@pytest.fixture(params=["feedback", "marking"])
def page(request):
    """Return a function that renders a notebook as the feedback or the formgrader does."""
    config = Config()
    configure(config)
    kinds = {"feedback": FeedbackPage, "marking": HTMLExporter}
    exporter = kinds[request.param](config=config)

    def make(*texts, code=()):
        notebook = released()
        notebook.cells[-1].source = texts[0]
        for cell in notebook.cells:
            cell.metadata.nbgrader.score = 0
        for text in texts[1:]:
            notebook.cells.append(new_markdown_cell(text))
        notebook.cells += [new_code_cell(text) for text in code]
        return exporter.from_notebook_node(notebook, resources=dict(RESOURCES))[0]

    return make


@pytest.fixture
def hurried(monkeypatch):
    monkeypatch.setattr(rendering, "CELL_SECONDS", 0.5)
    monkeypatch.setattr(rendering, "PAGE_SECONDS", 1.0)


LIVE = [
    "[here](/files/javascript:alert`1`)",
    "[here](files/javascript:alert`1`)",
    "[here](/files//files/javascript:alert`1`)",
    "[here](/files/data:text/html,x)",
    "[here][1]\n\n[1]: /files/javascript:alert`1`",
    "<a href=/files/javascript:alert(1)>here</a>",
    "<a href='&#47;files/java&#115;cript:alert`1`'>here</a>",
    "[here](data:text/html,x)",
    "[here](JaVaScRiPt:alert`1`)",
    "<a href='java\tscript:alert`1`'>here</a>",
    "[here](vbscript:x)",
    "[here](blob:x)",
    "[here](/hub/logout)",
    "[here](//elsewhere.example)",
]


@pytest.mark.parametrize("link", LIVE)
def test_unsafe_links_are_removed(link, page):
    html = page(link)
    assert ">here</a>" in html
    assert re.search(r"<a[^>]*\bhref[^>]*>here</a>", html) is None


@pytest.mark.parametrize("url", ["https://a.example/b?c=d", "mailto:a@b.example", "#why"])
def test_safe_links_are_kept(url):
    assert f'<a href="{url}">here</a>' in clean_markdown(f"[here]({url})")


ODD = {
    "a style": ("<b style='position:fixed'>x</b>", "<b>x</b>"),
    "a class and a name of the page": ("<b class=score id=why name=y>x</b>", "<b>x</b>"),
    "an event behind a slash": ("<b/onclick=alert(1)>x</b>", "&lt;b/onclick=alert(1)&gt;x"),
    "a title on another element": ("<b title=x lang=y>x</b>", "<b>x</b>"),
    "a title that closes itself": (
        """<a href="#x" title='"onclick="y'>x</a>""",
        '<a href="#x" title="&quot;onclick=&quot;y">x</a>',
    ),
    "a title with a tag": ("<a title='<b><img>'>x</a>", '<a title="&lt;b&gt;&lt;img&gt;">x</a>'),
    "a link that opens elsewhere": ("<a href='#x' target=y ping=z>x</a>", '<a href="#x">x</a>'),
    "unknown protocols": ("<a href='tel:1'>x</a><a href='x-y:z'>x</a>", "<a>x</a><a>x</a>"),
    "a link with a line in it": ("<a href='https://x/\ny'>x</a>", "<a>x</a>"),
    "SVG": (
        "<svg onload=x><a href='javascript:x'>y</a></svg>",
        "&lt;svg onload=x&gt;<a>y</a>&lt;/svg&gt;",
    ),
    "MathML": (
        "<math><mi href='x'><style><img src=x onerror=y></style>",
        "&lt;math&gt;&lt;mi href='x'&gt;&lt;style&gt;&lt;img src=x onerror=y&gt;&lt;/style&gt;",
    ),
    "a comment": ("x<!-- <b>y</b> -->z", "x&lt;!-- <b>y</b> --&gt;z"),
    "a comment that ends early": ("<!--><img src=x>-->", "&lt;!--&gt;&lt;img src=x&gt;--&gt;"),
    "declarations of a document": ("<!doctype html><?x?>", "&lt;!doctype html&gt;&lt;?x?&gt;"),
    "character data": ("<![CDATA[<b>x</b>]]>", "&lt;![CDATA[<b>x</b>]]&gt;"),
    "a name that starts like a known tag": ("<a-b>x</a-b>", "&lt;a-b&gt;x&lt;/a-b&gt;"),
    "a name in capitals": (
        "<SCRIPT>x</ScRiPt> <B>y</B>",
        "&lt;SCRIPT&gt;x&lt;/ScRiPt&gt; <b>y</b>",
    ),
    "a script in a script": ("<scr<script>ipt>x", "&lt;scr&lt;script&gt;ipt&gt;x"),
    "one bracket too many": ("<<script>script>x", "&lt;&lt;script&gt;script&gt;x"),
    "an element that swallows the rest": ("<plaintext><b>x</b>", "&lt;plaintext&gt;<b>x</b>"),
    "an element for browsers without scripts": (
        """<noscript><b title="</noscript><img src=x onerror=y>">x</b>""",
        "&lt;noscript&gt;<b>x</b>",
    ),
    "a template": ("<template><b>x</b></template>", "&lt;template&gt;<b>x</b>&lt;/template&gt;"),
    "ends crossed": ("<b><i>x</b>y</i>", "<b><i>x</i></b><i>y</i>"),
    "never ended": ("<ul><li>x<li>y", "<ul><li>x</li><li>y\n\n</li></ul>"),
    "cells without a table": ("<td>x</td>", "x"),
    "characters by number": ("&#60;script&#62;", "&lt;script&gt;"),
    "characters by number, twice": ("&amp;lt;script>", "&amp;lt;script&gt;"),
    "an odd space in a name": ("<b\x0bonclick=x>", "&lt;b\x0bonclick=x&gt;"),
}


@pytest.mark.parametrize(("source", "html"), ODD.values(), ids=ODD)
def test_unsafe_html_is_shown_as_text_or_stripped(source, html):
    assert html in clean_markdown(source)


@pytest.mark.parametrize("source", ["</div></p></body></html>x", "</div>\n\n</div>\n\nx"])
def test_closing_tags_cannot_close_elements_of_the_page(source):
    html = clean_markdown(source)
    assert "</div>" not in html
    assert "x" in html


PIECES = "<svg> <math> <table> <tr> <td> <p> <b> <a> <li> <div> <style> <title> <textarea> <mtext>"
PIECES += " <script> <img> <!-- --> <![CDATA[ ]]> <select> <form> <noscript> </p> </table> </svg>"
PIECES += " $ $$ \\text{ } \\frac{1}{2} \\begin{align} \\end{align} $x$ $\\alpha$ <mi>"
PIECES += (
    " </a> </b> </div> </style> </script> x=y onclick=z href=javascript:x href=/x > < ' \" ` / & x"
)


@pytest.mark.parametrize("seed", range(200))
def test_random_markup_leaves_only_safe_tags_and_attributes(seed):
    source = "".join(random.Random(seed).choices([*PIECES.split(), " ", "\n"], k=40))
    tags = BeautifulSoup(markdown(source), features="html.parser").find_all(True)
    assert {tag.name for tag in tags} <= TAGS | formulas.TAGS, source
    attributes = {name for tag in tags if tag.name in TAGS for name in tag.attrs}
    assert attributes <= {"href", "title"}, source
    formula_attributes = {name for tag in tags if tag.name in formulas.TAGS for name in tag.attrs}
    assert formula_attributes <= formulas.ATTRIBUTES, source
    assert [tag for tag in tags if not LINK.fullmatch(tag.get("href", "#"))] == [], source


FORMULAS = {
    "in a line": (r"So $\alpha_i < 1$ holds.", ["<mi>\u03b1</mi>", "<mo>&lt;</mo>", "holds."]),
    "by itself": (
        "$$\n\\frac{1}{\\sqrt{d_k}}\n$$",
        ['<math display="block">', "<mfrac>", "<msqrt>"],
    ),
    "in LaTeX's own signs": (r"\\(x^2\\)", ["<msup>"]),
    "below each other": (r"\begin{align*}a &= b \\ c &= d\end{align*}", ["<mtable", "<mtd>"]),
    "a matrix alone": (r"\begin{pmatrix}1 & 2\end{pmatrix}", ["<mtable", "<mo>(</mo>"]),
    "with words": (r"$\mathrm{softmax}(\text{a score})$", ["<mi>softmax</mi>", "a score</mtext>"]),
    "a bold vector": (r"$\bm{x}, \dots$", ["<mi>\U0001d499</mi>", "<mi>…</mi>"]),
}


@pytest.mark.parametrize(("source", "parts"), FORMULAS.values(), ids=FORMULAS)
def test_formula_is_rendered_on_both_pages_without_a_script(source, parts, page):
    html = re.sub(r"\s*\n\s*", "", page(source))
    for part in ("<math", *parts):
        assert part in html


NO_FORMULA = {
    "prices": "From $5 to $10.",
    "an unknown command": r"$\frobnicate x$",
    "a fraction without its second half": r"$\frac{1}$",
    "a link": r"$\href{javascript:alert(1)}{x}$",
    "a style": r"$\style{position:fixed}{x}$",
    "brackets in brackets": "$" + r"\sqrt{" * 3_000 + "}" * 3_000 + "$",
}


@pytest.mark.parametrize("source", NO_FORMULA.values(), ids=NO_FORMULA)
def test_text_that_is_not_a_formula_is_unchanged(source):
    assert source in clean_markdown(source)


def test_formula_cannot_add_active_content():
    for text in (
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '" onclick=alert(1) "',
    ):
        html = clean_markdown(
            rf"$\text{{{text}}}$ <a title='" + f"\n\n$$\\text{{{text}}}$$\n\n'>x</a>"
        )
        tags = BeautifulSoup(html, features="html.parser").find_all(True)
        assert {tag.name for tag in tags} <= {"p", "math", "mtext", "a"}
        assert {name for tag in tags for name in tag.attrs} <= {"display"}


def test_placeholder_written_by_a_student_is_not_replaced():
    assert "formula-0;" in clean_markdown("formula-0; $x$")


def test_deeply_nested_tags_do_not_break_the_page(page):
    assert "<p>After.</p>" in page("<div>" * 5_000, "After.")


PICTURES = ["![a plot](attachment:image.png)", "![a plot](p.png)", "![a plot][1]\n\n[1]: p.png"]


@pytest.mark.parametrize("picture", PICTURES)
def test_pasted_picture_is_named_and_the_rest_shown(picture, page):
    html = page(f"**Before.**\n\n{picture}\n\nAfter.")
    assert "<strong>Before.</strong>" in html
    assert "A picture is not shown here (a plot)." in html
    assert "<p>After.</p>" in html


@pytest.mark.parametrize("text", [ENDLESS, "<b>" * 20_000 + "*a " * 300_000])
def test_text_that_renders_too_slowly_is_shown_unrendered(text, hurried):
    rendering.NewPage().preprocess(released(), {})
    assert clean_markdown(text) == f"<pre>{text.replace('<', '&lt;').replace('>', '&gt;')}</pre>"
    assert clean_markdown("**next**").strip() == "<p><strong>next</strong></p>"


def test_code_that_highlights_too_slowly_is_shown_plain(hurried):
    rendering.NewPage().preprocess(released(), {})
    assert highlight_code(CHOKES) == f"<pre>{CHOKES}</pre>"
    assert 'class="mi">1</span>' in highlight_code("x = 1")
    assert "script" not in highlight_code("%%javascript\nx = 1").replace("%%javascript", "")


def test_page_of_slow_cells_ends_in_time_and_the_next_is_unaffected(page, hurried):
    clean_markdown("This starts the process.")
    before = os.times()
    html = page(*[ENDLESS] * 20, code=[CHOKES] * 20)
    after = os.times()
    assert html.count("&lt;p&gt;x") == 20 * 3_000
    spent = after.children_user - before.children_user
    assert spent < 20, "40 cells at half a second and a restart each would take longer"
    assert "<strong>next</strong>" in page("**next**")


def test_cells_beyond_the_page_size_are_plain(monkeypatch):
    monkeypatch.setattr(rendering, "PAGE_CHARACTERS", 1_000)
    rendering.NewPage().preprocess(released(), {})
    assert highlight_code("x = 1\n" * 100).startswith("<pre>")
    assert highlight_code("x = 1").startswith("<div")
