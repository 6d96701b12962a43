"""Open a page as readers do, and measure it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from playwright.sync_api import Browser, sync_playwright
from site_tools import CHROMIUM, FLAGS, MODES, Reader

from tests.benchmarks.site.lines import characters_a_line
from tests.benchmarks.site.opening import first_figure
from tests.benchmarks.site.shift import layout_shift, observe_shifts
from tests.benchmarks.site.weight import Weight

SCROLL_THROUGH = """async () => {
    const end = document.documentElement.scrollHeight;
    for (let top = 0; top < end; top += innerHeight) {
        scrollTo({ top, behavior: "instant" });
        await new Promise(requestAnimationFrame);
    }
    const arrived = (image) => image.complete
        || new Promise((done) => { image.onload = image.onerror = done; });
    await Promise.all([...document.images].filter((image) => image.checkVisibility()).map(arrived));
    scrollTo({ top: 0, behavior: "instant" });
    await new Promise(requestAnimationFrame);
}"""


@dataclass(frozen=True)
class Visited:
    """The measurements of a page; those that depend on the mode are dictionaries by mode."""

    name: str
    kilobytes: float
    shifts: dict[str, float]
    violations: dict[str, list[str]]
    lines: list[int]
    first_figure: dict[str, float]


def visited(name: str, address: str, fonts_late: str) -> Visited:
    """Open a page at both addresses, each time with an empty browser cache."""
    kilobytes, lines = 0.0, []
    shifts, violations, figures = {}, {}, {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for mode in MODES:
            with reading(browser, mode, address) as reader:
                weight = Weight(reader.page)
                read_through(reader, name)
                shifts[mode] = layout_shift(reader.page)
                figures[mode] = first_figure(reader.page)
                if mode == "light":
                    kilobytes, lines = weight.kilobytes, characters_a_line(reader.page)
                violations[mode] = reader.violations(reader.page)
        for mode in ("light", "phone"):
            with reading(browser, mode, fonts_late) as reader:
                read_through(reader, name)
                shifts[f"{mode}, fonts late"] = layout_shift(reader.page)
        browser.close()
    return Visited(name, kilobytes, shifts, violations, lines, figures)


@contextmanager
def reading(browser: Browser, mode: str, address: str) -> Iterator[Reader]:
    """Yield a reader with a fresh profile that records all layout shifts."""
    context = browser.new_context(**MODES[mode])
    reader = Reader(context, address)
    observe_shifts(reader.page)
    yield reader
    context.close()


def read_through(reader: Reader, name: str) -> None:
    """Open a page and scroll to its end and back; return when all fonts and images have loaded."""
    page = reader.open(name)
    page.evaluate("() => document.fonts.ready")
    page.evaluate(SCROLL_THROUGH)
