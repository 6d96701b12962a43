"""What goes wrong in `sample_next`."""

from __future__ import annotations

import numpy as np

from ...judging.exercise import Misconception


def sample_next__greedy(logits, temperature, top_k, top_p, generator):
    return np.argmax(logits, axis=-1)


def sample_next__temperature_ignored(logits, temperature, top_k, top_p, generator):
    ranking = np.argsort(-logits, axis=-1, kind="stable")
    if temperature == 0:
        return ranking[..., 0]
    ranked = np.take_along_axis(logits, ranking, axis=-1)[..., :top_k]
    weights = np.exp(ranked - ranked[..., :1])
    weights = weights / weights.sum(axis=-1, keepdims=True)
    if top_p is not None:
        weights = np.where(np.cumsum(weights, axis=-1) - weights < top_p, weights, 0)
    sums = np.cumsum(weights, axis=-1)
    draws = np.asarray(generator.random(logits.shape[:-1]))[..., None] * sums[..., -1:]
    place = np.sum(sums <= draws, axis=-1, keepdims=True)
    return np.take_along_axis(ranking, place, axis=-1)[..., 0]


def sample_next__multiplied(logits, temperature, top_k, top_p, generator):
    ranking = np.argsort(-logits, axis=-1, kind="stable")
    if temperature == 0:
        return ranking[..., 0]
    ranked = np.take_along_axis(logits, ranking, axis=-1)[..., :top_k]
    weights = np.exp((ranked - ranked[..., :1]) * temperature)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    if top_p is not None:
        weights = np.where(np.cumsum(weights, axis=-1) - weights < top_p, weights, 0)
    sums = np.cumsum(weights, axis=-1)
    draws = np.asarray(generator.random(logits.shape[:-1]))[..., None] * sums[..., -1:]
    place = np.sum(sums <= draws, axis=-1, keepdims=True)
    return np.take_along_axis(ranking, place, axis=-1)[..., 0]


def sample_next__temperature_after_the_cut(logits, temperature, top_k, top_p, generator):
    ranking = np.argsort(-logits, axis=-1, kind="stable")
    if temperature == 0:
        return ranking[..., 0]
    ranked = np.take_along_axis(logits, ranking, axis=-1)[..., :top_k]
    plain = np.exp(ranked - ranked[..., :1])
    plain = plain / plain.sum(axis=-1, keepdims=True)
    weights = np.exp((ranked - ranked[..., :1]) / temperature)
    if top_p is not None:
        weights = np.where(np.cumsum(plain, axis=-1) - plain < top_p, weights, 0)
    sums = np.cumsum(weights, axis=-1)
    draws = np.asarray(generator.random(logits.shape[:-1]))[..., None] * sums[..., -1:]
    place = np.sum(sums <= draws, axis=-1, keepdims=True)
    return np.take_along_axis(ranking, place, axis=-1)[..., 0]


def sample_next__top_k_ignored(logits, temperature, top_k, top_p, generator):
    ranking = np.argsort(-logits, axis=-1, kind="stable")
    if temperature == 0:
        return ranking[..., 0]
    ranked = np.take_along_axis(logits, ranking, axis=-1)
    weights = np.exp((ranked - ranked[..., :1]) / temperature)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    if top_p is not None:
        weights = np.where(np.cumsum(weights, axis=-1) - weights < top_p, weights, 0)
    sums = np.cumsum(weights, axis=-1)
    draws = np.asarray(generator.random(logits.shape[:-1]))[..., None] * sums[..., -1:]
    place = np.sum(sums <= draws, axis=-1, keepdims=True)
    return np.take_along_axis(ranking, place, axis=-1)[..., 0]


def sample_next__top_p_ignored(logits, temperature, top_k, top_p, generator):
    ranking = np.argsort(-logits, axis=-1, kind="stable")
    if temperature == 0:
        return ranking[..., 0]
    ranked = np.take_along_axis(logits, ranking, axis=-1)[..., :top_k]
    sums = np.cumsum(np.exp((ranked - ranked[..., :1]) / temperature), axis=-1)
    draws = np.asarray(generator.random(logits.shape[:-1]))[..., None] * sums[..., -1:]
    place = np.sum(sums <= draws, axis=-1, keepdims=True)
    return np.take_along_axis(ranking, place, axis=-1)[..., 0]


def sample_next__top_p_of_all(logits, temperature, top_k, top_p, generator):
    ranking = np.argsort(-logits, axis=-1, kind="stable")
    if temperature == 0:
        return ranking[..., 0]
    ranked = np.take_along_axis(logits, ranking, axis=-1)
    weights = np.exp((ranked - ranked[..., :1]) / temperature)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    if top_p is not None:
        weights = np.where(np.cumsum(weights, axis=-1) - weights < top_p, weights, 0)
    sums = np.cumsum(weights[..., :top_k], axis=-1)
    draws = np.asarray(generator.random(logits.shape[:-1]))[..., None] * sums[..., -1:]
    place = np.sum(sums <= draws, axis=-1, keepdims=True)
    return np.take_along_axis(ranking, place, axis=-1)[..., 0]


def sample_next__less_than_top_p(logits, temperature, top_k, top_p, generator):
    ranking = np.argsort(-logits, axis=-1, kind="stable")
    if temperature == 0:
        return ranking[..., 0]
    ranked = np.take_along_axis(logits, ranking, axis=-1)[..., :top_k]
    weights = np.exp((ranked - ranked[..., :1]) / temperature)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    if top_p is not None:
        kept = np.cumsum(weights, axis=-1) <= top_p
        kept[..., 0] = True
        weights = np.where(kept, weights, 0)
    sums = np.cumsum(weights, axis=-1)
    draws = np.asarray(generator.random(logits.shape[:-1]))[..., None] * sums[..., -1:]
    place = np.sum(sums <= draws, axis=-1, keepdims=True)
    return np.take_along_axis(ranking, place, axis=-1)[..., 0]


