"""An untrained translator for tests that read or change where it looks."""

import pytest
import torch
from few_pairs import TASK

from solutions.translators.recurrent import AttentionDecoder, Encoder
from solutions.translators.seq2seq import Seq2Seq


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    source, target = map(len, (TASK.source_vocabulary, TASK.target_vocabulary))
    model = Seq2Seq(Encoder(source, 32), AttentionDecoder(target, 64, 32))
    with torch.no_grad():
        model.decoder.v.weight.mul_(30)  # gives the decoder peaked weights
        model.decoder.read_out.to_embedding.weight.mul_(30)  # that change its output
    return model
