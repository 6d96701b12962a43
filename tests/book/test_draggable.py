"""Test the figures whose parts a reader moves: the numbers shown are those of the course's code."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from playwright.sync_api import CDPSession, Locator, Page
from site_tools import AXE, MODES, ROOT, RUN_AXE, Reader
from test_hard_conditions import FORBIDDEN

from solutions.alignment import softmax
from solutions.data.sentence import TOKENS, embed
from solutions.positions import BASE, frequencies, stretched_frequencies
from solutions.queries_keys_values import (
    causal_mask,
    project_qkv,
    scaled_dot_product_attention,
)
from solutions.self_attention import dot_product_scores, self_attention

START = np.array([[2.0, 0.0], [1.0, 1.0], [-1.0, 1.0]])
CAT, SAT, ON = TOKENS.index("cat"), TOKENS.index("sat"), TOKENS.index("on")
FIGURES = {
    "self_attention.html": ".arrows",
    "queries_keys_values.html": ".journey",
    "multi_head.html": ".switches",
    "positions.html": ".distances",
    "transformer_block.html": ".stacks",
}
STACKS = json.loads(
    (ROOT / "book/executed/transformer_block/stack_switches.json").read_text("utf-8")
)
CURVES = json.loads((ROOT / "book/executed/positions/distance_curves.json").read_text("utf-8"))
HEADS = json.loads((ROOT / "book/executed/multi_head/head_switches.json").read_text("utf-8"))
MEASURED = np.array(HEADS["accuracy"])  # (subsets, 3): both, own, partner
SIZES = np.array([subset.bit_count() for subset in range(len(MEASURED))])
TEXTS = """(table) => [...table.tBodies[0].rows].map((row) =>
    [...row.querySelectorAll("td:not(.moved)")].map((cell) => cell.textContent))"""


@pytest.fixture
def figure(reader: Callable[..., Reader]) -> Callable[..., Locator]:
    """Open a page and return its figure."""

    def show(name: str, mode: str = "light", **options: object) -> Locator:
        person = reader(**{**MODES[mode], **options})
        return person.open(name).locator(FIGURES[name])

    return show


def texts_in(figure: Locator, kind: str) -> list[list[str]]:
    """Return the texts of the table of a kind."""
    return figure.locator(f"table.{kind}").evaluate(TEXTS)


def numbers(texts: list[list[str]]) -> np.ndarray:
    return np.array([[number(text) for text in row] for row in texts])


def number(text: str) -> float:
    return float(text.replace("\N{MINUS SIGN}", "-"))


def assert_shown(figure: Locator, X: np.ndarray, equal: bool = False) -> np.ndarray:
    """Check every number of the arrows' tables; return the outputs."""
    outputs, weights = self_attention(X)
    if equal:
        weights = np.full((3, 3), 1 / 3)
        outputs = weights @ X
    expected = {
        "inputs": X,
        "scores": dot_product_scores(X),
        "weights": weights,
        "outputs": outputs,
    }
    for kind, values in expected.items():
        assert np.allclose(numbers(texts_in(figure, kind)), values, atol=0.0051), kind
    return outputs


def with_x2(x: float, y: float) -> np.ndarray:
    return np.array([START[0], [x, y], START[2]])


def tip(figure: Locator, i: int) -> Locator:
    return figure.get_by_role("button", name=f"Tip of x{i}")


def solved(figure: Locator) -> list[bool]:
    """Return for each task whether it is marked as solved."""
    labels = figure.locator(".play-mark").evaluate_all("(all) => all.map((node) => node.ariaLabel)")
    return [label == "solved" for label in labels]


def test_arrows_move_by_keyboard_and_the_first_task_is_noticed(figure):
    arrows = figure("self_attention.html")
    assert_shown(arrows, START)
    status = arrows.locator(".play-told")
    assert status.inner_text().startswith("x2 gives 0.47 to x1, 0.47 to itself and 0.06 to x3.")
    tip(arrows, 2).press("ArrowRight")
    tip(arrows, 2).press("ArrowUp")
    assert_shown(arrows, with_x2(1.1, 1.1))
    assert solved(arrows) == [False, False]
    for _ in range(2):
        tip(arrows, 2).press("ArrowDown")
    assert_shown(arrows, with_x2(1.1, 0.9))
    assert solved(arrows) == [True, False]
    assert "Found." in status.inner_text()
    assert float(arrows.locator(".thales").get_attribute("r")) > 0


