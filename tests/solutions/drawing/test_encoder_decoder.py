"""Test the drawing of the encoder and the decoder: its inputs and its predictions."""

import matplotlib.pyplot as plt

from solutions.drawing.encoder_decoder import DECODER, ENCODER, LOSSES, encoder_decoder


def test_the_decoder_reads_the_target_shifted_by_one():
    ax = encoder_decoder(["the", "cat", "sleeps"], ["le", "chat", "dort"])
    texts = [(text.get_position(), text.get_text()) for text in ax.texts]
    rows = {
        height: [text for (x, y), text in sorted(texts) if y == height]
        for height in (ENCODER, DECODER, LOSSES + 0.2)
    }
    assert rows[ENCODER] == ["the", "cat", "sleeps"]
    assert rows[DECODER] == ["[START]", "le", "chat", "dort"]
    assert rows[LOSSES + 0.2] == ["le", "chat", "dort", "[STOP]"]
    plt.close("all")
