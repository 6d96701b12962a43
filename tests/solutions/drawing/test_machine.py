"""Test that the drawing of the whole machine has all its parts in order."""

import matplotlib.pyplot as plt

from solutions.drawing.machine import DECODER, ENCODER, transformer

WAY_IN = [r"embedding $\times\,\sqrt{d_{model}}$", "+ sinusoids"]


def test_each_tower_has_its_parts_from_bottom_to_top():
    texts = transformer().texts
    towers = {
        x: [text.get_text() for text in sorted(texts, key=lambda t: t.get_position()[1])
            if text.get_position()[0] == x]
        for x in (ENCODER, DECODER)
    }  # fmt: skip
    assert towers[ENCODER][:7] == [
        *("Encoder", "source", *WAY_IN),
        *("norm, self-attention", "norm, feed-forward", "last norm"),
    ]
    assert towers[DECODER] == [
        *("Decoder", "target, shifted right", *WAY_IN),
        *("norm, masked self-attention", "norm, cross-attention", "norm, feed-forward"),
        *("last norm", "linear map to logits", "softmax", "cross-entropy", "the loss"),
    ]
    plt.close("all")
