"""Test that the GPT in a page computes what PyTorch does, and its figure in a browser.

The figure is served in a small site, with an untrained model.
"""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Locator, Page, expect
from site_tools import MODES, Reader, serving
from writer_page import TEXTS, in_the_page, looks_of, make, untaught

from book._ext.course_site import WEB
from solutions.experiments.gpt_and_bert.even_looks import EvenLook, instead
from solutions.experiments.gpt_and_bert.heads import gpt_maps
from solutions.experiments.gpt_and_bert.keeping import from_bytes
from solutions.experiments.gpt_and_bert.tokens import Tokens
from solutions.gpt_and_bert import GPT, sample_next

TOLERANCE = 1e-3
ODD = ("é, naïve: 50% of 25_6!", "😀\nthe  weights", "x² ½ Ⅷ ١٢", "a", "the " * 80)


@pytest.fixture(scope="module")
def weights() -> bytes:
    return untaught(5)


def test_tokens_logits_and_looks_are_those_of_the_course(weights: bytes, tmp_path: Path) -> None:
    model, tokens = from_bytes(weights)
    texts = [*TEXTS, *ODD]
    for text, found in zip(texts, in_the_page(weights, texts, tmp_path), strict=True):
        ids = tokens.encode(text)
        assert found["ids"] == ids.tolist()
        assert found["text"] == text
        read = ids[None, : model.positions.num_embeddings]
        np.testing.assert_allclose(found["logits"], model(read)[0, -1], atol=TOLERANCE)
        expected = looks_of(gpt_maps(model, read).flatten(0, 1).numpy())
        for head, look in zip(expected, found["looks"], strict=True):
            for row, weights_of_row in zip(head, look, strict=True):
                np.testing.assert_allclose(weights_of_row, row, atol=TOLERANCE)


@pytest.mark.parametrize("block", [0, 1])
def test_even_looks_are_those_of_the_course(weights: bytes, tmp_path: Path, block: int) -> None:
    model, tokens = from_bytes(weights)
    found = in_the_page(weights, [*TEXTS], tmp_path, (block,))
    for text, one in zip(TEXTS, found, strict=True):
        ids = tokens.encode(text)[None]
        own = model(ids)[0, -1]
        with instead(EvenLook, model, block):
            expected = model(ids)[0, -1]
        np.testing.assert_allclose(one["logits"], expected, atol=TOLERANCE)
        assert (own - expected).abs().max() > 10 * TOLERANCE
        rows = [row for look in one["looks"][4 * block : 4 * block + 4] for row in look]
        assert all(max(row) == min(row) == pytest.approx(1 / len(row)) for row in rows)


LOGITS = np.array([2.0, 1.5, 1.5, 0.0, -1.0, -30.0])
DRAWS = 20_000


class EvenDraws:
    """A generator whose numbers are evenly spaced between 0 and 1."""

    def random(self, shape: tuple[int, ...]) -> np.ndarray:
        return (np.arange(np.prod(shape)).reshape(shape) + 0.5) / np.prod(shape)


@pytest.mark.parametrize("temperature", [0.1, 1.0, 1.9])
@pytest.mark.parametrize("top_k", [1, 3, None])
@pytest.mark.parametrize("top_p", [0.05, 0.6, None])
def test_the_page_transforms_a_distribution_like_the_course(
    temperature: float, top_k: int | None, top_p: float | None
) -> None:
    arguments = [LOGITS.tolist(), temperature, top_k or LOGITS.size, top_p or 1]
    code = (
        f"const {{shaped}} = await import({json.dumps((WEB / 'sampling.mjs').as_uri())});"
        f"console.log(JSON.stringify(shaped(...{json.dumps(arguments)})));"
    )
    command = ["node", "--input-type=module", "--eval", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    page_shares = np.array(json.loads(done.stdout))
    rows = np.tile(LOGITS, (DRAWS, 1))
    drawn = sample_next(rows, temperature, top_k, top_p, EvenDraws())  # type: ignore[arg-type]
    course_shares = np.bincount(drawn, minlength=LOGITS.size) / DRAWS
    padded = np.pad(page_shares, (0, LOGITS.size - page_shares.size))
    np.testing.assert_allclose(padded, course_shares, rtol=0, atol=2 / DRAWS)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, weights: bytes) -> Iterator[Any]:
    folder: Path = tmp_path_factory.mktemp("writer")
    model, tokens = make(folder, weights)
    with serving(folder) as address:
        yield address, model, tokens


