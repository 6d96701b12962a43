"""The exercise `test_reads_no_answer`: find the leak where only the losses are known.

What `test_reads_no_answer` tells apart: machines that foretell the target, or read it.

Each stands alone: only its own lines reach the process in which it runs. The weights of a machine
are any numbers that differ; row 0 of its table is the token that stands before the first.
"""

import numpy as np
import torch

from autograder.exercise.declaring import Declaration, Kind
from solutions.variants import tests_of_leaks as solutions

from . import test_reads_no_answer_answers

test_reads_no_answer = Declaration(
    solutions.test_reads_no_answer,
    points=5,
    difficulty=4,
    minutes=30,
    kind=Kind.TEST,
    imports=("import torch",),
    help=(
        "You know none of the losses. Put each of the nine tokens at one place of the target, all "
        "else equal, and look at the losses of all places: before it, after it, and there.",
        "Before the place no loss moves; after it every loss does. At the place itself the loss "
        "moves in any case, but exp(-loss) is a probability: what should the nine of them sum "
        "to? Do the same with the source. Then put the sentence into a padded batch.",
        "The leak test in the section “The target, shifted right”.",
    ),
)


test_reads_no_answer.right(test_reads_no_answer_answers.all_sentences)
test_reads_no_answer.right(test_reads_no_answer_answers.one_call_a_sentence)
test_reads_no_answer.right(test_reads_no_answer_answers.by_properties)
plain = test_reads_no_answer.right(test_reads_no_answer_answers.plain)


@test_reads_no_answer.wrong(
    "only that later tokens change nothing",
    "What if a place reads its own answer, or too little? Would anything you look at change?",
)
def later_tokens_only(implementation):
    source, target = torch.tensor([[3, 1, 4, 1]]), torch.tensor([[2, 7, 1, 8]])
    before = implementation(source, target)
    for place in range(4):
        changed = target.clone()
        changed[0, place] = 10 - changed[0, place]
        after = implementation(source, changed)
        assert torch.allclose(before[:, :place], after[:, :place], atol=1e-4)


test_reads_no_answer.wrong(
    "the place itself is not tested",
    "You change every token but the one whose loss you read. How would a machine that has read "
    "that token give itself away, if you tried all nine?",
    plain.edit("assert abs(float(torch.exp(-losses[:, place]).sum()) - 1) < 1e-4", ""),
)
test_reads_no_answer.wrong(
    "checks what is hidden, never what is seen",
    "A machine that reads nothing has no leak. Would your test accept it?",
    plain.edit(
        "assert (moved[place + 1 :] > 1e-4).all()\n"
        "tried = source.repeat(9, 1)\n"
        "tried[:, place] = torch.arange(1, 10)\n"
        "assert (implementation(tried, target.expand(9, 4)).std(dim=0) > 1e-4).all()",
        "",
    ),
)
test_reads_no_answer.wrong(
    "no padding, and no company",
    "Batches are padded. Does a sentence have the same losses there as alone?",
    plain.edit(
        """\
sources = torch.tensor([[3, 1, 4, 1, 0], [5, 9, 2, 6, 5]])
targets = torch.tensor([[2, 7, 1, 8, 0], [2, 8, 1, 8, 2]])
alone, together = implementation(source, target)[0], implementation(sources, targets)[0]
assert (together - torch.cat((alone, 0 * alone[:1]))).abs().max() < 1e-4""",
        "",
    ),
)


@test_reads_no_answer.wrong(
    "only that the loss is not too low",
    "A machine that leaks at one place, or that reads too little, has a loss like any other. "
    "What else do you know about the losses of a right one?",
)
def _(implementation):
    generator = torch.Generator().manual_seed(0)
    sources, targets = torch.randint(1, 10, (2, 64, 5), generator=generator)
    assert float(implementation(sources, targets).mean()) > np.log(9)


test_reads_no_answer.wrong(
    "equal to nine digits",
    "How many digits does a float32 number have? What if the terms of a sum are added in another "
    "order?",
    plain.edit("1e-4", "1e-9", times=5),
)
boolean_masks = test_reads_no_answer.accepts(
    "attention with boolean masks", test_reads_no_answer_answers.boolean_masks
)
test_reads_no_answer.accepts(
    "masks that are added, in float64",
    test_reads_no_answer_answers.added_masks,
    holds=("float32 or float64",),
)
test_reads_no_answer.accepts(
    "place by place, without padding",
    test_reads_no_answer_answers.place_by_place,
    holds=("The machine is unknown",),
)
test_reads_no_answer.accepts(
    "a recurrent network",
    test_reads_no_answer_answers.recurrent,
    holds=("It is called `implementation(sources, targets)`",),
)
test_reads_no_answer.accepts(
    "sums, in float64",
    test_reads_no_answer_answers.sums,
    holds=("float32 or…", "may differ in the fifth digit"),
)