def without_a_guess(page: Page) -> None:
    """Open the answer to the question that comes before the button "Apply again"."""
    page.locator("#predict-apply-again").get_by_role("button", name="Show without a guess").click()


def test_the_layer_is_applied_again_only_after_a_prediction(figure):
    arrows = figure("self_attention.html")
    again = arrows.get_by_role("button", name="Apply again")
    assert again.count() == 0
    without_a_guess(arrows.page)
    assert again.is_visible()


def test_length_equal_weights_and_again(figure):
    arrows = figure("self_attention.html")
    without_a_guess(arrows.page)
    length = arrows.get_by_role("slider", name="Length of all arrows")
    for _ in range(5):
        length.press("ArrowRight")
    X = 1.5 * START
    assert_shown(arrows, X)
    again = arrows.get_by_role("button", name="Apply again")
    again.press("Enter")
    X = self_attention(X)[0]
    assert_shown(arrows, X)
    arrows.get_by_role("checkbox", name="Equal weights").press("Space")
    mean = assert_shown(arrows, X, equal=True)
    again.press("Enter")
    assert_shown(arrows, mean, equal=True)
    assert "applied 2 times" in arrows.inner_text()
    length.press("Home")
    assert_shown(arrows, 0.2 / 1.5 * mean, equal=True)
    length.press("End")
    assert_shown(arrows, 3 / 1.5 * mean, equal=True)
    arrows.get_by_role("button", name="Start again").press("Enter")
    assert_shown(arrows, START)
    assert "applied 0 times" in arrows.inner_text()


def test_five_layers_make_one_token_of_three(figure):
    arrows = figure("self_attention.html")
    without_a_guess(arrows.page)
    X = START
    for _ in range(5):
        arrows.get_by_role("button", name="Apply again").press("Space")
        X = self_attention(X)[0]
    assert_shown(arrows, X)
    assert solved(arrows) == [False, True]
    assert "Three tokens have become one." in arrows.locator(".play-told").inner_text()


def drag(page: Page, handle: Locator, right: float, down: float, narrower: int = 40) -> None:
    """Drag a handle by pixels, with the window getting narrower on the way."""
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + right / 2, y + down / 2, steps=3)
    size = page.viewport_size
    page.set_viewport_size({"width": size["width"] - narrower, "height": size["height"]})
    page.mouse.move(x + right, y + down, steps=3)
    page.mouse.up()


@pytest.mark.parametrize("narrower", [40, 890])
def test_a_tip_dragged_out_of_the_picture_stays_inside(figure, narrower):
    arrows = figure("self_attention.html")
    handle = tip(arrows, 3)
    handle.scroll_into_view_if_needed()
    drag(arrows.page, handle, -2000, -2000, narrower)
    assert_shown(arrows, np.array([START[0], START[1], [-3.0, 2.0]]))
    frame, place = arrows.locator(".arrows-plane").bounding_box(), handle.bounding_box()
    assert place["x"] >= frame["x"] - place["width"] / 2
    assert place["y"] >= frame["y"] - place["height"] / 2
    handle.scroll_into_view_if_needed()
    drag(arrows.page, handle, 120, 60, narrower=0)
    assert numbers(texts_in(arrows, "inputs"))[2, 0] > -3


def test_a_finger_drags_a_tip_and_the_page_does_not_scroll(figure):
    arrows = figure("self_attention.html", "phone", has_touch=True)
    page, handle = arrows.page, tip(arrows, 2)
    handle.scroll_into_view_if_needed()
    finger = page.context.new_cdp_session(page)
    box, unit = handle.bounding_box(), arrows.locator("svg").bounding_box()["width"] / 6.6
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = page.evaluate("scrollY")
    touch(finger, "touchStart", x, y)
    for part in np.linspace(0, 1, 11):
        touch(finger, "touchMove", x + 0.5 * unit * part, y + 2 * unit * part)
    touch(finger, "touchEnd")
    assert page.evaluate("scrollY") == before
    assert_shown(arrows, with_x2(1.5, -1))