def sample_next__not_rescaled(logits, temperature, top_k, top_p, generator):
    ranking = np.argsort(-logits, axis=-1, kind="stable")
    if temperature == 0:
        return ranking[..., 0]
    ranked = np.take_along_axis(logits, ranking, axis=-1)
    weights = np.exp((ranked - ranked[..., :1]) / temperature)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    kept = np.arange(logits.shape[-1]) < (logits.shape[-1] if top_k is None else top_k)
    if top_p is not None:
        of_top_k = np.where(kept, weights, 0)
        of_top_k = of_top_k / of_top_k.sum(axis=-1, keepdims=True)
        kept = kept & (np.cumsum(of_top_k, axis=-1) - of_top_k < top_p)
    sums = np.cumsum(np.where(kept, weights, 0), axis=-1)
    draws = np.asarray(generator.random(logits.shape[:-1]))[..., None]
    last = np.broadcast_to(kept, logits.shape).sum(axis=-1, keepdims=True) - 1
    place = np.minimum(np.sum(sums <= draws, axis=-1, keepdims=True), last)
    return np.take_along_axis(ranking, place, axis=-1)[..., 0]


def sample_next__by_id(logits, temperature, top_k, top_p, generator):
    ranking = np.argsort(-logits, axis=-1, kind="stable")
    if temperature == 0:
        return ranking[..., 0]
    ranked = np.take_along_axis(logits, ranking, axis=-1)[..., :top_k]
    weights = np.exp((ranked - ranked[..., :1]) / temperature)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    if top_p is not None:
        weights = np.where(np.cumsum(weights, axis=-1) - weights < top_p, weights, 0)
    by_id = np.zeros_like(logits)
    np.put_along_axis(by_id, ranking[..., :top_k], weights, axis=-1)
    sums = np.cumsum(by_id, axis=-1)
    draws = np.asarray(generator.random(logits.shape[:-1]))[..., None] * sums[..., -1:]
    return np.sum(sums <= draws, axis=-1)


def sample_next__place_returned(logits, temperature, top_k, top_p, generator):
    if temperature == 0:
        return np.argmax(logits, axis=-1)
    ranked = -np.sort(-logits, axis=-1)[..., :top_k]
    weights = np.exp((ranked - ranked[..., :1]) / temperature)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    if top_p is not None:
        weights = np.where(np.cumsum(weights, axis=-1) - weights < top_p, weights, 0)
    sums = np.cumsum(weights, axis=-1)
    draws = np.asarray(generator.random(logits.shape[:-1]))[..., None] * sums[..., -1:]
    return np.sum(sums <= draws, axis=-1)


def sample_next__one_draw_for_all(logits, temperature, top_k, top_p, generator):
    ranking = np.argsort(-logits, axis=-1, kind="stable")
    if temperature == 0:
        return ranking[..., 0]
    ranked = np.take_along_axis(logits, ranking, axis=-1)[..., :top_k]
    weights = np.exp((ranked - ranked[..., :1]) / temperature)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    if top_p is not None:
        weights = np.where(np.cumsum(weights, axis=-1) - weights < top_p, weights, 0)
    sums = np.cumsum(weights, axis=-1)
    place = np.sum(sums <= generator.random() * sums[..., -1:], axis=-1, keepdims=True)
    return np.take_along_axis(ranking, place, axis=-1)[..., 0]


WRONG = (
    Misconception(
        "always the likeliest",
        sample_next__greedy,
        "Call it twice with different generators. Do two thirds ever come out as one third should?",
    ),
    Misconception(
        "the temperature ignored",
        sample_next__temperature_ignored,
        "What does your function do with a temperature of 0.5, and what with one of 2?",
    ),
    Misconception(
        "multiplied by the temperature",
        sample_next__multiplied,
        "A high temperature should make the shares more equal. Do yours become so?",
    ),
    Misconception(
        "the temperature after the cut",
        sample_next__temperature_after_the_cut,
        "Whose probabilities should sum to top_p: those from before the temperature, or after it?",
    ),
    Misconception(
        "top_k ignored",
        sample_next__top_k_ignored,
        "With top_k of 1, what can be drawn? What does your function draw?",
    ),
    Misconception(
        "top_p ignored",
        sample_next__top_p_ignored,
        "With a tiny top_p, what can be drawn? What does your function draw?",
    ),
    Misconception(
        "top_p of all the candidates",
        sample_next__top_p_of_all,
        "top_k cuts first. Over which candidates, then, is the softmax whose shares you sum?",
    ),
    Misconception(
        "less than top_p kept",
        sample_next__less_than_top_p,
        "Shares of 0.5, 0.3, 0.2, and a top_p of 0.7: how many candidates does it take?",
    ),
    Misconception(
        "not rescaled after a cut",
        sample_next__not_rescaled,
        "After a cut the running sum ends below 1. What happens to a u above that?",
    ),
    Misconception(
        "summed in the order of the ids",
        sample_next__by_id,
        "Along which order does the docstring let the sum run: of ids, or of the ranking?",
    ),
    Misconception(
        "a place in the ranking returned",
        sample_next__place_returned,
        "Place 0 of the ranking: is that token 0?",
    ),
    Misconception(
        "one draw for all rows",
        sample_next__one_draw_for_all,
        "Two rows with the same logits: may they get different tokens?",
    ),
)