@test_reads_no_answer.rejects(
    "the targets are not shifted", holds=("makes the decoder's inputs and all masks", "sum to 1")
)
def not_shifted(sources, targets):
    table = torch.sin(7.0 * torch.arange(80.0).reshape(10, 8))
    X, Y = table[sources], table[targets]
    padding = (sources == 0)[:, None]
    later = torch.ones(Y.shape[1], Y.shape[1], dtype=torch.bool).triu(1)
    Y = Y + (Y @ Y.mT / 8).masked_fill(later, -torch.inf).softmax(dim=-1) @ Y
    Y = Y + (Y @ X.mT / 8).masked_fill(padding, -torch.inf).softmax(dim=-1) @ X
    losses = -(Y @ table[1:].T / 4).log_softmax(dim=-1)
    losses = losses.gather(-1, (targets - 1).clamp(min=0)[..., None])[..., 0]
    return losses.masked_fill(targets == 0, 0)


shifted = not_shifted.edit(
    "table[targets]", "table[torch.cat((0 * targets[:, :1], targets[:, :-1]), dim=1)]"
)
test_reads_no_answer.rejects(
    "the last token stands where the start should",
    not_shifted.edit(
        "X, Y = table[sources], table[targets]",
        "last = targets.gather(1, (targets > 0).sum(dim=1, keepdim=True) - 1)\n"
        "X, Y = table[sources], table[torch.cat((last, targets[:, :-1]), dim=1)]",
    ),
)
test_reads_no_answer.rejects(
    "the causal mask lets one place too many through",
    shifted.edit("triu(1)", "triu(2)"),
    holds=("sum to 1",),
)
test_reads_no_answer.rejects(
    "a place sees the whole target but its own token",
    shifted.edit(
        "later = torch.ones(Y.shape[1], Y.shape[1], dtype=torch.bool).triu(1)\n"
        "Y = Y + (Y @ Y.mT / 8).masked_fill(later, -torch.inf).softmax(dim=-1) @ Y",
        "hidden = torch.eye(Y.shape[1], dtype=torch.bool) | (targets == 0)[:, None]\n"
        "weights = (Y @ table[targets].mT / 8).masked_fill(hidden, -1e9).softmax(dim=-1)\n"
        "Y = Y + weights.masked_fill(hidden, 0) @ table[targets]",
    ),
    holds=("all tokens of the source and on all those of the target before that place",),
)
test_reads_no_answer.rejects(
    "the second block has no causal mask",
    boolean_masks.edit(
        "X = X + (X @ X.mT / 4).masked_fill(padding, -torch.inf).softmax(dim=-1) @ X\n"
        "for _ in range(2):\n"
        "    Y = Y + (Y @ Y.mT / 8).masked_fill(later, -torch.inf).softmax(dim=-1) @ Y",
        "for hidden in (later, (targets == 0)[:, None]):\n"
        "    Y = Y + (Y @ Y.mT / 8).masked_fill(hidden, -torch.inf).softmax(dim=-1) @ Y",
    ),
)
test_reads_no_answer.rejects(
    "the causal mask hides the token just before, too",
    shifted.edit("triu(1)", "triu(0)").edit(
        "Y + (Y @ Y.mT / 8).masked_fill(later, -torch.inf).softmax(dim=-1) @ Y",
        "(Y @ Y.mT / 8).masked_fill(later, -1e9).softmax(dim=-1).masked_fill(later, 0) @ Y",
    ),
    holds=("all tokens…",),
)
test_reads_no_answer.rejects(
    "the cross-attention sees the source's padding",
    boolean_masks.edit(
        "for _ in range(2):\n"
        "    Y = Y + (Y @ Y.mT / 8).masked_fill(later, -torch.inf).softmax(dim=-1) @ Y\n"
        "    Y = Y + (Y @ X.mT / 8).masked_fill(padding, -torch.inf).softmax(dim=-1) @ X",
        "Y = Y + (Y @ Y.mT / 8).masked_fill(later, -torch.inf).softmax(dim=-1) @ Y\n"
        "Y = Y + (Y @ X.mT / 8).softmax(dim=-1) @ X",
    ),
    holds=("0 for padding",),
)