def touch(finger: CDPSession, kind: str, *place: float) -> None:
    """Put a finger down, move it, or lift it."""
    points = [dict(zip("xy", place, strict=True))] if place else []
    finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


W_Q = np.array([[0, 0, 0, 2], [0, 0, 0, 0], [0, 0, 0, 0], [0, 2, 0, 0]])
W_K = np.diag([0, 1, 1, 1])
W_V = np.array([[0, 0], [0, 0], [1, 0], [0, 1]])


def assert_journey(
    figure: Locator,
    looks: int,
    W_q: np.ndarray = W_Q,
    W_k: np.ndarray = W_K,
    causal: bool = False,
    divisor: float = 2,
    query: np.ndarray | None = None,
) -> None:
    """Check every number of a word's journey, and the weights of all words."""
    Q, K, V = project_qkv(embed(), W_q, W_k, W_V)
    mask = causal_mask(6) if causal else None
    _, all_weights = scaled_dot_product_attention(Q * 2 / divisor, K, V, mask)
    assert np.allclose(numbers(texts_in(figure, "weights")), all_weights, atol=0.0051)
    if query is not None:
        Q = np.array([*Q[:looks], query, *Q[looks + 1 :]])
    output, weights = scaled_dot_product_attention(Q * 2 / divisor, K, V, mask)
    foot = figure.locator(".matrices tfoot tr").first.locator("td").all_inner_texts()
    assert np.array_equal(np.float64(foot), [*Q[looks], *K[looks], *V[looks]])
    for j, (key, score, divided, weight, value, part) in enumerate(texts_in(figure, "steps")):
        assert np.array_equal(np.float64(key.split()), K[j])
        assert float(score) == Q[looks] @ K[j]
        if causal and j > looks:
            assert divided == "masked"
        else:
            assert float(divided) == float(score) / divisor
        assert abs(float(weight) - weights[looks, j]) < 0.0051
        assert np.array_equal(np.float64(value.split()), V[j])
        assert np.allclose(np.float64(part.split()), weights[looks, j] * V[j], atol=0.0051)
    total = figure.locator(".steps tfoot td").inner_text()
    assert np.allclose(np.float64(total.split()), output[looks], atol=0.0051)


def changed(matrix: np.ndarray, row: int, column: int, value: int) -> np.ndarray:
    result = matrix.copy()
    result[row, column] = value
    return result


def test_the_journey_of_every_word_under_both_switches(figure):
    journey = figure("queries_keys_values.html")
    assert_journey(journey, SAT)
    journey.get_by_role("radio", name="sat").focus()
    journey.page.keyboard.press("ArrowRight")
    assert_journey(journey, ON)
    journey.get_by_role("checkbox", name="Causal mask").press("Space")
    assert_journey(journey, ON, causal=True)
    journey.get_by_role("checkbox", name="Divide the scores").press("Space")
    assert_journey(journey, ON, causal=True, divisor=1)
    for word, token in enumerate(TOKENS):
        journey.get_by_role("radio", name=token).nth(TOKENS[:word].count(token)).check()
        assert_journey(journey, word, causal=True, divisor=1)
    journey.get_by_role("button", name="Start again").press("Enter")
    assert_journey(journey, SAT)


def test_the_task_is_solved_by_keyboard(figure):
    journey = figure("queries_keys_values.html")
    status = journey.locator(".play-told")
    assert solved(journey) == [False, True]
    journey.get_by_role("button", name="W_q: grammar looks for grammar").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "-"):
        journey.page.keyboard.press(key)
    assert_journey(journey, SAT, changed(W_Q, 3, 2, 2))
    assert solved(journey) == [True, False]
    assert "“sat”, “on” and “mat” have moved" in status.inner_text()
    for key in ("+", "ArrowUp", "Enter", "Space"):
        journey.page.keyboard.press(key)
    assert_journey(journey, SAT, changed(W_Q, 2, 2, 2))
    assert solved(journey) == [True, True]
    assert "Solved: “sat” gives “cat” 0.47" in status.inner_text()
    journey.get_by_role("button", name="Start again").press("Enter")
    assert_journey(journey, SAT)
    assert solved(journey) == [False, True]


