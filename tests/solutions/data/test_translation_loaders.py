"""Test vocabulary, batches, and files of pairs with every possible fault."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from solutions.data.translation import (
    PairsFileError,
    TokenPair,
    Vocabulary,
    load_tatoeba,
    make_batch,
    sample_pairs,
    tokenise,
)
from solutions.data.translation.vocabulary import PAD, START, STOP, UNKNOWN

GOOD = (
    "How do you like the weather today?\tWie finden Sie das Wetter heute?\tCC-BY 2.0 #1 & #2\n"
    "Don't go!\tGeh nicht!\tCC-BY 2.0 #3 & #4\n"
)


@pytest.fixture
def written(tmp_path):
    def write(content):
        path = tmp_path / "pairs.tsv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_a_tatoeba_export_is_read(written):
    assert load_tatoeba(written(GOOD)) == [
        TokenPair(
            ("How", "do", "you", "like", "the", "weather", "today", "?"),
            ("Wie", "finden", "Sie", "das", "Wetter", "heute", "?"),
        ),
        TokenPair(("Don't", "go", "!"), ("Geh", "nicht", "!")),
    ]


@pytest.mark.parametrize(
    "content",
    [
        GOOD.replace("\tCC-BY 2.0 #1 & #2", "").replace("\tCC-BY 2.0 #3 & #4", ""),
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.replace("\n", "\r\n"),
        GOOD.rstrip("\n"),
        GOOD.replace("\n", "\n\n") + "\n",
    ],
    ids=["two columns", "byte order mark", "Windows line ends", "no last line end", "blank lines"],
)
def test_harmless_differences_change_nothing(written, content):
    expected = load_tatoeba(written(GOOD))
    assert load_tatoeba(written(content)) == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "pairs.tsv: the file holds no pairs. Download it again"),
        ("\n \n", "holds no pairs"),
        (GOOD + "Only English.\n", "pairs.tsv, line 3: one column. Separate by tabs"),
        ("1\tGo.\t2\tGeh.\n", "line 1: 4 columns. Separate by tabs"),
        (GOOD + "Go.\t\n", "line 3: the target is empty. Fill it in"),
        (GOOD + "  \tGeh.\n", "line 3: the source is empty. Fill it in"),
        (
            GOOD.encode() + "Four.\tFünf.\n".encode("latin-1"),
            "line 3: byte 0xfc is not UTF-8. Save",
        ),
        (GOOD.encode("utf-16"), "line 1: this is UTF-16. Save the file as UTF-8"),
        (GOOD.encode() + b"Go.\tGe\0h.\n", "line 3: a zero byte; the file is damaged"),
        (b"PK\x03\x04rest of an archive", "this is an archive. Unpack it"),
    ],
    ids=lambda value: value[-40:] if isinstance(value, str) else "bytes",
)
def test_a_bad_file_is_refused_with_cause_place_and_advice(written, content, message):
    with pytest.raises(PairsFileError) as caught:
        load_tatoeba(written(content))
    assert message in str(caught.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(PairsFileError, match=r"nowhere\.tsv: cannot be read \(no such file\)"):
        load_tatoeba(tmp_path / "nowhere.tsv")
    with pytest.raises(PairsFileError, match="cannot be read"):
        load_tatoeba(tmp_path)


@given(content=st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_bytes_give_pairs_or_the_documented_error(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("bytes") / "pairs.tsv"
    path.write_bytes(content)
    try:
        pairs = load_tatoeba(path)
    except PairsFileError as error:
        message = str(error)
    else:
        message = str(path)
        assert pairs
        assert all(pair.source and pair.target for pair in pairs)
    assert str(path) in message


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("L'homme n'aime pas l'été.", "L' homme n' aime pas l' été ."),
        (
            "Comment trouvez-vous le temps aujourd'hui ?",
            "Comment trouvez -vous le temps aujourd'hui ?",
        ),
        ("Y a-t-il un rendez-vous ?", "Y a -t -il un rendez-vous ?"),
        ("Est-ce qu’il dort ?", "Est-ce qu' il dort ?"),  # noqa: RUF001
        ("I don't know my grand-mother's name.", "I don't know my grand-mother's name ."),
        ("Er sagt, dass er im Haus ist.", "Er sagt , dass er im Haus ist ."),
    ],
)
def test_text_becomes_tokens(text, tokens):
    assert tokenise(text) == tuple(tokens.split(" "))


def test_a_vocabulary_puts_frequent_tokens_first_and_knows_its_specials():
    vocabulary = Vocabulary.of([("b", "a", "c", "a"), ("c", "a")])
    assert vocabulary.tokens == ("[PAD]", "[START]", "[STOP]", "[UNK]", "a", "c", "b")
    assert (len(vocabulary), "a" in vocabulary, "z" in vocabulary) == (7, True, False)


def test_an_unknown_word_gets_the_id_of_unknown():
    ids = Vocabulary(["a", "b"]).encode(("a", "zebra", "b"))
    assert ids.dtype == np.int64
    assert ids.tolist() == [4, UNKNOWN, 5]


def test_decoding_ends_at_stop_and_skips_start_and_padding():
    vocabulary = Vocabulary(["a", "b"])
    assert vocabulary.decode([START, 4, UNKNOWN, PAD, 5, STOP, 4]) == ("a", "[UNK]", "b")


def test_invalid_tokens_and_ids_are_refused():
    vocabulary = Vocabulary(["a"])
    with pytest.raises(ValueError, match="empty sentence"):
        vocabulary.encode(())
    with pytest.raises(TypeError, match="not text: 'a a'"):
        vocabulary.encode("a a")
    for wrong in (5, -1):
        with pytest.raises(ValueError, match=f"no token has the id {wrong}"):
            vocabulary.decode([wrong])


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 20))
@settings(max_examples=30, deadline=None)
def test_a_batch_holds_its_pairs(seed, n):
    pairs = sample_pairs("french", n, default_rng(seed))
    source, target = (Vocabulary.of(side) for side in zip(*map(sides, pairs), strict=True))
    batch = make_batch(pairs, source, target)
    assert batch.sources.shape == (n, max(len(pair.source) for pair in pairs))
    assert batch.targets.shape == (n, max(len(pair.target) for pair in pairs) + 2)
    for i, pair in enumerate(pairs):
        length = len(pair.source)
        assert batch.source_lengths[i] == length
        assert source.decode(batch.sources[i]) == pair.source
        assert (batch.sources[i, length:] == PAD).all()
        assert batch.targets[i, 0] == START
        assert batch.targets[i, len(pair.target) + 1] == STOP
        assert (batch.targets[i, len(pair.target) + 2 :] == PAD).all()
        assert target.decode(batch.targets[i]) == pair.target


def sides(pair):
    return pair.source, pair.target


def test_an_empty_batch_or_sentence_is_refused():
    vocabulary = Vocabulary(["a"])
    with pytest.raises(ValueError, match="at least one pair"):
        make_batch([], vocabulary, vocabulary)
    with pytest.raises(ValueError, match="empty sentence"):
        make_batch([TokenPair(("a",), ())], vocabulary, vocabulary)