@test_reads_no_answer.rejects("the cross-attention has a causal mask", holds=("all tokens…",))
def _(sources, targets):
    n, m = sources.shape[1], targets.shape[1]
    table = torch.sin(7.0 * torch.arange(80.0).reshape(10, 8))
    X, Y = table[sources], table[torch.cat((0 * targets[:, :1], targets[:, :-1]), dim=1)]
    later = torch.ones(m, m, dtype=torch.bool).triu(1)
    hidden = torch.ones(m, n, dtype=torch.bool).triu(1) | (sources == 0)[:, None]
    Y = Y + (Y @ Y.mT / 8).masked_fill(later, -torch.inf).softmax(dim=-1) @ Y
    Y = Y + (Y @ X.mT / 8).masked_fill(hidden, -torch.inf).softmax(dim=-1) @ X
    losses = -(Y @ table[1:].T / 4).log_softmax(dim=-1)
    losses = losses.gather(-1, (targets - 1).clamp(min=0)[..., None])[..., 0]
    return losses.masked_fill(targets == 0, 0)


test_reads_no_answer.rejects(
    "the loss counts the target's padding",
    shifted.edit(
        "losses = losses.gather(-1, (targets - 1).clamp(min=0)[..., None])[..., 0]\n"
        "return losses.masked_fill(targets == 0, 0)",
        "return losses.gather(-1, (targets - 1).clamp(min=0)[..., None])[..., 0]",
    ),
    holds=("and 0 at padding",),
)
test_reads_no_answer.rejects(
    "a penalty that leaves later tokens a four-hundredth of their weight",
    shifted.edit("(Y @ Y.mT / 8).masked_fill(later, -torch.inf)", "(Y @ Y.mT / 8 - 6.0 * later)"),
    holds=("all tokens…",),
)
test_reads_no_answer.rejects(
    "no causal mask at all",
    shifted.edit(
        "later = torch.ones(Y.shape[1], Y.shape[1], dtype=torch.bool).triu(1)\n"
        "Y = Y + (Y @ Y.mT / 8).masked_fill(later, -torch.inf).softmax(dim=-1) @ Y",
        "Y = Y + (Y @ Y.mT / 8).softmax(dim=-1) @ Y",
    ),
    shown=False,
    holds=("Raises AssertionError",),
)
test_reads_no_answer.rejects(
    "the first token stands where the start should",
    not_shifted.edit(
        "table[targets]", "table[torch.cat((targets[:, :1], targets[:, :-1]), dim=1)]"
    ),
    shown=False,
    holds=("sum to 1",),
)
test_reads_no_answer.rejects(
    "the encoder sees the source's padding",
    shifted.edit(
        "later = torch.ones(Y.shape[1], Y.shape[1], dtype=torch.bool).triu(1)",
        "later = torch.ones(Y.shape[1], Y.shape[1], dtype=torch.bool).triu(1)\n"
        "X = X + (X @ X.mT / 4).softmax(dim=-1) @ X",
    ),
    shown=False,
    holds=("not on padding, and not on the other rows",),
)
test_reads_no_answer.rejects(
    "only the token just before is read",
    boolean_masks.edit(
        "later = torch.ones(Y.shape[1], Y.shape[1], dtype=torch.bool).triu(1)\n"
        "X = X + (X @ X.mT / 4).masked_fill(padding, -torch.inf).softmax(dim=-1) @ X",
        "",
    ).edit("Y = Y + (Y @ Y.mT / 8).masked_fill(later, -torch.inf).softmax(dim=-1) @ Y", ""),
    shown=False,
    holds=("all tokens…",),
)
test_reads_no_answer.rejects(
    "hidden after the softmax: later tokens still weigh",
    shifted.edit(
        "(Y @ Y.mT / 8).masked_fill(later, -torch.inf).softmax(dim=-1)",
        "(Y @ Y.mT / 8).softmax(dim=-1).masked_fill(later, 0)",
    ),
    shown=False,
)
test_reads_no_answer.rejects(
    "the sentences of a batch see each other",
    shifted.edit(
        "Y = Y + (Y @ X.mT / 8).masked_fill(padding, -torch.inf).softmax(dim=-1) @ X",
        "Y = Y + (Y @ X.mT / 8).masked_fill(padding, -torch.inf).softmax(dim=-1) @ X\n"
        "Y = Y - Y.mean(dim=0) / 2",
    ),
    shown=False,
    holds=("not on padding…",),
)