def test_a_key_or_the_query_alone_can_be_changed(figure):
    journey = figure("queries_keys_values.html")
    journey.get_by_role("button", name="W_k: cat-like is found by thing").press("Enter")
    W_k = changed(W_K, 2, 1, 1)
    assert_journey(journey, SAT, W_k=W_k)
    journey.get_by_role("button", name="Query of sat: cat-like").press("+")
    assert_journey(journey, SAT, W_k=W_k, query=np.array([0, 2, 1, 0]))
    assert "W_q gives (0, 2, 0, 0)" in journey.locator(".play-told").inner_text()
    journey.get_by_role("radio", name="cat").check()
    assert_journey(journey, CAT, W_k=W_k)


def test_a_number_of_the_journey_never_leaves_its_range(figure):
    journey = figure("queries_keys_values.html")
    cell = journey.get_by_role("button", name="W_q: cat-like looks for cat-like")
    for key, value in (("-", 2), ("+", 0), ("7", 0), ("x", 0), ("Backspace", 0), ("Delete", 0)):
        cell.press(key)
        assert_journey(journey, SAT, changed(W_Q, 2, 2, value))
    query = journey.get_by_role("button", name="Query of sat: cat-like")
    query.press("-")
    assert_journey(journey, SAT, query=np.array([0, 2, 4, 0]))
    query.press("+")
    assert_journey(journey, SAT, query=np.array([0, 2, 0, 0]))


def test_a_window_resized_during_a_press_leaves_the_journey_whole(figure):
    journey = figure("queries_keys_values.html")
    page = journey.page
    cell = journey.get_by_role("button", name="W_q: cat-like looks for cat-like")
    for width in (390, 1280):
        cell.scroll_into_view_if_needed()
        box = cell.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.set_viewport_size({"width": width, "height": 844})
        page.mouse.up()
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        journey.get_by_role("button", name="Start again").click()
        assert_journey(journey, SAT)
        cell.click()
        assert_journey(journey, SAT, changed(W_Q, 2, 2, 1))
        journey.get_by_role("button", name="Start again").click()


@pytest.mark.parametrize("script", ["", FORBIDDEN])
def test_the_task_is_solved_by_touch_and_without_storage(reader, script):
    person = reader(**MODES["phone"], has_touch=True, is_mobile=True)
    person.context.add_init_script(script)
    journey = person.open("queries_keys_values.html").locator(".journey")
    cell = journey.get_by_role("button", name="W_q: cat-like looks for cat-like")
    for _ in range(2):
        cell.tap()
    assert_journey(journey, SAT, changed(W_Q, 2, 2, 2))
    assert solved(journey) == [True, True]
    journey.locator("label", has_text="on").last.tap()
    journey.locator("label", has_text="Causal mask").tap()
    assert_journey(journey, ON, changed(W_Q, 2, 2, 2), causal=True)
    journey.get_by_role("button", name="Start again").tap()
    assert_journey(journey, SAT)
    assert person.errors == []


def assert_switched(figure: Locator, on: Iterable[int]) -> None:
    """Check every number shown with these heads on: accuracies, means, and the sentence."""
    heads = sorted(on)
    assert [h for h in range(8) if head(figure, h).is_checked()] == heads
    rows = texts_in(figure, "accuracies")
    expected = MEASURED[sum(1 << h for h in heads)]
    same_size = MEASURED[len(heads) == SIZES]
    assert np.allclose(numbers(rows), np.stack([expected, same_size.mean(axis=0)], 1), atol=0.0051)
    assert f"{len(heads)} of 8 heads on" in figure.inner_text()
    assert figure.locator("th.mean").text_content() == f"mean of {len(same_size)}"
    assert f"{expected[0]:.2f} of the sequences" in figure.locator(".play-told").inner_text()


def head(figure: Locator, h: int) -> Locator:
    return figure.get_by_role("checkbox", name=f"head {h}, looks at")


def test_heads_are_switched_by_keyboard_least_important_first(figure):
    switches = figure("multi_head.html")
    on = set(range(8))
    assert_switched(switches, on)
    assert solved(switches) == [False]
    for h in np.argsort(HEADS["importance"]).tolist():
        head(switches, h).press("Space")
        on.remove(h)
        assert_switched(switches, on)
    head(switches, 5).press("Space")
    assert_switched(switches, {5})
    switches.get_by_role("button", name="All on").press("Enter")
    assert_switched(switches, range(8))


