"""Make the README's pictures from the built site, a released notebook and the sample class.

    python -m tests.support.readme_pictures

Names after it, such as `report`, choose among them. It needs `make course` first. A person looks at
the pictures before they are committed.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat
from nbconvert import HTMLExporter
from playwright.sync_api import Page, sync_playwright

from autograder.course.course import Course
from autograder.grading.sample import answer_source
from autograder.report.gather import make_report
from autograder.report.page import report_page
from exercises import COURSE
from tests.book.site_tools import SITE, serving

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "book" / "_web" / "pictures"
RELEASE = ROOT / "_build" / "course" / "release" / "self_attention"


def main(names: list[str]) -> None:
    """Write chapter.png, playground.png, feedback.png and report.png, or those with the `names`."""
    PICTURES.mkdir(exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        if {"chapter", "playground"} & {*names}:
            with serving(SITE) as address:
                page.goto(f"{address}/index.html")  # fetches the fonts of the next page
                page.wait_for_load_state("networkidle")
                if "chapter" in names:
                    picture_of_chapter(page, f"{address}/self_attention.html")
                if "playground" in names:
                    picture_of_playground(page, f"{address}/playground.html")
        page.route("http*://**", lambda route: route.abort())
        if "feedback" in names:
            picture_of_feedback(page, Path(folder))
        if "report" in names:
            picture_of_report(page, Path(folder))
        browser.close()


def picture_of_chapter(page: Page, address: str) -> None:
    """Show the weights of the running sentence on its page, with the prediction answered."""
    page.goto(f"{address}#predict-two-articles-seen")
    page.wait_for_load_state("networkidle")
    scroll_options = "{block: 'center', behavior: 'instant'}"
    page.evaluate(f"document.querySelector('#fig-weights').scrollIntoView({scroll_options})")
    page.screenshot(path=PICTURES / "chapter.png")


def picture_of_playground(page: Page, address: str) -> None:
    """Show the mean and attention, after both have learned to name a far token."""
    page.goto(address)
    page.get_by_role("button", name="Train", exact=True).click()
    page.wait_for_selector(".playground[data-state=after]")
    page.evaluate("scrollTo({top: 180, behavior: 'instant'})")
    page.screenshot(path=PICTURES / "playground.png")


def picture_of_feedback(page: Page, folder: Path) -> None:
    """Show an answer that normalises the columns, and the self-check's message about it."""
    shutil.copytree(RELEASE, folder, dirs_exist_ok=True)
    notebook = nbformat.read(folder / "self_attention.ipynb", as_version=4)
    exercise = COURSE["self_attention"].exercise("self_attention")
    wrong = next(m.wrong for m in exercise.misconceptions if m.name == "columns normalised")
    is_answer = [
        cell.metadata.get("nbgrader", {}).get("grade_id") == exercise.name
        for cell in notebook.cells
    ]
    place = is_answer.index(True)
    notebook.cells[place].source = answer_source(wrong, exercise.name)
    imports = next(cell for cell in notebook.cells if "import check" in cell.source)
    notebook.cells = [imports, *notebook.cells[place : place + 2]]
    nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(folder)}}).execute()
    notebook.cells = notebook.cells[1:]
    text, _ = HTMLExporter(template_name="lab").from_notebook_node(notebook)
    (folder / "page.html").write_text(text, encoding="utf-8")
    page.set_viewport_size({"width": 1100, "height": 400})
    page.goto((folder / "page.html").as_uri(), wait_until="domcontentloaded")
    page.screenshot(path=PICTURES / "feedback.png", full_page=True)


def picture_of_report(page: Page, folder: Path) -> None:
    """Show the report on an assignment of the sample class, down to its first mistake."""
    course = Course.open(ROOT / "_build" / "course")
    text = report_page(course, make_report(course, "alignment", anonymous=False))
    (folder / "report.html").write_text(text, encoding="utf-8")
    page.set_viewport_size({"width": 1000, "height": 1200})
    page.goto((folder / "report.html").as_uri())
    end = page.locator(".mistake-of").first.bounding_box()
    assert end is not None
    height = end["y"] + end["height"] + 16
    page.set_viewport_size({"width": 1000, "height": int(height)})
    page.screenshot(path=PICTURES / "report.png")


if __name__ == "__main__":
    main(sys.argv[1:] or ["chapter", "playground", "feedback", "report"])
