"""How far a page moves under its reader's eyes while it loads and is scrolled through.

This is the sum of all shifts, so at least the Cumulative Layout Shift, which is the largest sum
within five seconds.
"""

from playwright.sync_api import Page

OBSERVE = """
globalThis.shifts = [];
new PerformanceObserver((list) => shifts.push(...list.getEntries()))
    .observe({ type: "layout-shift", buffered: true });
"""
SUM = """() => shifts.filter((one) => !one.hadRecentInput)
    .reduce((sum, one) => sum + one.value, 0)"""


def observe_shifts(page: Page) -> None:
    """Note the shifts of what is opened on a page from now on."""
    page.add_init_script(OBSERVE)


def layout_shift(page: Page) -> float:
    """Return how far it has moved, in the measure of the Layout Instability API."""
    return page.evaluate(SUM)
