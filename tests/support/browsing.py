"""Helpers of the formgrader tests: a server, a browser, and an instructor's clicks."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from people import Person
from playwright.sync_api import Page, sync_playwright

TOKEN = "formgrader-test"
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
QUIET += ["--disable-background-networking", "--disable-component-update"]
MAIN = "import sys; from jupyter_server.serverapp import main; sys.exit(main(sys.argv[1:]))"


@contextmanager
def formgrader_server(root: Path, home: Path, person: Person | None = None) -> Iterator[str]:
    """Run a Jupyter server with the formgrader in the course at `root`, and yield its address.

    `home` is an empty folder for its settings. The server runs as `person`, or as this user.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [f"--ServerApp.port={port}", "--ServerApp.port_retries=0", "--ServerApp.ip=127.0.0.1"]
    options += [f"--IdentityProvider.token={TOKEN}", "--ServerApp.open_browser=False"]
    environment = {
        **os.environ,
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    if person is not None:
        environment |= person.environment()
    command = [sys.executable, "-c", MAIN, *options, "--allow-root"]
    log = home / "server.log"
    with log.open("wb") as stream:
        server = subprocess.Popen(
            command if person is None else person.command(*command),
            cwd=root,
            env=environment,
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(f"{address}/api/status?token={TOKEN}", server, log)
        yield address
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()


def _wait(url: str, server: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.3)


@contextmanager
def instructor(address: str) -> Iterator[Page]:
    """Yield a page of headless Chromium that is logged in to the server; other hosts are blocked.

    No page may request another host: `foreign` of the page lists the requested addresses.
    """
    if BROWSER is None:
        pytest.fail("chromium is not installed: sudo apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=QUIET)
        page: Any = browser.new_page(viewport={"width": 1200, "height": 1000})
        page.foreign = []
        page.route(lambda url: not url.startswith(f"{address}/"), _cut_off(page.foreign))
        page.goto(f"{address}/login?token={TOKEN}")
        yield page
        browser.close()
        assert page.foreign == []


def _cut_off(foreign):
    """Return a route handler that blocks a request and notes its address in `foreign`."""

    def note(route):
        foreign.append(route.request.url)
        route.abort()

    return note


def open_submission(page: Page, address: str, assignment: str, student: str) -> None:
    """Open a student's submission as an instructor does: show the names, click on the student."""
    page.goto(f"{address}/formgrader/gradebook/{assignment}/{assignment}")
    page.wait_for_selector("#main-table tr .name-shown", state="attached")
    page.click("#toggle_names")
    page.click(f"a.name-shown:text-is('{student}')")
    page.wait_for_selector("#notebook .nbgrader_cell .score")
    page.wait_for_load_state("networkidle")


def feedback_of(page: Page, exercise: str) -> str:
    """Return the comment that the page shows above an answer."""
    cell = page.locator(".nbgrader_cell", has=page.locator(f"[id='{exercise}-comment']"))
    return "\n".join(cell.locator(".autograder").all_inner_texts())


def score_of(page: Page, exercise: str) -> float:
    """Return the points in the box of an exercise; automatic points are its placeholder."""
    return float(page.locator(f"[id='{exercise}']").get_attribute("placeholder") or "nan")