@pytest.fixture(scope="module")
def address(site: Any) -> str:
    return site[0]


Visit = Callable[..., Any]


@pytest.fixture
def visit(reader: Callable[..., Reader]) -> Visit:
    def open_page(mode: str = "light", **options: Any) -> Page:
        person = reader(**MODES[mode], **options)
        page: Any = person.open("index.html")
        page.person = person
        return page

    return open_page


def begin(page: Page) -> Locator:
    place = page.locator(".writer")
    place.get_by_role("button", name="Run the model here").click()
    expect(place.get_by_label("Begin with")).to_be_visible()
    return place


def words(place: Locator) -> list[str]:
    return place.locator(".look-words label").all_inner_texts()


@pytest.mark.parametrize("mode", MODES)
def test_axe_finds_no_violation_before_and_after_use(visit: Visit, mode: str) -> None:
    page = visit(mode)
    assert page.person.violations(page, ".writer") == []
    place = begin(page)
    place.get_by_role("button", name="Write ten").click()
    assert page.person.violations(page, ".writer") == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.person.foreign == page.person.errors == []


def test_without_scripts_there_are_two_tables(visit: Visit) -> None:
    page = visit(java_script_enabled=False)
    captions = page.locator(".writer caption").all_inner_texts()
    assert captions == [
        "The likeliest tokens after “The weights of a”",
        f"Where each head looks most from its last token, “{last_token()}”",
    ]
    assert page.locator(".writer button").count() == 0


def last_token() -> str:
    _, tokens = from_bytes(untaught(5))
    return tokens.decode(tokens.encode(TEXTS[0])[-1:]).replace(" ", "␣")


