"""Measure the models that run in a page: their size, their speed, and their agreement with PyTorch.

    PYTHONPATH=tests/book:tests/support:book/_ext python -m tests.benchmarks.live

Writes `_build/bench.json`. `live_kb_worst` is the compressed size of everything that the figures of
the largest page fetch, in kilobytes; `live_captioner_kb` is that of the captioners' figure.
`live_ms_a_word` is the median over 200 sentences in Chromium, including the reading of the source.
`live_logit_error` and `live_translations_that_differ` compare with PyTorch on the same sentences.
For the captioners, these two are about logits, attention weights and captions on 200 pictures.
"""

from __future__ import annotations

import gzip
import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from captioner_in_torch import beside_torch as captioner_beside_torch
from live_in_torch import in_the_page, largest_error, read_case
from playwright.sync_api import Page, sync_playwright
from site_tools import CHROMIUM, FLAGS, ROOT, SITE, serving

from book._ext.course_build.machine import processor
from book._ext.course_captioner import MACHINES as CAPTIONERS
from book._ext.course_captioner import weights_of as captioner_of
from book._ext.course_live import MACHINES, weights_of
from book._ext.live_models import packed
from solutions.data.translation import Pair
from solutions.experiments.captioning.looking import pictures_for
from solutions.translators.keeping import from_bytes
from solutions.translators.machines import CLAUSES, LENGTHS
from solutions.translators.quality import held_out_pairs, translate_pairs
from tests.benchmarks.bench_file import record

WEB = ROOT / "book" / "_web"
WRITE = """async ([name, sources]) => {
    const { Translator } = await import("./live/translating.mjs");
    const { fetched } = await import("./live/weights.mjs");
    const kernel = new Uint8Array(await (await fetch("./learning/product.wasm")).arrayBuffer());
    const translator = new Translator(await fetched(`./${name}.model`), kernel);
    const times = sources.map((source) => {
        const begun = performance.now();
        const words = [...translator.write(source)].length;
        return (performance.now() - begun) / Math.max(words, 1);
    });
    return times.sort((a, b) => a - b)[times.length >> 1];
}"""


def main() -> None:
    """Measure, write and print."""
    pairs = [pair for n in LENGTHS for pair in held_out_pairs("french", n, 40, CLAUSES)]
    errors, differ = {}, {}
    for name in MACHINES:
        errors[name], differ[name] = beside_torch(name, pairs)
    for name in CAPTIONERS:
        differ[name], errors[name] = captioner_beside(name)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for part in ("live", "learning"):
            shutil.copytree(WEB / part, place / part)
        for part in ("parts.mjs", "half.mjs"):
            shutil.copyfile(WEB / part, place / part)
        (place / "index.html").write_text("<!doctype html><title>Live</title>", encoding="utf-8")
        for name in MACHINES:
            (place / f"{name}.model").write_bytes(packed(weights_of(name).read_bytes()))
        with sync_playwright() as playwright, serving(place) as address:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            page = browser.new_page()
            page.goto(f"{address}/index.html")
            measured = {
                "live_kb_worst": round(max(weight(page) for page in pages()), 1),
                "live_captioner_kb": round(weight([*CAPTIONERS], ["captions.mjs"]), 1),
                "live_ms_a_word": {name: speed(page, name, pairs) for name in MACHINES},
                "live_logit_error": errors,
                "live_translations_that_differ": differ,
                "live_machine": f"{processor()}, Chromium {browser.version}",
            }
            browser.close()
    record(measured)
    print(json.dumps(measured, indent=1))


def beside_torch(name: str, pairs: list[Pair]) -> tuple[float, int]:
    """Compare a translator with PyTorch.

    Returns the largest error of a logit, and the number of translations that differ.
    """
    weights = weights_of(name).read_bytes()
    model, task = from_bytes(weights)
    with tempfile.TemporaryDirectory() as folder:
        cases = [read_case(task, pair) for pair in pairs]
        results = in_the_page(weights, cases, Path(folder))
    written = translate_pairs(model, task, pairs)
    differ = sum(tuple(a["words"]) != b for a, b in zip(results, written, strict=True))
    return largest_error(model, task, pairs, results), differ


def captioner_beside(name: str) -> tuple[int, float]:
    """Compare a captioner with PyTorch.

    Returns the number of captions that differ, and the largest error of a logit or weight.
    """
    weights, look = captioner_of(name).read_bytes(), name.removeprefix("captioner_")
    with tempfile.TemporaryDirectory() as folder:
        return captioner_beside_torch(weights, look, pictures_for(0)[:200], Path(folder))


def pages() -> list[list[str]]:
    """Return the names of the models of each page that has any."""
    models = []
    for page in sorted(SITE.glob("*.html")):
        figures = page.read_text(encoding="utf-8").split('<div class="live">')[1:]
        data = [json.loads(figure.split(">", 1)[1].split("</script>")[0]) for figure in figures]
        if data:
            models.append([machine["name"] for figure in data for machine in figure["machines"]])
    return models


def weight(names: list[str], own: Sequence[str] = ("live.mjs", "grammar.json")) -> float:
    """Return the kilobytes that the figures of a page fetch: their `own` files, and some models."""
    live = SITE / "_static" / "live"
    files = [*(live / file for file in own), SITE / "_static" / "learning" / "product.wasm"]
    size = sum(len(gzip.compress(file.read_bytes())) for file in files)
    return (size + sum((live / f"{name}.model").stat().st_size for name in set(names))) / 1000


def speed(page: Page, name: str, pairs: list[Pair]) -> float:
    """Return the milliseconds that a model takes for a word."""
    return round(float(page.evaluate(WRITE, [name, [pair.source for pair in pairs]])), 2)


if __name__ == "__main__":
    main()