def test_the_fewest_heads_that_are_enough_solve_the_task(figure):
    switches = figure("multi_head.html")
    fewest = SIZES[MEASURED[:, 0].round(2) >= 0.95].min()
    best = np.where(fewest == SIZES, MEASURED[:, 0], 0).argmax()
    rival = np.where(fewest - 1 == SIZES, MEASURED[:, 0], 0).max()
    on = {h for h in range(8) if best >> h & 1}
    for h in set(range(8)) - on:
        assert solved(switches) == [False]
        assert "fewer heads would do it." in switches.locator(".play-told").inner_text()
        head(switches, h).press("Space")
    assert_switched(switches, on)
    assert solved(switches) == [True]
    told = switches.locator(".play-told").inner_text()
    assert f"Solved with {fewest} heads. Fewer would not do" in told
    assert told.endswith(f"has {rival:.2f}.")


def test_the_mean_of_all_choices_is_shown_on_demand(figure):
    switches = figure("multi_head.html")
    head(switches, 2).press("Space")
    mean = switches.locator("td.mean").first
    assert not mean.is_visible()
    switches.get_by_role("checkbox", name="Compare with the mean").press("Space")
    assert mean.is_visible()
    assert_switched(switches, set(range(8)) - {2})


def test_the_map_is_that_of_the_head_last_touched(figure):
    switches = figure("multi_head.html")
    weights = "(svg) => [...svg.querySelectorAll('.cell')].map((one) => one.style.cssText)"
    for h, map_of_head in enumerate(HEADS["maps"]):
        head(switches, h).focus()
        shown = switches.locator("svg").evaluate(weights)
        values = [float(style.strip(";").split(":")[1]) for style in shown]
        assert np.allclose(values, np.ravel(map_of_head), atol=1e-9)
        assert f"Where head {h} looks" in switches.inner_text()
        assert f"{HEADS['letters'][0]} at " in switches.locator("svg").get_attribute("aria-label")


def stack_of(residual: bool, norm: str, smaller: bool, depth: int) -> dict:
    """Return what was measured on the stack with these switches."""
    switches = {"residual": residual, "norm": norm, "smaller": smaller}
    (stack,) = (one for one in STACKS["stacks"] if switches.items() <= one.items())
    return stack[str(depth)]


def assert_stack(
    figure: Locator, residual: bool, norm: str, smaller: bool, depth: int = 24
) -> None:
    """Check the accuracies shown, the lines, and the sentence."""
    measured = stack_of(residual, norm, smaller, depth)
    assert np.allclose(
        numbers(texts_in(figure, "accuracies"))[:, 0], measured["right"], atol=0.0051
    )
    assert f"{depth} blocks, trained" in figure.inner_text()
    assert f"{max(measured['right']):.2f} at the best rate" in figure.inner_text()
    for kind, low, high in (("size", -6, 6), ("gradient", -8, 10), ("unlike", -4, 0)):
        points = figure.locator(f".stacks-{kind} .chosen").get_attribute("points").split()
        heights = np.float64([point.split(",")[1] for point in points])
        exponents = np.clip(np.log10(measured[kind]), low, high)
        assert len(points) == depth + 1
        assert np.allclose((118 - heights) / 110 * (high - low) + low, exponents, atol=0.01)


def test_stacks_are_switched_by_keyboard_and_both_tasks_can_be_solved(figure):
    stacks = figure("transformer_block.html")
    assert_stack(stacks, True, "none", False)
    assert solved(stacks) == [False, False]
    smaller = stacks.get_by_role("checkbox", name="Smaller first weights")
    smaller.press("Space")
    assert_stack(stacks, True, "none", True)
    assert solved(stacks) == [True, False]
    stacks.get_by_role("radio", name="none").focus()
    stacks.page.keyboard.press("ArrowRight")
    assert_stack(stacks, True, "post", True)
    smaller.press("Space")
    assert_stack(stacks, True, "post", False)
    assert solved(stacks) == [False, True]
    stacks.get_by_role("checkbox", name="Residual").press("Space")
    assert smaller.is_disabled()
    assert_stack(stacks, False, "post", False)
    assert solved(stacks) == [False, True]
    stacks.get_by_role("radio", name="24").focus()
    stacks.page.keyboard.press("ArrowLeft")
    assert_stack(stacks, False, "post", False, depth=6)
    assert solved(stacks) == [False, False]


