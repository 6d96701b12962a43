"""Test chapter 10's measurements on text: tokens, maps, writing, and a bigram's knowledge."""

import numpy as np
import pytest
import torch

from solutions.data.book_text import CHAPTERS, everything, paragraphs, plain, three_parts
from solutions.experiments.gpt_and_bert import counting, mixing, own_words
from solutions.experiments.gpt_and_bert.date_nulls import right
from solutions.experiments.gpt_and_bert.heads import weights_of
from solutions.experiments.gpt_and_bert.in_place import loss_in_place
from solutions.experiments.gpt_and_bert.language_model import (
    CONTEXT,
    MOST_SEEN,
    Corpus,
    begin_small,
    bigram_loss,
    loss_by_sight,
    windows,
)
from solutions.experiments.gpt_and_bert.ranking import BM25
from solutions.experiments.gpt_and_bert.run import twice
from solutions.experiments.gpt_and_bert.search import best_overlap, content_words
from solutions.experiments.gpt_and_bert.tokens import learned
from solutions.gpt_and_bert import GPT
from solutions.transformer_block import EncoderBlock

TEXT = "The weights sum to 1. A café, naïve and ß — the weights of a query.\nNew: 12.5 %\n" * 3


def test_any_text_comes_back_from_its_tokens():
    tokens = learned(TEXT, 40)
    assert len(tokens.pieces) == 256 + len(tokens.merges)
    for text in (TEXT, "日本語 🙂\t\n\r x", ""):
        assert tokens.decode(tokens.encode(text)) == text
    assert len(tokens.encode(TEXT)) < 0.6 * len(TEXT.encode())


def test_invalid_bytes_become_a_replacement_character():
    tokens = learned(TEXT, 0)
    assert tokens.decode(torch.tensor([0xC3, 65])) == "\ufffdA"


def test_the_book_is_read_without_markup_and_code():
    text = "\n".join(text_ for page in CHAPTERS for text_ in everything(page))
    assert len(text) > 150_000
    for markup in ("```", "{doc}", "{cite", "{glue", ":tags:", "import numpy", "alt:", "**"):
        assert markup not in text, markup
    prose = {paragraph for page in CHAPTERS for paragraph in paragraphs(page)}
    assert len(prose) > 300
    assert min(map(len, prose)) >= 60
    assert plain("See {doc}`chapter 8 <x>` {cite:p}`a`, *so* `d_k`.") == "See chapter 8, so d_k."


def test_training_text_is_in_no_other_part():
    train, tuning, validation = (set(part.strip().split("\n")) for part in three_parts())
    assert min(len(tuning), len(validation)) > 30
    assert len(train) > 15 * len(validation)
    assert len(train | tuning | validation) == sum(map(len, (train, tuning, validation)))


def test_a_small_initial_block_adds_little_and_is_otherwise_unchanged():
    torch.manual_seed(0)
    blocks = torch.nn.ModuleList([EncoderBlock(6, 2, 5, norm="pre")])
    drawn = {name: tensor.clone() for name, tensor in blocks[0].state_dict().items()}
    X = torch.randn(1, 4, 6)
    before = (blocks[0](X) - X).norm()
    begin_small(blocks)
    assert (blocks[0](X) - X).norm() < before / 5
    changed = {
        n for n, tensor in blocks[0].state_dict().items() if not torch.equal(tensor, drawn[n])
    }
    assert changed == {
        f"{part}.{kind}"
        for part in ("attention.W_o", "feed_forward.W_2")
        for kind in ("weight", "bias")
    }


def test_maps_are_what_a_block_attends_with():
    torch.manual_seed(0)
    block = EncoderBlock(6, 2, 5, norm="pre").double()
    X = torch.randn(1, 4, 6).double()
    mask = torch.ones(4, 4, dtype=torch.bool).tril()
    weights, attention = weights_of(block, X, mask), block.attention
    values = attention.W_v(block.norm_1(X)).unflatten(-1, (2, 3)).transpose(1, 2)
    result = attention.W_o((weights @ values).transpose(1, 2).flatten(-2))
    torch.testing.assert_close(result, attention(block.norm_1(X), mask=mask))


def test_a_bigram_depends_only_on_the_previous_token():
    generator = torch.Generator().manual_seed(0)
    cycle = torch.arange(6).repeat(200)
    assert bigram_loss(cycle, cycle[:60], cycle[:120], 6) < 0.05
    noise = torch.randint(6, (3000,), generator=generator)
    assert bigram_loss(noise[:2000], noise[2000:2500], noise[2500:], 6) == pytest.approx(
        np.log(6), abs=0.06
    )


