"""Play a small term through with the documented commands; `make demo` plays a whole term."""

from nightly import NIGHTLY

from tests.term.play import Term

CHAPTERS = ("context_bottleneck", "alignment", "captioning")  # one per platform


def test_every_number_of_a_term_matches_an_independent_computation(tmp_path):
    output = []
    term = Term(tmp_path, CHAPTERS, 16 if NIGHTLY else 8, output.append)
    term.play()
    assert "an exercise added in mid-term" in "\n".join(output)
    assert term.numbers > (1000 if NIGHTLY else 500)