@dataclass(frozen=True)
class Curve:
    """The score of a head by distance, under the settings of a reader."""

    head: int = 0
    asked: int = 3
    base: float = BASE
    length: int = 64
    method: str = "none"

    def speeds(self) -> np.ndarray:
        """Return the speed of each pair, (rates,)."""
        width, factor = 2 * CURVES["rates"], max(1, self.length / CURVES["trained_length"])
        if self.method == "YaRN":
            assert self.base == BASE
            return stretched_frequencies(width, CURVES["trained_length"], factor, 2)
        if self.method == "larger base":
            return frequencies(width, self.base * factor ** (width / (width - 2)))
        return frequencies(width, self.base) / (factor if self.method == "interpolation" else 1)

    def added(self, distances: np.ndarray, speeds: np.ndarray) -> np.ndarray:
        """Return what each pair adds to the score, (len(distances), rates)."""
        head, usual = CURVES["heads"][self.head], frequencies(2 * CURVES["rates"], CURVES["base"])
        pairs = np.array(head["amplitudes"]) * np.exp(1j * np.array(head["phases"]))  # (rates,)
        within = np.arange(1, CURVES["trained_length"] + 1)
        home = within[(pairs * np.exp(1j * np.outer(within, usual))).real.sum(axis=1).argmax()]
        pairs = pairs * np.exp(-1j * (self.asked - home) * usual)  # the query, turned
        return (pairs * np.exp(1j * np.outer(distances, speeds))).real

    def scores(self) -> np.ndarray:
        """Return the scores of the distances from 0 to one more than the length."""
        return self.added(np.arange(self.length + 2), self.speeds()).sum(axis=1)

    def weights(self) -> np.ndarray:
        """Return the weights of the distances from 1 to the length."""
        factor = max(1, self.length / CURVES["trained_length"])
        scale = (0.1 * np.log(factor) + 1) ** 2 if self.method == "YaRN" else 1
        return softmax(scale * self.scores()[1:-1])

    def peaks(self) -> list[int]:
        """Return the distances of all peaks."""
        usual = frequencies(2 * CURVES["rates"], CURVES["base"])
        least = 0.9 * self.added(np.array([self.asked]), usual).sum()
        scores = self.scores()
        high = (scores[1:-1] > scores[:-2]) & (scores[1:-1] >= scores[2:]) & (scores[1:-1] >= least)
        return (1 + np.flatnonzero(high)).tolist()

    def wrong(self) -> list[int]:
        return [peak for peak in self.peaks() if peak != self.asked]

    def solves(self) -> list[bool]:
        """Return for each task whether these settings solve it."""
        usual = replace(self, base=CURVES["base"], method="none").wrong()
        first = min(self.wrong(), default=np.inf) > min(usual, default=np.inf)
        farther = first and self.asked in self.peaks() and self.method == "none"
        return [self.length >= 64 and farther, self.length >= 64 and len(self.peaks()) == 1]


def assert_curve(figure: Locator, curve: Curve) -> None:
    """Check every number shown of a head, its lines, the tasks, and the sentence."""
    scores, weights, wrong = curve.scores(), curve.weights(), curve.wrong()
    listed = [curve.asked, *wrong[:5]]
    headings = figure.locator(".peaks tbody th").all_inner_texts()
    assert [int(text) for text in headings] == listed
    shown = numbers(texts_in(figure, "peaks"))
    assert np.allclose(shown[:, 0], scores[listed], atol=0.051)
    assert np.allclose(shown[:, 1], weights[np.array(listed) - 1], atol=0.0051)
    highest = 1 + weights.argmax()
    assert f"most at {highest} (weight" in figure.locator(".play-told").last.inner_text()
    assert figure.locator("circle.false").count() == len(wrong)
    assert_pairs(figure, curve, wrong[0] if wrong else curve.asked)
    limit = sum(CURVES["heads"][curve.head]["amplitudes"])
    points = figure.locator(".curve").get_attribute("points").split()
    heights = np.float64([point.split(",")[1] for point in points])[::4]
    assert np.allclose((81 - heights) / 59 * limit, scores[:-1], atol=0.06 / 59 * limit)
    paths = [figure.locator(f".{kind}").get_attribute("d") for kind in ("bars", "wrong-bars")]
    assert [path.count("M") for path in paths] == [curve.length - len(wrong), len(wrong)]
    assert solved(figure) == curve.solves()


