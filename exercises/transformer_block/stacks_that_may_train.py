"""The exercise `stacks_that_may_train`: the gradient of the stream, and the tokens at its end."""

import numpy as np
import torch

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import blocks as solutions

stacks_that_may_train = Declaration(
    solutions.stacks_that_may_train,
    points=4,
    difficulty=4,
    minutes=30,
    kind=Kind.TRANSFER,
    help=(
        "First one stack: keep the stream before the first block and after the last. Both are "
        "tensors by which you can ask for the gradient of the loss.",
        "`torch.autograd.grad(loss, (first, last))` returns both gradients, if `first` was made "
        "with `requires_grad_()`. The last stream, less its mean over the tokens, has the norm "
        "that the difference needs.",
        "Section “The stream and its gradient”, and “The tokens”.",
    ),
)


@stacks_that_may_train.right
def by_backward(X, A, stacks, residual, target):
    ratios, differences = [], []
    for matrices, keeps in zip(stacks, residual, strict=True):
        first = torch.tensor(X, requires_grad=True)
        stream = first
        for W in matrices:
            added = (torch.tensor(A) @ stream @ torch.tensor(W)).tanh()
            stream = added + stream * bool(keeps)
        stream.retain_grad()
        ((stream - torch.tensor(target)) ** 2).sum().backward()
        sizes = [np.linalg.norm(np.asarray(one.grad)) for one in (first, stream)]
        ratios.append(sizes[0] / sizes[1])
        end = stream.detach().numpy()
        differences.append(np.linalg.norm(end - end.mean(axis=0)) / np.linalg.norm(end))
    ratios, differences = np.array(ratios), np.array(differences)
    trains = [0.1 <= r <= 10 and d >= 0.1 for r, d in zip(ratios, differences, strict=True)]
    return ratios, differences, np.array(trains, dtype=bool)


@stacks_that_may_train.right
def by_hand(X, A, stacks, residual, target):
    result = np.zeros((3, len(stacks)))
    for s in range(len(stacks)):
        states = [X]
        for W in stacks[s]:
            Y = np.tanh(A @ states[-1] @ W)
            states.append(Y + states[-1] if residual[s] else Y)
        gradient = last = 2 * (states[-1] - target)
        for before, W in zip(states[-2::-1], stacks[s][::-1], strict=True):
            inner = gradient * (1 - np.tanh(A @ before @ W) ** 2)
            gradient = A.T @ inner @ W.T + (gradient if residual[s] else 0)
        result[0, s] = np.sqrt((gradient**2).sum() / (last**2).sum())
        apart = states[-1] - np.mean(states[-1], axis=0, keepdims=True)
        result[1, s] = np.sqrt((apart**2).sum() / (states[-1] ** 2).sum())
    ratios, differences = result[:2]
    healthy = np.abs(np.log10(ratios)) <= 1
    return ratios, differences, healthy & (differences >= 0.1)


@stacks_that_may_train.right
def all_at_once(X, A, stacks, residual, target):
    first = torch.tensor(np.repeat(X[None], len(stacks), axis=0), requires_grad=True)
    keeps = torch.tensor(residual, dtype=torch.float64)[:, None, None]
    stream = first
    for level in torch.tensor(stacks).unbind(dim=1):
        stream = keeps * stream + torch.tanh(torch.tensor(A) @ stream @ level)
    loss = (stream - torch.tensor(target)).pow(2).sum()
    gradients = torch.autograd.grad(loss, (first, stream))
    sizes = [one.flatten(1).norm(dim=1).numpy() for one in gradients]
    end = stream.detach().numpy()
    apart = np.linalg.norm(end - end.mean(axis=1, keepdims=True), axis=(1, 2))
    differences = apart / np.linalg.norm(end, axis=(1, 2))
    ratios = sizes[0] / sizes[1]
    return ratios, differences, ~((ratios < 0.1) | (ratios > 10) | (differences < 0.1))


@stacks_that_may_train.right
def plain(X, A, stacks, residual, target):
    A, target = torch.tensor(A), torch.tensor(target)
    found = []
    for matrices, keeps in zip(torch.tensor(stacks), residual, strict=True):
        states = [torch.tensor(X, requires_grad=True)]
        for W in matrices:
            Y = torch.tanh(A @ states[-1] @ W)
            states.append(states[-1] + Y if keeps else Y)
        loss = (states[-1] - target).square().sum()
        first, last = torch.autograd.grad(loss, (states[0], states[-1]))
        end = states[-1].detach()
        apart = end - end.mean(dim=0)
        found.append(((first.norm() / last.norm()).item(), (apart.norm() / end.norm()).item()))
    ratios, differences = np.array(found).T
    trains = (ratios >= 0.1) & (ratios <= 10) & (differences >= 0.1)
    return ratios, differences, trains


