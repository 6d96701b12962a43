"""Train on short sequences, test on long ones: what each way to say a position makes of that.

A sequence holds records, each a letter with a number, and ends with a question. In the task "last"
the question is a letter, and the answer is the number of its latest record: letters come back, and
the order decides. In the task "before" the question is a distance, and the answer is the number
that stands so many places before it. One attention layer reads the sequence at the question; models
differ in nothing but how they learn where a token stands.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from ...positions import linear_bias, sinusoidal_positions

TASKS = ("last", "before")
SCHEMES = ("none", "learned", "sinusoidal", "rotary", "linear bias", "relative")
LETTERS, NUMBERS, DISTANCES = 8, 16, 4
D_MODEL, HEADS, REACH = 64, 4, 8
STEPS, BATCH, RATE = 800, 64, 0.01
SHORTEST, LONGEST = 8, 16  # lengths in training, both included
LENGTHS, TEST = (8, 12, 16, 24, 32, 64, 128), 1000
SHOWN, SHOWN_LENGTH = 3, 64  # the distance and the length whose weights are kept


def sample(batch: int, n: int, task: str, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    """Draw sequences of n records: letters, numbers, the question, and the right answer.

    Returns letters and numbers of shape (batch, n), asked and answer of shape (batch,). In "last"
    `asked` is a letter that is there; in "before" it is LETTERS - 1 plus a distance.
    """
    letters = torch.randint(LETTERS, (batch, n), generator=generator)
    numbers = torch.randint(NUMBERS, (batch, n), generator=generator)
    rows = torch.arange(batch)
    if task == "last":
        asked = letters[rows, torch.randint(n, (batch,), generator=generator)]
        back = (letters == asked[:, None]).flip(1).int().argmax(dim=1) + 1
    else:
        back = torch.randint(1, DISTANCES + 1, (batch,), generator=generator)
        asked = LETTERS - 1 + back
    return letters, numbers, asked, numbers[rows, n - back]


class Reader(nn.Module):
    """Embeddings, one attention layer of HEADS heads, and a linear read-out at the question."""

    waves: torch.Tensor
    bias: torch.Tensor

    def __init__(self, scheme: str) -> None:
        """Build the model with one of SCHEMES; from one seed, all models start with equal weights.

        What a scheme adds is drawn last. "learned" has a row for every position that is ever
        tested. Those beyond the longest training sequence never get a gradient and stay as they
        were drawn: small random numbers.
        """
        super().__init__()
        self.scheme = scheme
        d, n, d_head = D_MODEL, max(LENGTHS) + 1, D_MODEL // HEADS
        self.asked = nn.Embedding(LETTERS + DISTANCES, d)  # letters in records, too
        self.number = nn.Embedding(NUMBERS + 1, d)  # the last one stands for "which number?"
        self.W_q, self.W_k, self.W_v = (nn.Linear(d, d, bias=False) for _ in range(3))
        self.read_out = nn.Linear(d, NUMBERS)
        if scheme == "learned":
            self.rows = nn.Parameter(0.02 * torch.randn(n, d))
        elif scheme == "sinusoidal":
            self.register_buffer("rows", torch.from_numpy(sinusoidal_positions(n, d)).float())
        elif scheme == "rotary":
            waves = torch.from_numpy(sinusoidal_positions(n, d_head)).float()
            self.register_buffer("waves", waves)  # sine and cosine of every angle
        elif scheme == "linear bias":
            self.register_buffer("bias", torch.from_numpy(linear_bias(n, HEADS)).float())
        elif scheme == "relative":
            # a row for each distance, 0 to REACH places back; nothing stands after the question
            self.table = nn.Parameter(0.02 * torch.randn(REACH + 1, d_head))

    def forward(
        self, letters: torch.Tensor, numbers: torch.Tensor, asked: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (batch, NUMBERS) and the question's weights (batch, HEADS, n + 1)."""
        records = self.asked(letters) + self.number(numbers)  # (batch, n, d)
        question = self.asked(asked) + self.number.weight[NUMBERS]  # (batch, d)
        X = torch.cat([records, question[:, None]], dim=1)  # (batch, n + 1, d)
        n = X.shape[1]
        if self.scheme in ("learned", "sinusoidal"):
            X = X + self.rows[:n]
        Q = self._heads(self.W_q(X[:, -1:]))  # only the question's row is read
        K, V = self._heads(self.W_k(X)), self._heads(self.W_v(X))
        if self.scheme == "rotary":
            Q, K = turn(Q, self.waves[n - 1 : n]), turn(K, self.waves[:n])
        scores = Q @ K.transpose(-1, -2)  # (batch, HEADS, 1, n + 1)
        if self.scheme == "relative":
            distance = torch.arange(n).flip(0).clamp(max=REACH)  # how far back each token stands
            scores = scores + (Q @ self.table.T)[..., distance]
        scores = scores / Q.shape[-1] ** 0.5
        if self.scheme == "linear bias":
            scores = scores + self.bias[:, n - 1 : n, :n]
        weights = scores.softmax(dim=-1)
        merged = (weights @ V).transpose(1, 2).flatten(-2)  # (batch, 1, d)
        return self.read_out(merged[:, 0]), weights[:, :, 0]

    def _heads(self, Z: torch.Tensor) -> torch.Tensor:
        return Z.unflatten(-1, (HEADS, -1)).transpose(1, 2)  # (batch, HEADS, n, d_head)


