"""Mistakes that people make with `alignment_error_rate`, one function each, and their hints."""

from __future__ import annotations

import numpy as np

from ...judging.exercise import Misconception


def error_rate__precision_only(weights, sure, possible):
    claimed = (weights > 0) & (np.arange(weights.shape[1]) == weights.argmax(axis=1, keepdims=True))
    if not claimed.any():
        return 0.0
    return float(1 - (claimed & (sure | possible)).sum() / claimed.sum())


def error_rate__recall_only(weights, sure, possible):
    claimed = (weights > 0) & (np.arange(weights.shape[1]) == weights.argmax(axis=1, keepdims=True))
    if not sure.any():
        return 0.0
    return float(1 - (claimed & sure).sum() / sure.sum())


def error_rate__sure_and_possible_swapped(weights, sure, possible):
    claimed = (weights > 0) & (np.arange(weights.shape[1]) == weights.argmax(axis=1, keepdims=True))
    either = sure | possible
    if not (claimed.any() or either.any()):
        return 0.0
    agreed = (claimed & sure).sum() + (claimed & either).sum()
    return float(1 - agreed / (claimed.sum() + either.sum()))


def error_rate__agreement(weights, sure, possible):
    claimed = (weights > 0) & (np.arange(weights.shape[1]) == weights.argmax(axis=1, keepdims=True))
    if not (claimed.any() or sure.any()):
        return 0.0
    agreed = (claimed & sure).sum() + (claimed & (sure | possible)).sum()
    return float(agreed / (claimed.sum() + sure.sum()))


def error_rate__one_link_a_column(weights, sure, possible):
    claimed = (weights > 0) & (
        np.arange(weights.shape[0])[:, None] == weights.argmax(axis=0, keepdims=True)
    )
    if not (claimed.any() or sure.any()):
        return 0.0
    agreed = (claimed & sure).sum() + (claimed & (sure | possible)).sum()
    return float(1 - agreed / (claimed.sum() + sure.sum()))


def error_rate__threshold(weights, sure, possible):
    claimed = weights > 0.5
    if not (claimed.any() or sure.any()):
        return 0.0
    agreed = (claimed & sure).sum() + (claimed & (sure | possible)).sum()
    return float(1 - agreed / (claimed.sum() + sure.sum()))


def error_rate__soft_links(weights, sure, possible):
    total = weights.sum() + sure.sum()
    if total == 0:
        return 0.0
    agreed = (weights * sure).sum() + (weights * (sure | possible)).sum()
    return float(1 - agreed / total)


def error_rate__all_of_the_largest(weights, sure, possible):
    claimed = (weights > 0) & (weights == weights.max(axis=1, keepdims=True))
    if not (claimed.any() or sure.any()):
        return 0.0
    agreed = (claimed & sure).sum() + (claimed & (sure | possible)).sum()
    return float(1 - agreed / (claimed.sum() + sure.sum()))


def error_rate__possible_forgotten(weights, sure, possible):
    claimed = (weights > 0) & (np.arange(weights.shape[1]) == weights.argmax(axis=1, keepdims=True))
    if not (claimed.any() or sure.any()):
        return 0.0
    return float(1 - 2 * (claimed & sure).sum() / (claimed.sum() + sure.sum()))


def error_rate__sure_not_taken_for_possible(weights, sure, possible):
    claimed = (weights > 0) & (np.arange(weights.shape[1]) == weights.argmax(axis=1, keepdims=True))
    if not (claimed.any() or sure.any()):
        return 0.0
    agreed = (claimed & sure).sum() + (claimed & possible).sum()
    return float(1 - agreed / (claimed.sum() + sure.sum()))


def error_rate__rows_of_zeros_claim(weights, sure, possible):
    claimed = np.arange(weights.shape[1]) == weights.argmax(axis=1, keepdims=True)
    if not (claimed.any() or sure.any()):
        return 0.0
    agreed = (claimed & sure).sum() + (claimed & (sure | possible)).sum()
    return float(1 - agreed / (claimed.sum() + sure.sum()))


