"""What a student writes, as pages show it: nothing live, nothing without end, nothing lost."""

import os
import re

import pytest
from classroom import released
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.server_extensions.formgrader import handlers
from traitlets.config import Config

from autograder.nbgrader import rendering
from autograder.nbgrader.feedback import FeedbackPage
from autograder.nbgrader.preset import configure
from autograder.nbgrader.rendering import clean_markdown, highlight_code

GRADES = {"score": 0, "max_score": 10, "late_penalty": 0, "notebook": "toy"}
RESOURCES = {"nbgrader": GRADES, "index": 0, "total": 1, "base_url": "", "notebook_path": "x"}
ENDLESS = "<div>" * 20_000  # the cleaning of it is quadratic
CHOKES = "(" * 100_000  # so is the colouring of it


@pytest.fixture(params=["feedback", "formgrade"])
def page(request):
    """Make a page of a notebook as the feedback or the formgrader does."""
    config = Config()
    configure(config)
    config.HTMLExporter.template_name = request.param
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    kinds = {"feedback": FeedbackPage, "formgrade": HTMLExporter}
    exporter = kinds[request.param](config=config)

    def make(*written, code=()):
        notebook = released()
        notebook.cells[-1].source = written[0]
        for cell in notebook.cells:
            cell.metadata.nbgrader.score = 0
        for text in written[1:]:
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
def test_no_link_runs_anything_or_leads_into_the_server(link, page):
    shown = page(link)
    assert ">here</a>" in shown
    assert re.search(r"<a[^>]*\bhref[^>]*>here</a>", shown) is None


@pytest.mark.parametrize("url", ["https://a.example/b?c=d", "mailto:a@b.example", "#why"])
def test_an_honest_link_stays(url):
    assert f'<a href="{url}">here</a>' in clean_markdown(f"[here]({url})")


PICTURES = ["![a plot](attachment:image.png)", "![a plot](p.png)", "![a plot][1]\n\n[1]: p.png"]


@pytest.mark.parametrize("picture", PICTURES)
def test_a_pasted_picture_is_named_and_the_rest_is_shown(picture, page):
    shown = page(f"**Before.**\n\n{picture}\n\nAfter.")
    assert "<strong>Before.</strong>" in shown
    assert "A picture, not shown here (a plot)." in shown
    assert "<p>After.</p>" in shown


@pytest.mark.parametrize("text", [ENDLESS, "<b>" * 20_000 + "*a " * 300_000])
def test_text_that_takes_for_ever_is_shown_as_it_is(text, hurried):
    rendering.NewPage().preprocess(released(), {})
    assert clean_markdown(text) == f"<pre>{text.replace('<', '&lt;').replace('>', '&gt;')}</pre>"
    assert clean_markdown("**next**").strip() == "<p><strong>next</strong></p>"


def test_code_that_takes_for_ever_is_shown_as_it_is(hurried):
    rendering.NewPage().preprocess(released(), {})
    assert highlight_code(CHOKES) == f"<pre>{CHOKES}</pre>"
    assert 'class="mi">1</span>' in highlight_code("x = 1")
    assert "script" not in highlight_code("%%javascript\nx = 1").replace("%%javascript", "")


def test_a_page_of_such_cells_ends_and_the_next_pays_for_nothing(page, hurried):
    clean_markdown("The process is there.")
    before = os.times()
    shown = page(*[ENDLESS] * 20, code=[CHOKES] * 20)
    after = os.times()
    assert shown.count("&lt;div&gt;") == 20 * 20_000
    spent = after.children_user - before.children_user
    assert spent < 20, "40 cells at half a second each, and starting anew for each, would be more"
    assert "<strong>next</strong>" in page("**next**")


def test_a_page_that_would_be_huge_is_plain_where_it_is_too_much(monkeypatch):
    monkeypatch.setattr(rendering, "PAGE_CHARACTERS", 1_000)
    rendering.NewPage().preprocess(released(), {})
    assert highlight_code("x = 1\n" * 100).startswith("<pre>")
    assert highlight_code("x = 1").startswith("<div")
