"""Test that the drawing of the block has the right parts on the residual path."""

import matplotlib.pyplot as plt

from solutions.drawing.block import encoder_blocks


def test_post_norms_are_on_the_residual_path_and_pre_norms_off_it():
    after, before = encoder_blocks()
    result = [
        [(text.get_position(), text.get_text()) for text in ax.texts] for ax in (after, before)
    ]
    on_path, off_path = ([x == 0 for (x, _), text in texts if text == "norm"] for texts in result)
    assert on_path == [True, True]
    assert off_path == [False, False]
    for texts in result:
        heights = {text: y for (_, y), text in texts}
        assert heights["attention"] < heights["feed-forward"]
    plt.close("all")