def error_rate__nothing_by_nothing(weights, sure, possible):
    claimed = (weights > 0) & (np.arange(weights.shape[1]) == weights.argmax(axis=1, keepdims=True))
    agreed = (claimed & sure).sum() + (claimed & (sure | possible)).sum()
    return float(1 - agreed / (claimed.sum() + sure.sum()))


def error_rate__perfect_if_none_is_sure(weights, sure, possible):
    claimed = (weights > 0) & (np.arange(weights.shape[1]) == weights.argmax(axis=1, keepdims=True))
    if not sure.any():
        return 0.0
    agreed = (claimed & sure).sum() + (claimed & (sure | possible)).sum()
    return float(1 - agreed / (claimed.sum() + sure.sum()))


def error_rate__perfect_if_none_is_claimed(weights, sure, possible):
    claimed = (weights > 0) & (np.arange(weights.shape[1]) == weights.argmax(axis=1, keepdims=True))
    if not claimed.any():
        return 0.0
    agreed = (claimed & sure).sum() + (claimed & (sure | possible)).sum()
    return float(1 - agreed / (claimed.sum() + sure.sum()))


def error_rate__tiny_taken_for_zero(weights, sure, possible):
    claimed = (weights > 1e-6) & (
        np.arange(weights.shape[1]) == weights.argmax(axis=1, keepdims=True)
    )
    if not (claimed.any() or sure.any()):
        return 0.0
    agreed = (claimed & sure).sum() + (claimed & (sure | possible)).sum()
    return float(1 - agreed / (claimed.sum() + sure.sum()))


MISCONCEPTIONS = (
    Misconception(
        "precision only",
        error_rate__precision_only,
        "A model that claims one link, and a right one: which of its faults does your rate not "
        "see?",
    ),
    Misconception(
        "recall only",
        error_rate__recall_only,
        "Is a claimed link that is in neither table an error? Does your rate grow with it?",
    ),
    Misconception(
        "sure and possible swapped",
        error_rate__sure_and_possible_swapped,
        "Must every possible link be found? Which of the two tables says what must be there?",
    ),
    Misconception(
        "agreement in place of error",
        error_rate__agreement,
        "What does your function return for a perfect alignment, and what should it?",
    ),
    Misconception(
        "one link a column",
        error_rate__one_link_a_column,
        "Who claims links, the target tokens or the source tokens? Along which axis does a row "
        "run?",
    ),
    Misconception(
        "every weight above one half",
        error_rate__threshold,
        "A row has the weights 0.4, 0.3, 0.3. Which link does it claim in yours?",
    ),
    Misconception(
        "weights summed in place of links counted",
        error_rate__soft_links,
        "How many links does a row claim in your function? Does the rate change when the "
        "largest weight grows and stays the largest?",
    ),
    Misconception(
        "every one of the largest claimed",
        error_rate__all_of_the_largest,
        "Two weights of a row are equal and the largest. How many links may the row claim?",
    ),
    Misconception(
        "possible links forgotten",
        error_rate__possible_forgotten,
        "A row claims a link that is possible and not sure. Is that an error?",
    ),
    Misconception(
        "sure links not taken for possible",
        error_rate__sure_not_taken_for_possible,
        "Some tables list in `possible` only what is not sure. What does the docstring say of "
        "a sure link?",
    ),
    Misconception(
        "rows of zeros claim a link",
        error_rate__rows_of_zeros_claim,
        "What does argmax return for a row of zeros? Did that row look anywhere?",
    ),
    Misconception(
        "nothing divided by nothing",
        error_rate__nothing_by_nothing,
        "No link is claimed and none is sure. What do you divide by?",
    ),
    Misconception(
        "0 whenever no link is sure",
        error_rate__perfect_if_none_is_sure,
        "No link is sure, and the rows claim links that are not even possible. Is that a "
        "perfect alignment?",
    ),
    Misconception(
        "0 whenever no link is claimed",
        error_rate__perfect_if_none_is_claimed,
        "Five links are sure, and nobody claims one. Is that a perfect alignment?",
    ),
    Misconception(
        "small weights taken for zeros",
        error_rate__tiny_taken_for_zero,
        "A row has weights of 1e-9 and one of 3e-9. Is it a row of zeros? Which is its largest?",
    ),
)
