"""The exercise `lora_linear`: one frozen layer, and a small addition for each task."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import filling_gaps as solutions

lora_linear = Declaration(
    solutions.lora_linear,
    points=3,
    difficulty=3,
    minutes=20,
    kind=Kind.TRANSFER,
    help=(
        "All texts go through W. What is added depends on the text: pick the A and the B of its "
        "task first.",
        "`A[task]` is (batch, r, d_in). Multiply X by its transpose, then by that of `B[task]`; "
        "texts without a task get a factor of 0, for -1 would pick the last task.",
        "Section “Weights that others have trained”, part “Fine-tune it, a little”, on the page "
        "about BERT.",
    ),
)


@lora_linear.right
def one_by_one(X, W, A, B, task, alpha):
    out = np.zeros((*X.shape[:2], len(W)), dtype=np.result_type(X, W))
    for number, (text, which) in enumerate(zip(X, task, strict=True)):
        for at, x in enumerate(text):
            out[number, at] = W @ x
            if which >= 0:
                out[number, at] += alpha / A.shape[1] * (B[which] @ (A[which] @ x))
    return out


@lora_linear.right
def merged(X, W, A, B, task, alpha):
    whole = W + alpha / A.shape[1] * (B @ A)  # (k, d_out, d_in)
    whole = np.concatenate([whole, W[None]])  # -1 picks the last one: the frozen weight
    return X @ whole[task].swapaxes(1, 2)


@lora_linear.right
def einsum(X, W, A, B, task, alpha):
    kept = (task >= 0).astype(X.dtype)
    added = np.einsum("bnd,brd,bor,b->bno", X, A[task], B[task], kept)
    return np.einsum("bnd,od->bno", X, W) + alpha / A.shape[1] * added


@lora_linear.right
def plain(X, W, A, B, task, alpha):
    scale = alpha / A.shape[1]
    inner = X @ A[task].swapaxes(1, 2)
    added = inner @ B[task].swapaxes(1, 2) * scale
    return X @ W.T + np.where(task[:, None, None] < 0, 0, added)


lora_linear.wrong(
    "the last task for texts without one",
    "Which element does an index of -1 pick? What should a text without a task get?",
    plain.edit("np.where(task[:, None, None] < 0, 0, added)", "added"),
)
lora_linear.wrong(
    "the first task for all",
    "Two texts with the same tokens and different tasks: may they come out alike?",
    plain.edit("A[task]", "A[task * 0]").edit("B[task]", "B[task * 0]"),
)
lora_linear.wrong(
    "not divided by r",
    "Double r by padding A and B with zeros. Should the additions become twice as large?",
    plain.edit("alpha / A.shape[1]", "alpha"),
)
lora_linear.wrong(
    "divided by the number of tasks",
    "Which axis of A counts the tasks, and which is r?",
    plain.edit("A.shape[1]", "A.shape[0]"),
)
lora_linear.wrong(
    "divided by d_in",
    "The size r is that of the narrow place. Which axis of A is it?",
    plain.edit("A.shape[1]", "A.shape[2]"),
)
lora_linear.wrong(
    "in place of the layer",
    "With a B of zeros, as at the start of training, what should the layer compute?",
    plain.edit("X @ W.T + np.where", "np.where"),
)
lora_linear.wrong(
    "without a task, nothing at all",
    "Does a text without a task go through the frozen layer?",
    plain.edit(
        "X @ W.T + np.where(task[:, None, None] < 0, 0, added)",
        "np.where(task[:, None, None] < 0, 0, X @ W.T + added)",
    ),
)
lora_linear.wrong(
    "task 0 is none",
    "Which number means “no task”, and which one means the first task?",
    plain.edit("[:, None, None] < 0", "[:, None, None] <= 0"),
)
lora_linear.wrong(
    "the frozen layer scaled, too",
    "Set alpha to 0. What should be left?",
    plain.edit(
        "X @ W.T + np.where(task[:, None, None] < 0, 0, added)",
        "alpha / A.shape[1] * (X @ W.T) + np.where(task[:, None, None] < 0, 0, added)",
    ),
)


@lora_linear.public
def _(rng):
    yield _case(rng, "one text, one task", [0], 2, 3, 4, 1, k=1).holds(
        "A token x becomes W x + (alpha / r) B A x, with A and B of its text's task"
    )
    yield _case(rng, "three texts, three tasks", [2, 0, 1], 3, 4, 5, 2).holds(
        "A: (k, r, d_in) and B: (k, d_out, r), r at least 1: what each of k tasks has learned in "
        "addition.",
        "Returns (batch, n, d_out).",
    )
    yield _case(rng, "texts without a task", [-1, 1, -1, 0], 3, 5, 4, 3).holds(
        "task: (batch,), for each text the number of its task, counted from 0, or -1 for none.",
        "and W x without a task.",
    )
    for note in ("two texts", "two other texts"):
        yield _case(rng, note, [1, -1], 3, 4, 5, 2, alpha=6.0)
    yield _case(rng, "no text has a task", [-1, -1], 2, 3, 4, 2).holds("and W x…")
    yield _case(rng, "all sizes equal", [1, 2, 0], 3, 3, 3, 3).holds(
        "W: (d_out, d_in), the frozen weight, as `nn.Linear` stores it."
    )
    yield _case(rng, "as at the start of training, B is 0", [0, 1], 3, 4, 2, 2, zero=True).holds(
        "X: (batch, n, d_in), the texts, n may be 0."
    )
    yield _case(rng, "float32", [1, 0, -1], 4, 6, 5, 2, dtype=np.float32).holds("X: (batch…")
    yield _case(rng, "everything 1", [0], 1, 1, 1, 1, k=1)
    yield _case(rng, "tiny numbers", [1, -1], 3, 4, 3, 2, size=1e-7)
    yield _case(rng, "no token", [0, 1], 0, 4, 3, 2).holds("X: (batch…")
    yield _case(rng, "r is larger than both sides", [2, 1], 2, 2, 3, 5).holds("A: (k…")


@lora_linear.hidden
def _(rng):
    n, d_in, d_out = (int(one) for one in rng.permutation([4, 5, 6]))
    some = rng.permutation([-1, 0, 1, 2]).tolist()
    yield _case(rng, "a text of each task", rng.permutation(3).tolist(), n, d_in, d_out, 2).holds(
        "A token x…"
    )
    yield _case(rng, "one text without a task", some, n, d_in, d_out, 2).holds("task: (batch,)…")
    for note in ("three texts", "three other texts"):
        yield _case(rng, note, [1, -1, 2], n, d_in, d_out, 2, alpha=6.0)
    yield _case(rng, "no text has a task", [-1, -1, -1], n, d_in, d_out, 3)
    yield _case(rng, "all sizes equal", rng.permutation(3).tolist(), 3, 3, 3, 3)
    yield _case(rng, "float32", some, n, d_in, d_out, 3, dtype=np.float32)
    yield _case(rng, "B is 0", some, n, d_in, d_out, 2, zero=True)
    yield _case(rng, "tiny numbers", some, n, d_in, d_out, 2, size=1e-7)
    yield _case(rng, "no token", some, 0, d_in, d_out, 2)


def _case(
    rng: np.random.Generator,
    note: str,
    task: list[int],
    n: int,
    d_in: int,
    d_out: int,
    r: int,
    k: int = 3,
    size: float = 1.0,
    dtype: type = np.float64,
    zero: bool = False,
    alpha: float | None = None,
) -> Case:
    X, W = rng.normal(size=(len(task), n, d_in)) * size, rng.normal(size=(d_out, d_in))
    A, B = rng.normal(size=(k, r, d_in)), rng.normal(size=(k, d_out, r)) * (not zero)
    arrays = [one.astype(dtype) for one in (X, W, A, B)]
    alpha = float(rng.uniform(4, 9)) if alpha is None else alpha
    return Case(note, (*arrays, np.array(task), alpha))
