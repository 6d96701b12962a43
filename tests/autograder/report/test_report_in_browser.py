"""Test the page of a report in a real browser: it asks for nothing, and everybody can read it."""

import shutil
from pathlib import Path

import pytest
from browsing import BROWSER, QUIET
from classroom import MEAN_SUM, hand_in, known_everywhere, make_course
from inprocess import InProcess
from playwright.sync_api import sync_playwright
from site_tools import AXE, RUN_AXE
from toy import WRITTEN_TOY

from autograder.grading.grade import grade
from autograder.notebook.check import write_cases
from autograder.report.gather import make_report
from autograder.report.page import report_page

MODES = {
    "light": {"viewport": {"width": 1100, "height": 900}},
    "dark": {"viewport": {"width": 1100, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 800}},
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory, sandbox):
    """Return the files of a class's two reports, whose students have hard names."""
    with pytest.MonkeyPatch.context() as patch:
        known_everywhere(patch)
        course = make_course(tmp_path_factory.mktemp("report") / "course")
        write_cases(WRITTEN_TOY, course.release / "toy" / "toy.cases")
        for student in ("ann", "محمد", "<script>x", "w" * 90):
            path = hand_in(course, student, mean=MEAN_SUM)
        grade(course, None, None, InProcess(sandbox))
        hand_in(course, "ann", mean=f"{MEAN_SUM} + 0")
        shutil.rmtree(path.parents[1])
        grade(course, None, None, InProcess(sandbox))
        files = []
        for assignment in ("toy", None):
            file = course.root / f"{assignment}.html"
            file.write_text(report_page(course, make_report(course, assignment, False)))
            files.append(file)
        return files


@pytest.mark.parametrize("mode", MODES)
def test_page_asks_for_nothing_fits_and_has_no_violation(pages, mode):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=QUIET)
        page = browser.new_page(**MODES[mode], bypass_csp=True)  # axe-core is a script
        requests, messages = [], []
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: messages.append(message.text))
        for file in pages:
            page.goto(file.as_uri())
            assert (
                page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
            )
            page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
            assert (
                page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
            )
            page.evaluate(Path(AXE).read_text(encoding="utf-8"))
            assert page.evaluate(RUN_AXE, "body") == []
        assert requests == [file.as_uri() for file in pages]
        assert messages == []
        browser.close()


def test_scripts_are_refused_and_print_shows_what_is_folded(pages):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=QUIET)
        page = browser.new_page()
        page.goto(pages[0].as_uri())
        page.evaluate(
            "document.body.append(Object.assign(document.createElement('script'),"
            " {textContent: 'window.ran = true'}))"
        )
        assert page.evaluate("window.ran") is None
        folded = page.locator(".mistake-of details li").first
        assert not folded.is_visible()
        page.emulate_media(media="print")
        assert folded.is_visible()
        browser.close()
