"""Test the drawing of an unrolled network: a state for each word, the last of which is c."""

import matplotlib.pyplot as plt

from solutions.drawing.unrolled import UP, unrolled


def test_each_word_has_a_state_and_the_last_is_c():
    ax = unrolled(["the", "cat", "sleeps"])
    texts = [(text.get_position(), text.get_text()) for text in ax.texts]
    rows = {y: [text for (_, height), text in sorted(texts) if height == y] for y in (0, UP)}
    assert rows[UP] == ["the", "cat", "sleeps"]
    assert rows[0] == ["$h_0 = 0$", "$h_1$", "$h_2$", "$h_3$"]
    (c,) = [x for (x, _), text in texts if text == "$= c$"]
    assert c == max(x for (x, y), _ in texts if y == UP)
    plt.close("all")
