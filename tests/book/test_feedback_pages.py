"""Test that the feedback pages look like the site and are as readable."""

import re

import pytest
from site_tools import MODES, ROOT, Reader, serving

FEEDBACK = ROOT / "_build" / "course" / "feedback"
PAGES = ("s03-partly-right/transformer_block", "s14-damaged-file/transformer_block")
TOKENS = ROOT / "book" / "_web" / "styles" / "tokens.css"
PAGE_STYLE = ROOT / "autograder" / "nbgrader" / "pages" / "answers" / "page.css"
VALUE = re.compile(r"(--[\w-]+): (light-dark\(.*\)|[\d.]+rem);")


def test_feedback_page_has_the_colours_and_sizes_of_the_site():
    own, site = (dict(VALUE.findall(sheet.read_text())) for sheet in (PAGE_STYLE, TOKENS))
    assert len(own) > 15
    assert own.pop("--page")
    assert own == {name: site[name] for name in own}


@pytest.fixture(scope="module")
def readers(browser):
    """Return a reader of the feedback of the sample class for each of MODES."""
    if not FEEDBACK.is_dir():
        pytest.fail("the sample class has no feedback: type `make class`")
    with serving(FEEDBACK) as address:
        contexts = {mode: browser.new_context(**settings) for mode, settings in MODES.items()}
        for context in contexts.values():  # requests that a browser makes itself
            context.route("**/favicon.ico", lambda route: route.fulfill(status=204))
        yield {mode: Reader(context, address) for mode, context in contexts.items()}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PAGES)
def test_feedback_page_is_complete_in_every_mode(readers, name, mode):
    reader = readers[mode]
    page = reader.open(f"{name}/{name.partition('/')[2]}.html")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    code = page.locator("pre")
    assert code.evaluate_all("(all) => all.every((node) => node.scrollWidth <= node.clientWidth)")
    page.locator(".answers a").first.click()
    assert page.locator(".answer:target .label").count() == 1
    assert reader.violations(page) == []
    assert reader.foreign == []
    assert reader.errors == []
