"""Split words by a byte-pair encoding, which chapter 10's page uses without showing it."""

from ..gpt_and_bert import merge_pair


def bpe_encode(word: str, merges: list[tuple[str, str]]) -> list[str]:
    """Cut a word into the tokens that a byte-pair encoding has learned.

    word: any text, which may be empty; its characters need not occur in `merges`. merges: pairs of
    tokens in the order in which `byte_pair_merges` learned them from some words, as many as it
    learned or only the first of them. The word begins as its characters. The merges are gone
    through in their order, and each is made wherever its pair stands, from left to right.
    Returns the tokens; joined, they are the word.
    Source: Sennrich, Haddow and Birch (2016), section 3.2.
    """
    tokens = list(word)
    for pair in merges:
        if "".join(pair) in word:  # otherwise the pair cannot occur
            tokens = merge_pair(tokens, pair)
    return tokens
