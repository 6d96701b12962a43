"""Measure how far the content of a page moves while it loads and is scrolled through.

This is the sum of all shifts, so it is at least the Cumulative Layout Shift, which is the largest
sum within five seconds.
"""

from playwright.sync_api import Page

OBSERVE = """
globalThis.shifts = [];
new PerformanceObserver((list) => shifts.push(...list.getEntries()))
    .observe({ type: "layout-shift", buffered: true });
"""
SUM = """() => shifts.filter((shift) => !shift.hadRecentInput)
    .reduce((sum, shift) => sum + shift.value, 0)"""


def observe_shifts(page: Page) -> None:
    """Record the shifts of every document that is opened in `page` from now on."""
    page.add_init_script(OBSERVE)


def layout_shift(page: Page) -> float:
    """Return how far the content has moved, in the unit of the Layout Instability API."""
    return page.evaluate(SUM)