stacks_that_may_train.wrong(
    "the last gradient divided by the first",
    "A gradient vanishes on its way to the first block. Is your ratio then small or large?",
    plain.edit("first.norm() / last.norm()", "last.norm() / first.norm()"),
)
stacks_that_may_train.wrong(
    "the gradient of the matrices in place of the stream's",
    "By what do you differentiate: by the matrices of the first and the last block, or by what "
    "enters the first and leaves the last?",
    plain.edit("for W in matrices:", "matrices.requires_grad_()\nfor W in matrices:").edit(
        "first, last = torch.autograd.grad(loss, (states[0], states[-1]))",
        "(found,) = torch.autograd.grad(loss, matrices)\nfirst, last = found[0], found[-1]",
    ),
)
stacks_that_may_train.wrong(
    "the gradient after the first block",
    "A stack of one block: before it and after it the stream has two gradients. Do you use both?",
    plain.edit("(states[0], states[-1])", "(states[1], states[-1])"),
)
stacks_that_may_train.wrong(
    "the gradient before the last block",
    "After the last block the gradient is twice the stream less the target. Is that what you "
    "divide by?",
    plain.edit("(states[0], states[-1])", "(states[0], states[-2])"),
)
stacks_that_may_train.wrong(
    "the tokens not asked",
    "Let a gradient be of a good size, and let all tokens be equal at the end. Can a read-out tell "
    "one from the other?",
    plain.edit(" & (differences >= 0.1)", ""),
)
stacks_that_may_train.wrong(
    "only a vanishing gradient found",
    "Which of your conditions fails if the gradient grows a thousandfold on its way down?",
    plain.edit(" & (ratios <= 10)", ""),
)
stacks_that_may_train.wrong(
    "the residual in every stack",
    "What does `residual` say of a stack whose entry is False?",
    plain.edit("states[-1] + Y if keeps else Y", "states[-1] + Y"),
)
stacks_that_may_train.wrong(
    "the residual in no stack",
    "What does `residual` say of a stack whose entry is True?",
    plain.edit("states[-1] + Y if keeps else Y", "Y"),
)
stacks_that_may_train.wrong(
    "the tokens do not look at each other",
    "Where does A stand in the formula of a block? Two equal rows of A: which tokens are equal "
    "after a block without a residual?",
    plain.edit("A @ states[-1] @ W", "states[-1] @ W"),
)
stacks_that_may_train.wrong(
    "the difference of the first tokens",
    "Do you measure the tokens that enter the stack, or those that leave it?",
    plain.edit("end = states[-1].detach()", "end = states[0].detach()"),
)
stacks_that_may_train.wrong(
    "the mean over the features",
    "Which mean do you subtract from a token: that of its features, or that of all tokens?",
    plain.edit("end.mean(dim=0)", "end.mean(dim=1, keepdim=True)"),
)
stacks_that_may_train.wrong(
    "the difference not relative",
    "Let the stream grow a thousandfold. Have its tokens become more different, or only larger?",
    plain.edit("apart.norm() / end.norm()", "apart.norm()"),
)


stacks_that_may_train.lets_through("n of 1 refused", "n is at least 2")


@stacks_that_may_train.public
def _(rng):
    yield _case(rng, "four stacks of one block", [(0.3, False), (0.3, True)] * 2, L=1).holds(
        "X: (n, d), the tokens, n at least 2.",
        "A: (n, n), the weights of an attention, the same in every block; its rows sum to 1.",
        "stacks: (S, L, d, d), the matrices of S stacks of L blocks, L at least 1.",
        "residual: (S,), booleans.",
        "A block with the matrix W makes tanh(A X W) of the stream X, and in a stack with a "
        "residual it adds X to that.",
        "target: (n, d); the loss is the sum of the squares of the stream after the last block "
        "less `target`, and not 0.",
        "Returns (ratios, differences, trains), each (S,).",
    )
    yield _case(rng, "gradients that vanish", [(0.3, False), (0.1, False)], L=6).holds(
        "ratios: the norm of the gradient of the loss with respect to the stream before the "
        "first block, divided by that with respect to the stream after the last block."
    )
    yield _growing(rng, "gradients that explode").holds(
        "ratios: the…",
        "trains: True where the ratio is at least 0.1 and at most 10, and the difference at least "
        "0.1.",
    )
    yield _near_the_limits(rng, "ratios near the limits").holds("trains: True…")
    yield _alike(rng, "tokens that become alike").holds(
        "differences: the norm of the last stream's tokens less their mean, divided by the norm "
        "of the last stream.",
        "trains: True…",
    )
    yield _case(rng, "matrices of many sizes", [(0.9, True), (1.2, False)], L=8).holds(
        "ratios: the…"
    )
    yield _case(rng, "some that may train", [(0.05, True), (0.1, True), (0.3, False)], L=5).holds(
        "trains: True…", "A norm is the root of the sum of all squares."
    )
    yield _case(rng, "two tokens, one feature", [(0.5, True), (0.5, False)], L=3, n=2, d=1).holds(
        "X: (n…"
    )
    yield _case(rng, "a stack alone", [(0.2, True)], L=2).holds("stacks: (S…")
    yield _case(rng, "large tokens", [(0.2, True), (0.2, False)], L=2, size=30.0).holds("X: (n…")
    yield _case(rng, "tiny tokens", [(0.4, True), (0.6, False)], L=2, size=1e-13).holds("X: (n…")


