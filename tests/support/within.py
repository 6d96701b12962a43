"""A pytest plugin, for `make test WITHIN=SECONDS`: start no test after a given time.

    pytest -p within --until "$(date --date='1 hour' +%s)"

A test that has started is finished; the last line says how many are left to `make nightly`. Each
day begins with another third of the test files, so a slow machine leaves out others each day.
"""

import time
from datetime import timedelta
from typing import Any

import pytest

LEFT = "the time is over"
DAY = timedelta(days=1).total_seconds()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--until", type=float, required=True, help="seconds since 1970")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Deadline(config.getoption("until")))


class Deadline:
    """Run the tests of the day's third first, and start none after `until`."""

    def __init__(self, until: float) -> None:
        self.until = until

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Change the order of the files. Workers that collect at midnight must agree on the day."""
        files = list(dict.fromkeys(item.path for item in items))
        first = int(self.until // DAY) % 3 * len(files) // 3
        place = {file: at for at, file in enumerate(files[first:] + files[:first])}
        items.sort(key=lambda item: place[item.path])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        if time.time() > self.until:
            pytest.skip(LEFT)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    left = [report for report in skipped if LEFT in str(report.longrepr)]
    if left:
        files = len({report.nodeid.partition("::")[0] for report in left})
        terminalreporter.write_line(
            f"NOT run, as {LEFT}: {len(left)} tests of {files} files. `make nightly` runs them."
        )