def test_the_kept_readings_need_no_model(visit: Visit) -> None:
    page = visit()
    place = page.locator(".writer")
    first = place.locator("svg text").all_text_contents()
    looks = place.locator(".writer-heads td").all_inner_texts()
    place.get_by_role("radio", name=TEXTS[1]).check()
    assert place.locator("svg text").all_text_contents() != first
    assert place.locator(".writer-heads td").all_inner_texts() != looks
    requested = page.evaluate("performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert not [url for url in requested if url.endswith(".model")]


def shown(place: Locator) -> tuple[list[str], list[float]]:
    """Return the names and the numbers of a figure's bars and heads."""
    texts = place.locator("svg text").all_text_contents()
    texts += place.locator(".writer-heads td").all_inner_texts()
    numbers = [text for text in texts if text[:2] in ("0.", "1.")]
    return [text for text in texts if text not in numbers], [float(one) for one in numbers]


def test_the_model_shows_what_the_page_kept(visit: Visit) -> None:
    page = visit()
    names, numbers = shown(page.locator(".writer"))
    place = begin(page)
    place.get_by_label("Begin with").fill("x")
    assert shown(place)[0] != names
    place.get_by_label("Begin with").fill(TEXTS[0])
    names_now, numbers_now = shown(place)
    assert names_now == names
    np.testing.assert_allclose(numbers_now, numbers, atol=0.011)


def likeliest_writing(model: GPT, tokens: Tokens, text: str, count: int) -> list[int]:
    ids = tokens.encode(text)
    for _ in range(count):
        ids = torch.cat([ids, model(ids[None])[0, -1:].argmax(dim=-1)])
    return [int(one) for one in ids]


def test_the_likeliest_tokens_are_those_that_pytorch_writes(visit: Visit, site: Any) -> None:
    _, model, tokens = site
    page = visit()
    place = begin(page)
    place.get_by_label("Begin with").fill("the query")
    slider = place.get_by_role("slider", name="Top-k")
    slider.press("Home")
    place.get_by_role("button", name="Write a token").click()
    place.get_by_role("button", name="Write ten").click()
    written = likeliest_writing(model, tokens, "the query", 11)
    names = [tokens.decode(torch.tensor([one])) for one in written]
    found = words(place)
    assert len(found) == len(names)
    plain = [(name, word) for name, word in zip(names, found, strict=True) if name.isascii()]
    assert all(word.endswith(name.strip()) for name, word in plain if name.isprintable())
    own = place.locator(".writer-own").count()
    assert own == 11
    place.get_by_role("button", name="Back to the beginning").click()
    assert len(words(place)) == len(names) - 11


def test_the_positions_run_out(visit: Visit) -> None:
    place = begin(visit())
    ten = place.get_by_role("button", name="Write ten")
    for _ in range(7):
        if ten.is_enabled():
            ten.click()
    assert len(words(place)) == 64
    assert ten.is_disabled()
    expect(place.get_by_text("there are no more positions")).to_be_visible()
    place.get_by_label("Begin with").fill("the " * 80)
    assert len(words(place)) == 63
    expect(place.get_by_text("64 positions")).to_be_visible()
    place.get_by_label("Begin with").fill("")
    expect(place.get_by_text("needs something")).to_be_visible()


def test_figure_works_by_keyboard_alone(visit: Visit) -> None:
    page = visit("phone")
    place = page.locator(".writer")
    place.get_by_role("button", name="Run the model here").focus()
    page.keyboard.press("Enter")
    field = place.get_by_label("Begin with")
    expect(field).to_be_visible()
    field.focus()
    page.keyboard.press("End")
    page.keyboard.type(" key")
    assert "".join(words(place)).endswith("key")
    place.locator(".look-words input:checked").focus()
    page.keyboard.press("ArrowLeft")
    told = place.locator(".writer-told")
    first = told.inner_text()
    place.locator(".writer-heads input:checked").focus()
    page.keyboard.press("ArrowDown")
    assert told.inner_text() != first
    assert told.inner_text().startswith("Block 1, head 2")


def swayed(model: GPT, tokens: Tokens) -> str:
    """Return a text after which an even look of block 2 changes the likeliest token."""
    for number in range(500):
        ids = tokens.encode(f"a key of {number}")[None]
        with instead(EvenLook, model, 1):
            even = model(ids)[0, -1]
        if even.argmax() != model(ids)[0, -1].argmax():
            return f"a key of {number}"
    raise AssertionError("block 2 changes nothing")


def test_even_looks_are_switched_and_the_tasks_marked(visit: Visit, site: Any) -> None:
    page = visit()
    place = begin(page)
    marks = place.locator(".play-mark")
    assert [mark.get_attribute("aria-label") for mark in marks.all()] == ["to do", "to do"]
    names, numbers = shown(place)
    first = place.get_by_role("checkbox", name="Block 1 looks evenly")
    first.check()
    assert shown(place) != (names, numbers)
    assert "of the probability moves" in place.inner_text()
    assert place.locator(".writer-heads tbody tr").first.inner_text().count("0.09") == 2
    assert "evenly at the tokens so far" in place.locator(".writer-told").inner_text()
    first.uncheck()
    assert shown(place) == (names, numbers)
    assert "of the probability moves" not in place.inner_text()
    assert marks.first.get_attribute("aria-label") == "to do"
    place.get_by_role("checkbox", name="Block 2 looks evenly").check()
    assert marks.first.get_attribute("aria-label") == "solved"
    assert marks.last.get_attribute("aria-label") == "to do"
    place.get_by_label("Begin with").fill(swayed(*site[1:]))
    assert "another one" in place.inner_text()
    assert marks.last.get_attribute("aria-label") == "solved"


def test_pointing_at_a_token_shows_its_looks(visit: Visit) -> None:
    page = visit()
    place = page.locator(".writer")
    before = place.locator(".writer-heads td").all_inner_texts()
    place.locator(".look-words label").first.hover()
    looks = place.locator(".writer-heads td").all_inner_texts()
    assert looks != before
    assert "itself" in looks[0]
    assert looks[1] == "1.00"


@pytest.mark.parametrize("body", [None, b"\x1f\x8b cut off"])
def test_failed_download_is_reported_and_can_be_retried(visit: Visit, body: bytes | None) -> None:
    page = visit()
    if body is None:
        page.route("**/*.model", lambda route: route.abort())
    else:
        page.route("**/*.model", lambda route: route.fulfill(body=body))
    start = page.locator(".writer").get_by_role("button", name="Run the model here")
    start.click()
    expect(page.locator(".writer .live-go [role=status]")).to_contain_text("did not arrive")
    page.unroute("**/*.model")
    begin(page)