@stacks_that_may_train.hidden
def _(rng):
    n, d = (int(size) for size in rng.permutation([3, 4]))
    mixed = [(0.1, True), (0.9, True), (0.3, False), (1.2, False)]
    yield _case(rng, "four stacks", [mixed[at] for at in rng.permutation(4)], L=7, n=n, d=d)
    yield _case(rng, "stacks of one block", [(0.4, True), (0.4, False)], L=1, n=n, d=d)
    yield _case(rng, "gradients that vanish", [(0.2, False), (0.3, False)], L=5, n=n, d=d)
    yield _growing(rng, "gradients that explode", n, d)
    yield _alike(rng, "tokens that become alike", n, d)
    yield _near_the_limits(rng, "ratios near the limits")
    yield _case(rng, "some that may train", [(0.08, True), (0.05, True)], L=6, n=n, d=d)
    yield _case(rng, "two tokens, one feature", [(0.6, True), (0.4, False)], L=2, n=2, d=1)
    yield _case(rng, "a stack alone", [(0.3, True)], L=3, n=n, d=d)
    yield _case(rng, "large tokens", [(0.3, True), (0.2, False)], L=2, n=n, d=d, size=20.0)


def _blend(rng: np.random.Generator, n: int) -> np.ndarray:
    """Draw weights (n, n) with positive entries, whose rows sum to 1."""
    A = rng.uniform(0.2, 1.0, size=(n, n)) + 2 * np.eye(n)
    blend: np.ndarray = A / A.sum(axis=1, keepdims=True)
    return blend


def _turned(rng: np.random.Generator, L: int, d: int, factor: float) -> np.ndarray:
    """Draw a stack of L equal matrices (L, d, d) that turn a token and multiply its length."""
    Q, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return np.repeat(factor * Q[None], L, axis=0)


def _near_the_limits(rng: np.random.Generator, note: str) -> Case:
    """A case with ratios of nearly 0.1 and 10: tokens so small that a block only scales them."""
    X = 1e-6 * rng.normal(size=(3, 4))
    stacks = np.array([[factor * np.eye(4)] for factor in (0.096, 0.104, 9.6, 10.4)])
    return Case(note, (X, np.eye(3), stacks, np.array([False] * 4), 0 * X + 0.5))


def _alike(rng: np.random.Generator, note: str, n: int = 3, d: int = 4) -> Case:
    """A case whose gradient keeps its size, and whose tokens become alike."""
    L = 9
    stacks = np.array([_turned(rng, L, d, 1.0) for _ in range(2)])
    X = 0.05 * (1 + 0.3 * rng.normal(size=(n, d)))
    return Case(note, (X, _blend(rng, n), stacks, np.array([False] * 2), 0 * X + 0.5))


def _growing(rng: np.random.Generator, note: str, n: int = 3, d: int = 4) -> Case:
    """A case whose gradient grows a hundredfold, and whose tokens stay different."""
    L = 9
    stacks = np.array([0.8 * np.repeat(np.eye(d)[None], L, axis=0)] * 2)
    X = 0.0005 * rng.normal(size=(n, d))
    return Case(
        note, (X - X.mean(axis=0), _blend(rng, n), stacks, np.array([True] * 2), 0 * X + 0.5)
    )


def _case(
    rng: np.random.Generator,
    note: str,
    kinds: list[tuple[float, bool]],
    L: int,
    n: int = 3,
    d: int = 4,
    size: float = 1.0,
) -> Case:
    """A case with a stack for each pair of the size of its matrices and its residual."""
    X = size * rng.normal(size=(n, d))
    A = _blend(rng, n)
    stacks = np.array([factor * rng.normal(size=(L, d, d)) for factor, _ in kinds])
    residual = np.array([keeps for _, keeps in kinds])
    return Case(note, (X, A, stacks, residual, size * rng.normal(size=(n, d))))