def assert_pairs(figure: Locator, curve: Curve, compared: int) -> None:
    """Check the table of the pairs at a distance."""
    assert f"turned at {compared}, against {curve.asked} in training" in figure.inner_text()
    usual = frequencies(2 * CURVES["rates"], CURVES["base"])
    texts = [[cell.replace(",", "") for cell in row] for row in texts_in(figure, "pairs")]
    period, turns, adds, most = numbers(texts).T
    assert np.allclose(period, 2 * np.pi / curve.speeds(), rtol=0.0051)
    angles = compared * curve.speeds() - curve.asked * usual
    assert np.allclose(turns, angles / (2 * np.pi), atol=0.0051)
    assert np.allclose(adds, curve.added(np.array([compared]), curve.speeds())[0], atol=0.051)
    assert np.allclose(most, CURVES["heads"][curve.head]["amplitudes"], atol=0.051)


def setting(figure: Locator, name: str) -> Locator:
    return figure.get_by_role("slider", name=name)


def test_a_head_is_stretched_by_keyboard(figure):
    distances = figure("positions.html")
    curve = Curve()
    assert_curve(distances, curve)
    setting(distances, "Distance asked for").press("End")
    assert_curve(distances, replace(curve, asked=16))
    for key in ("Home", "ArrowRight"):
        setting(distances, "Distance asked for").press(key)
    curve = replace(curve, asked=2)
    assert_curve(distances, curve)
    for key, length in (("End", 256), ("Home", 16), ("ArrowRight", 20)):
        setting(distances, "Length").press(key)
        assert_curve(distances, replace(curve, length=length))
    for key, base in (("Home", 100), ("End", 1e6), ("ArrowLeft", 10**5.9)):
        setting(distances, "Base").press(key)
        assert_curve(distances, replace(curve, length=20, base=base))


def test_every_head_is_stretched_by_every_method(figure):
    distances = figure("positions.html")
    for at, head in enumerate(CURVES["heads"]):
        distances.get_by_role("radio", name=head["name"]).check()
        distances.get_by_role("radio", name="none").focus()
        for method in ("interpolation", "larger base", "YaRN", "none"):
            distances.page.keyboard.press("ArrowRight")
            assert_curve(distances, Curve(head=at, method=method))


def test_both_tasks_on_distances_can_be_solved_by_keyboard(figure):
    distances = figure("positions.html")
    curve = Curve()
    assert curve.solves() == [False, False]
    steps = [at for at in range(1, 21) if Curve(base=10 ** (4 + at / 10)).solves()[0]]
    for _ in range(steps[0]):
        setting(distances, "Base").press("ArrowRight")
    found = Curve(base=10 ** (4 + steps[0] / 10))
    assert_curve(distances, found)
    assert f"has moved to {found.wrong()[0]}" in distances.locator(".play-told").last.inner_text()
    for _ in range(steps[0]):
        setting(distances, "Base").press("ArrowLeft")
    distances.get_by_role("radio", name="none").focus()
    distances.page.keyboard.press("ArrowRight")
    assert_curve(distances, Curve(method="interpolation"))
    assert solved(distances) == [False, True]
    told = distances.locator(".play-told").last.inner_text()
    assert "It is at 12, and you asked for 3." in told


def test_a_value_out_of_range_leaves_the_distances_whole(figure):
    distances = figure("positions.html")
    setting_to = """(input, value) => {
        input.value = value; input.dispatchEvent(new Event("input", { bubbles: true })); }"""
    setting(distances, "Length").evaluate(setting_to, "1000000")
    assert_curve(distances, Curve(length=256))
    setting(distances, "Length").evaluate(setting_to, "-3")
    setting(distances, "Base").evaluate(setting_to, "NaN")  # the browser takes the middle
    assert_curve(distances, Curve(length=16))
    for width in (390, 700, 1280):
        distances.page.set_viewport_size({"width": width, "height": 844})
        assert_curve(distances, Curve(length=16))
        assert distances.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


