"""Let a trained model of chapter 13 write answers: alone, behind padding, and in company."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ...bugs_that_train import PAD, Decoder

Padding = Callable[[int], int]
"""A function from the length of a question with its answer to the padding in front of it."""


def written(
    model: Decoder,
    sequences: list[list[int]],
    padding: Padding = lambda n: 0,
    separators: int = 1,
) -> float:
    """Return the share of answers that the model writes right, token by token.

    Only questions of one length are in a batch. separators: the number of separators behind the
    question.
    """
    right = 0
    for n in sorted({len(one) for one in sequences}):
        whole = torch.tensor([one for one in sequences if len(one) == n])
        question, answer = whole.split(n // 2, dim=1)  # the separator belongs to the question
        front = question.new_full((len(question), padding(n)), PAD)
        again = question[:, -1:].expand(-1, separators - 1)
        said = continued(model, torch.cat([front, question, again], dim=1), answer.shape[1])
        right += int((said == answer).all(dim=1).sum())
    return right / len(sequences)


def in_company(model: Decoder, sequences: list[list[int]], batch: int) -> float:
    """Return the share of right answers if questions of all lengths are written in one batch.

    The shorter questions are padded at the front. What is written behind an answer's end does not
    count.
    """
    right = 0
    for start in range(0, len(sequences), batch):
        some = sequences[start : start + batch]
        questions = [one[: len(one) // 2] for one in some]
        longest = max(map(len, questions))
        tokens = torch.tensor([[PAD] * (longest - len(one)) + one for one in questions])
        said = continued(model, tokens, longest).tolist()
        answers = [one[len(one) // 2 :] for one in some]
        right += sum(row[: len(a)] == a for row, a in zip(said, answers, strict=True))
    return right / len(sequences)


@torch.no_grad()
def continued(model: Decoder, tokens: torch.Tensor, count: int) -> torch.Tensor:
    """Return the `count` likeliest tokens after each row of tokens, one after another."""
    for _ in range(count):
        tokens = torch.cat([tokens, model(tokens)[:, -1:].argmax(-1)], dim=1)
    return tokens[:, -count:]
