"""Test the playground's worker in a browser, as the site serves it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from site_tools import Reader

RUN = """async ([settings, pace, stopAfter]) => {
    const worker = new Worker("/_static/learning/worker.mjs", { type: "module" });
    const said = [];
    const stopped = new Promise((done, failed) => {
        worker.onerror = ({ message }) => failed(new Error(message));
        worker.onmessage = ({ data }) => {
            said.push(data);
            if (data.step >= stopAfter) worker.postMessage({ type: "stop" });
            if (["stopped", "ended", "failed", "refused"].includes(data.type)) done();
        };
    });
    worker.postMessage({ type: "start", machines: [settings], pace });
    await stopped;
    await new Promise((done) => setTimeout(done, 100));
    worker.terminate();
    const progress = said.filter(({ type }) => type === "progress");
    return {
        kernel: said[0].kernel,
        last: said.findLast(({ type }) => type !== "progress"),
        steps: progress.map(({ step }) => step),
        losses: progress.flatMap(({ machines }) => machines[0].losses),
    };
}"""


@pytest.fixture(scope="module")
def person(reader: Callable[..., Reader]) -> Reader:
    person = reader()
    person.open("index.html")
    return person


def run(person: Reader, settings: dict[str, Any], pace: int, stop_after: int) -> dict[str, Any]:
    """Start the worker and stop it; return its messages up to a tenth of a second later."""
    return person.page.evaluate(RUN, [settings, pace, stop_after])


def test_a_machine_learns_in_the_browser(person: Reader) -> None:
    messages = run(person, {"steps": 60}, 0, 10_000)
    assert messages["kernel"] == "wasm"
    assert messages["last"] == {"type": "ended", "step": 60}
    assert len(messages["losses"]) == 60
    assert messages["losses"][-1] < 0.5 < messages["losses"][0]
    assert not person.foreign
    assert not person.errors


@pytest.mark.parametrize("pace", [0, 1])
def test_stop_prevents_further_steps(person: Reader, pace: int) -> None:
    messages = run(person, {"task": "both", "steps": 5000}, pace, 3)
    assert messages["last"]["type"] == "stopped"
    stopped = messages["last"]["step"]
    assert 3 <= stopped < 5000
    assert messages["steps"][-1] == stopped


def test_javascript_learns_the_same_without_webassembly(person: Reader) -> None:
    fast = run(person, {"steps": 10}, 0, 10_000)
    person.page.route("**/product.wasm", lambda route: route.abort())
    plain = run(person, {"steps": 10}, 0, 10_000)
    person.page.unroute("**/product.wasm")
    assert (fast["kernel"], plain["kernel"]) == ("wasm", "javascript")
    assert plain["losses"] == pytest.approx(fast["losses"], abs=1e-4)
