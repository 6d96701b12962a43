"""Test the conversation in the terminal: streaming output, and the messages of failures."""

from collections.abc import Iterator, Sequence

import psutil
import pytest
import torch

from solutions.published import talk
from solutions.published.files import PublishedFileError
from solutions.published.smollm2 import CONTEXT


class Bytes:
    """A model whose tokens are bytes, and which answers every question with the same text."""

    def __init__(self, said: str = "déjà vu", asked: int = 5) -> None:
        self.said, self.asked = said, asked
        self.questions: list[list[str]] = []

    def text(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode("utf-8", errors="replace")

    def question(self, turns: Sequence[str]) -> list[int]:
        self.questions.append(list(turns))
        return [0] * (self.asked * len(turns))

    def write(self, ids: Sequence[int], most: int) -> Iterator[int]:
        yield from self.said.encode()


def test_no_character_is_shown_before_it_is_complete():
    model = Bytes()
    shown = list(talk.pieces(model, "déjà".encode()))
    assert "".join(shown) == "déjà"
    assert [piece for piece in shown if piece] == ["d", "é", "j", "à"]
    cut = "dé".encode()[:-1]
    assert "".join(talk.pieces(model, cut)) == "d" + talk.UNFINISHED  # never finished
    assert list(talk.pieces(model, [])) == []


def test_weights_are_as_exact_as_the_memory_allows():
    assert talk.precision(16_000) is torch.float32
    assert talk.precision(talk.NEEDED[torch.float32] - 1) is torch.bfloat16
    with pytest.raises(MemoryError, match="needs 950 MB of memory, but only 300 MB are free"):
        talk.precision(300)


def asking(monkeypatch: pytest.MonkeyPatch, model: Bytes, *lines: str) -> None:
    answers = iter(lines)

    def asked(_: str) -> str:
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", asked)
    monkeypatch.setattr(talk, "SmolLM2", lambda dtype: model)
    talk.main()


def test_a_conversation_continues_and_empty_lines_are_ignored(monkeypatch, capsys):
    model = Bytes("ja")
    asking(monkeypatch, model, "eins?", "  ", "zwei?")
    assert model.questions[-1] == ["eins?", "ja", "zwei?"]
    output = capsys.readouterr().out
    assert output.count("ja\n[2 tokens, ") == 2


def test_an_overlong_conversation_restarts_with_a_notice(monkeypatch, capsys):
    model = Bytes("ja", asked=(CONTEXT - talk.MOST) // 2)
    asking(monkeypatch, model, "eins?", "zwei?")
    assert model.questions[-1] == ["zwei?"]
    assert "A new one begins" in capsys.readouterr().out


def test_a_question_that_is_too_long_is_refused(monkeypatch, capsys):
    asking(monkeypatch, Bytes(asked=CONTEXT), "much too long?")
    assert f"the model reads {CONTEXT:,} tokens" in capsys.readouterr().out


def test_a_missing_file_is_one_line_that_says_what_to_type(monkeypatch):
    def missing(dtype: torch.dtype) -> None:
        raise PublishedFileError("It is not here. Type: pip install it")

    monkeypatch.setattr(talk, "SmolLM2", missing)
    with pytest.raises(SystemExit, match="Type: pip install it"):
        talk.main()


def test_too_little_memory_is_reported_before_loading(monkeypatch):
    little = type("Memory", (), {"available": 10**8})
    monkeypatch.setattr(psutil, "virtual_memory", lambda: little)
    monkeypatch.setattr(talk, "SmolLM2", None)
    with pytest.raises(SystemExit, match="needs 950 MB of memory, but only 100 MB are free"):
        talk.main()
