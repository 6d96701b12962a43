"""Test the measurements of `make bench-site` on small pages with known values, not on the site."""

import gzip
import time
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright
from site_tools import CHROMIUM, FLAGS, serving

from tests.benchmarks.site.figures import of_pages
from tests.benchmarks.site.lines import characters_a_line
from tests.benchmarks.site.opening import first_figure
from tests.benchmarks.site.server import LATE, Compressing, FontsLate
from tests.benchmarks.site.shift import layout_shift
from tests.benchmarks.site.visiting import Visited, read_through, reading
from tests.benchmarks.site.weight import Weight

HEAD = '<!doctype html><html lang="en"><title>A page</title><link rel="icon" href="data:,">'
BYTES = bytes(range(256)) * 400  # stands for a picture, which is sent uncompressed


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def read(browser: Browser, tmp_path: Path):
    """Return a function that reads a page with a given body as the benchmark does."""

    def measured(body: str, measure, mode: str = "light", begin=lambda page: None):
        (tmp_path / "page.html").write_text(HEAD + body, encoding="utf-8")
        with (
            serving(tmp_path, Compressing) as address,
            reading(browser, mode, address) as reader,
        ):
            counter = begin(reader.page)
            read_through(reader, "page.html")
            return measure(counter or reader.page)

    return measured


def test_only_text_is_sent_compressed(tmp_path):
    text = "the same again, " * 10_000
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    (tmp_path / "font.woff2").write_bytes(BYTES)
    with serving(tmp_path, Compressing) as address:
        with urllib.request.urlopen(f"{address}/page.html?q=a") as answer:
            assert answer.headers["Content-Encoding"] == "gzip"
            assert gzip.decompress(answer.read()).decode() == text
        with urllib.request.urlopen(f"{address}/font.woff2") as answer:
            assert "Content-Encoding" not in answer.headers
            assert answer.read() == BYTES


def test_fonts_arrive_late_on_a_slow_connection(tmp_path):
    (tmp_path / "font.woff2").write_bytes(BYTES)
    with serving(tmp_path, FontsLate) as address:
        started = time.monotonic()
        with urllib.request.urlopen(f"{address}/font.woff2?v=1") as answer:
            assert answer.read() == BYTES
        assert time.monotonic() - started >= LATE


def test_the_weight_of_a_page_includes_images_below_the_window(read, tmp_path):
    (tmp_path / "a.bin").write_bytes(BYTES)
    (tmp_path / "b.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>' + " " * 10**6)
    body = "<script>fetch('a.bin')</script><div style='height: 9000px'></div>"
    alone = read(body, lambda weight: weight.kilobytes, begin=Weight)
    assert len(BYTES) / 1000 < alone < len(BYTES) / 1000 + 2
    body += "<img loading='lazy' src='b.svg' alt='nothing' width='9' height='9'>"
    assert alone + 1 < read(body, lambda weight: weight.kilobytes, begin=Weight) < alone + 3


@pytest.mark.parametrize("added", [0, 450])
def test_a_shift_counts_as_the_share_of_the_window_that_moved(read, added):
    late = f"<script>setTimeout(() => above.style.height = '{added}px', 200)</script>"
    half = "<div style='height: 450px; background: #ddd'></div>"
    moved = read(f"<body style='margin: 0'><div id='above'></div>{half}{late}", layout_shift)
    # The old and the new place of the moved half make up the whole window, which is 1280 px wide.
    assert moved == pytest.approx(added / 1280)


def test_only_full_lines_without_formulas_are_counted(read):
    words = "<p>" + "abc " * 100 + "</p>"
    formula = words.replace("abc", "<mjx-container>abc</mjx-container>", 1)
    body = "<style>p { font: 20px/1.5 monospace; width: 40ch }</style>"
    body += f"<article><section>{words}{formula}<div>{words}</div></section></article>"
    # A line has ten words and their spaces; the last space hangs over the end of the line.
    assert read(body, characters_a_line) == [39] * 9


def test_the_first_figure_is_the_first_large_visible_element(read):
    above = "<svg width='16' height='16' style='display: block'></svg>"
    above += "<details style='height: 84px'><img width='400' height='400'></details>"
    body = f"<body style='margin: 0'><article>{above}<div style='height: 900px'></div>"
    figure = "<figure style='margin: 0; width: 300px; height: 200px'></figure>"
    assert read(body + figure, first_figure) == 1000
    assert read(body, first_figure, "phone") == 1000, "a page without a figure: its length"


def visit(name: str, shift: float = 0, first: float = 100, **more) -> Visited:
    defaults = {"kilobytes": 500, "violations": {"light": []}, "lines": [68, 70, 70]}
    return Visited(
        name=name,
        shifts={"light": 0, "phone": shift},
        first_figure={"light": first},
        **defaults | more,
    )


def test_each_figure_is_that_of_the_worst_page_and_first_figures_are_those_of_chapters():
    visits = [
        visit("index.html", first=4000),
        visit("cost.html", shift=0.2, violations={"light": [], "phone": ["image-alt: <img>"]}),
        visit("positions.html", first=700, kilobytes=701.4),
    ]
    figures = {figure.name: figure for figure in of_pages(visits)}
    assert {name: (figure.value, figure.within_limits) for name, figure in figures.items()} == {
        "page_kb_worst": (701, False),
        "layout_shift_worst": (0.2, False),
        "axe_violations": (1, False),
        "characters_a_line": (70, True),
        "first_figure_px_worst": (700, False),
    }
    assert figures["page_kb_worst"].where == "positions.html"
    assert figures["layout_shift_worst"].where == "cost.html (phone)"
    assert figures["axe_violations"].where == "cost.html (phone): image-alt: <img>"
    assert figures["first_figure_px_worst"].where == "positions.html (light)"
    assert all(figure.within_limits for figure in of_pages([visit("cost.html")]))