@pytest.mark.parametrize("script", ["", FORBIDDEN])
def test_a_head_is_stretched_by_touch_and_without_storage(reader, script):
    person = reader(**MODES["phone"], has_touch=True, is_mobile=True)
    person.context.add_init_script(script)
    distances = person.open("positions.html").locator(FIGURES["positions.html"])
    label = distances.locator("label", has_text="larger base")
    assert label.bounding_box()["height"] >= 24
    label.tap()
    assert_curve(distances, Curve(method="larger base"))
    box = setting(distances, "Length").bounding_box()
    setting(distances, "Length").tap(position={"x": box["width"] - 2, "y": box["height"] / 2})
    assert_curve(distances, Curve(method="larger base", length=256))
    assert person.errors == []


def test_heads_keep_their_switches_when_the_window_is_resized(figure):
    switches = figure("multi_head.html")
    head(switches, 2).press("Space")
    for width in (390, 700, 1280):
        switches.page.set_viewport_size({"width": width, "height": 844})
        assert_switched(switches, set(range(8)) - {2})
        assert switches.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert switches.evaluate("(figure) => figure.scrollWidth - figure.clientWidth") <= 0


def test_heads_are_switched_by_touch(figure):
    switches = figure("multi_head.html", "phone", has_touch=True, is_mobile=True)
    on = set(range(8))
    for h in (7, 0):
        label = head(switches, h).locator("xpath=ancestor::label")
        assert label.bounding_box()["height"] >= 24
        label.tap()
        on.remove(h)
        assert_switched(switches, on)
        assert f"Where head {h} looks" in switches.inner_text()
    switches.get_by_role("button", name="All on").tap()
    assert_switched(switches, range(8))


@pytest.mark.parametrize("storage", ["localStorage", "sessionStorage"])
def test_heads_are_switched_where_storage_is_forbidden(reader, storage):
    person = reader(**MODES["light"])
    person.context.add_init_script(f"""Object.defineProperty(window, "{storage}", {{
        get() {{ throw new DOMException("denied", "SecurityError"); }} }});""")
    switches = person.open("multi_head.html").locator(FIGURES["multi_head.html"])
    head(switches, 2).press("Space")
    assert_switched(switches, set(range(8)) - {2})
    assert person.errors == []


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("width", [320, 390])
def test_the_figure_fits_a_phone(figure, name, width):
    shown = figure(name, "phone", viewport={"width": width, "height": 844}, has_touch=True)
    assert shown.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    for part in shown.locator("table, svg, button, input").all():
        box = part.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_figure_is_accessible(figure, name, mode):
    shown = figure(name, mode)
    shown.page.add_script_tag(path=AXE)
    assert shown.page.evaluate(RUN_AXE, FIGURES[name]) == []


@pytest.mark.parametrize("name", FIGURES)
def test_without_scripts_the_figure_is_a_picture_with_its_numbers(figure, name):
    shown = figure(name, java_script_enabled=False)
    if name == "self_attention.html":
        assert_shown(shown, START)
        assert shown.locator("svg").is_visible()
    elif name == "queries_keys_values.html":
        assert_journey(shown, SAT)
    elif name == "transformer_block.html":
        right = stack_of(True, "none", False, 24)["right"]
        assert np.allclose(numbers(texts_in(shown, "accuracies"))[:, 0], right, atol=0.0051)
    elif name == "positions.html":
        curve = Curve()
        rows = numbers(texts_in(shown, "peaks"))
        assert np.allclose(rows[:, 0], curve.scores()[[3, *curve.wrong()[:5]]], atol=0.051)
        assert_pairs(shown, curve, curve.wrong()[0])
    else:
        assert np.allclose(numbers(texts_in(shown, "accuracies"))[:, 0], MEASURED[-1], atol=0.0051)
        without = [float(row[-1]) for row in texts_in(shown, "of-heads")]
        assert np.allclose(without, [MEASURED[255 - 2**h, 0] for h in range(8)], atol=0.0051)
        assert shown.locator(".alone").last.is_visible()
    assert shown.locator("button, input").count() == 0
