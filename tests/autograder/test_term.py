"""A small term, played through on the documented commands; `make demo` plays a whole one."""

from tests.term.play import Term

CHAPTERS = ("context_bottleneck", "alignment", "captioning")  # one of each platform


def test_every_number_of_a_term_is_what_a_plain_computation_says(tmp_path):
    said = []
    term = Term(tmp_path, CHAPTERS, 16, said.append)
    term.play()
    assert "an exercise added in mid-term" in "\n".join(said)
    assert term.numbers > 1000