class SeesTheTokenBefore(torch.nn.Module):
    """A model that is sure that each token repeats the token two places earlier."""

    def forward(self, tokens):
        before = torch.cat([tokens[:, :1] * 0, tokens[:, :-1]], dim=-1)
        return 100.0 * torch.nn.functional.one_hot(before, 3)


def test_loss_by_context_limits_the_visible_tokens():
    text = torch.tensor([1, 2] * 30)
    assert loss_by_sight(SeesTheTokenBefore(), text, 2) == pytest.approx(0)
    assert loss_by_sight(SeesTheTokenBefore(), text, 1) == pytest.approx(100)


def test_windows_lie_end_to_end():
    assert windows(torch.arange(10), 4).tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_overlap_counts_only_content_words():
    texts = ["It is what it is.", "The scores, and the softmax of the scores.", "A softmax."]
    assert content_words("What is the softmax of it?") == {"softmax"}
    assert best_overlap("Why is the softmax of scores what it is?", texts) == 1


def test_an_n_gram_begins_anew_in_each_window():
    tokens = learned("ab", 0)
    ids = torch.tensor([0, 0, 1]).repeat(CONTEXT)  # a a b a a b ...
    text = Corpus(tokens, ids, ids, ids, len(ids))
    two, three = (counting.anew(text, ids, order, weight=1.0) for order in (2, 3))
    assert three.shape == (3, CONTEXT - 1)
    np.testing.assert_allclose(three[:, 0], two[:, 0])  # only one token is in view
    assert three[:, 1:].mean() > two[:, 1:].mean() + 0.1


class Copies(torch.nn.Module):
    """A model that is sure that each token repeats what stood half a window earlier."""

    def forward(self, tokens):
        half = CONTEXT // 2
        after = torch.cat([tokens[:, :1].repeat(1, half - 1), tokens[:, : half + 1]], dim=1)
        return 50.0 * torch.nn.functional.one_hot(after, 5)


def test_a_passage_written_twice_costs_a_copier_nothing_the_second_time():
    text = torch.randint(5, (4 * CONTEXT,), generator=torch.Generator().manual_seed(0))
    first, second = twice(Copies(), text)
    assert first > 20
    assert second == pytest.approx(0, abs=1e-4)


def test_bm25_prefers_rare_words_and_short_texts():
    long = "A yak. " + "Many other words. " * 20
    texts = ["Tokens and tokens and tokens.", "Tokens of a yak.", long]
    ranking = BM25(texts)
    assert ranking.best("Where is the yak?") == 1
    assert ranking.best("Which tokens?") == 0


def test_a_vector_is_sorted_by_its_nearest_other_one():
    vectors = torch.tensor([[1.0, 0.0], [9.0, 1.0], [0.0, 1.0], [0.5, 1.1]])
    assert right(vectors, "aabb") == 1
    assert right(vectors, "abab") == 0


def test_models_that_know_different_tokens_are_better_mixed():
    logs = np.log(np.array([[0.9, 0.1] * 8]))
    one = mixing.Scored(logs, logs)
    other = mixing.Scored(logs[:, ::-1], logs[:, ::-1])
    assert mixing.mixture(one, other) == mixing.Mixture(0.5, pytest.approx(np.log(2)))
    assert mixing.mixed(0.5, logs, logs) == pytest.approx(-logs.mean())  # with itself
    worse = mixing.Scored(logs - 2, logs)  # on the tuning text alone, which decides
    assert mixing.mixture(worse, one).share == min(mixing.SHARES)


def test_short_views_are_read_at_the_last_positions_and_the_table_comes_back():
    torch.manual_seed(0)
    model = GPT(5, d_model=8, n_heads=2, d_ff=8, n_layers=1, max_len=CONTEXT)
    table = model.positions.weight.clone()
    text = torch.randint(5, (200,))
    found = loss_in_place(model, text, 4)
    assert torch.equal(model.positions.weight, table)
    with torch.no_grad():
        model.positions.weight[:4] = table[MOST_SEEN - 4 : MOST_SEEN]
    assert loss_by_sight(model, text, 4) == pytest.approx(found)
    assert loss_in_place(model, text, MOST_SEEN) == loss_by_sight(model, text, MOST_SEEN)


def test_queries_in_the_books_own_words_are_whole_sentences():
    whole = "The scores go through a softmax row by row."
    text = [f"{whole} Short one. It is what it is, and so it is. Here $x$ is a score of queries."]
    assert own_words.sentences_of(text) == [whole]
    queries = own_words.chosen()
    assert len(set(queries)) == len(queries) == 9 * own_words.A_CHAPTER
    keys = own_words.keywords(whole, np.random.default_rng(0)).split()
    assert len(set(keys)) == own_words.KEYWORDS
    assert set(keys) <= set(whole.lower().rstrip(".").split())
