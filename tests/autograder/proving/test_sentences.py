"""Test splitting a docstring into sentences and finding those that no case quotes."""

from autograder.proving.sentences import sentences, unquoted

DOCSTRING = (
    "Score each state (Bahdanau et al. 2015, 3.1). s: (..., d), the state. W_s, W_h: matrices. "
    "h_1 ... h_T: (T, d). state is one of them, and n may be 0. `axis` is any axis (or the last). "
    "(Xu et al. 2015.) "
    "Raises ValueError, with both numbers. Source: Ba, Kiros and Hinton (2016), equation 4."
)


def test_docstring_is_split_into_sentences():
    assert [DOCSTRING[begin:end].strip() for begin, end in sentences(DOCSTRING)] == [
        "Score each state (Bahdanau et al. 2015, 3.1).",
        "s: (..., d), the state.",
        "W_s, W_h: matrices.",
        "h_1 ... h_T: (T, d).",
        "state is one of them, and n may be 0.",
        "`axis` is any axis (or the last).",
        "(Xu et al. 2015.)",
        "Raises ValueError, with both numbers.",
        "Source: Ba, Kiros and Hinton (2016), equation 4.",
    ]


def test_every_sentence_except_summary_and_citations_needs_a_quote():
    quotes = ("the state", "matrices. h_1 ...", "n may be 0", "Raises ValueError")
    assert unquoted([DOCSTRING], quotes) == ["`axis` is any axis (or the last)."]
    assert unquoted(["Make it.", "n: the size."], ()) == ["n: the size."]