def turn(X: torch.Tensor, waves: torch.Tensor) -> torch.Tensor:
    """Rotate pairs of features, as `positions.rotary` does; waves: (n, d_head), sine and cosine."""
    sine, cosine, first, second = waves[:, ::2], waves[:, 1::2], X[..., ::2], X[..., 1::2]
    pairs = (first * cosine - second * sine, first * sine + second * cosine)
    return torch.stack(pairs, dim=-1).flatten(-2)


@dataclass(frozen=True)
class Run:
    """One training: the loss at its end, length -> accuracy on new sequences, and where it looks.

    looks: for the task "before", the mean weight (over heads and sequences) that the question for
    SHOWN places before gives to distance 0, 1, ... SHOWN_LENGTH; empty for the task "last".
    """

    loss: float
    accuracy: dict[int, float]
    looks: list[float]


def train(scheme: str, task: str, seed: int, steps: int = STEPS) -> Run:
    """Train one model and test it at all LENGTHS; all models of a seed see the same sequences."""
    torch.manual_seed(seed)
    data = torch.Generator().manual_seed(1000 + seed)
    model = Reader(scheme)
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE, fused=True)
    decay = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.02, steps)
    for _ in range(steps):
        n = int(torch.randint(SHORTEST, LONGEST + 1, (), generator=data))
        *inputs, answer = sample(BATCH, n, task, data)
        loss = F.cross_entropy(model(*inputs)[0], answer)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        decay.step()
    return Run(loss.item(), *_test(model, task, seed))


@torch.no_grad()
def _test(model: Reader, task: str, seed: int) -> tuple[dict[int, float], list[float]]:
    accuracy, looks = {}, []
    for n in LENGTHS:
        *inputs, answer = sample(TEST, n, task, torch.Generator().manual_seed(2000 + seed))
        logits, weights = model(*inputs)
        accuracy[n] = (logits.argmax(dim=-1) == answer).float().mean().item()
        if task == "before" and n == SHOWN_LENGTH:
            chosen = weights[inputs[2] == LETTERS - 1 + SHOWN]  # (questions, HEADS, n + 1)
            looks = chosen.mean(dim=(0, 1)).flip(0).tolist()
    return accuracy, looks


def compare_schemes(seed: int) -> dict[tuple[str, str], Run]:
    """Train every scheme on every task."""
    return {(task, scheme): train(scheme, task, seed) for task in TASKS for scheme in SCHEMES}
