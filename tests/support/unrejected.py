"""Semantic mutants that no check rejects, and why; by exercise and name of the mutant."""

EVERYWHERE = {
    "float32 in, float64 out": "float32 and float64 both count as float",
    "float64 through float32": "a rounding to float32 is hardly larger than the tolerance",
    "whole numbers in an array refused": "the docstrings speak of arrays of floating numbers",
    "an array that is not contiguous refused": "every argument reaches an answer contiguous",
    "an argument returned as the result": "nobody changes it; some references return views",
    "1e-9 in place of exactly 0": "1e-9 beside a weight of 1 is below the tolerance",
}
"""Of any exercise."""

_ONE_VALUE = {"one buffer for all results": "results of one shape are all equal"}
_OWN_SCORE = {
    "a softmax shifted by no less than 0": "the score of a token with itself is never below 0"
}
_OWN_WINDOW = {
    f"-{size:g} for a hidden score": "a token sees itself, and that score is never below 0"
    for size in (1e2, 1e4, 1e9)
}
_LAST_AXIS = {"a last axis of length 1 squeezed": "the last axis has an even length"}

UNREJECTED: dict[str, dict[str, str]] = {
    "GPT": {"-1e+09 for a hidden score": "the norm keeps scores far above it"},
    "Transformer": {
        f"-{size:g} for a hidden score": "the norm keeps scores far above it" for size in (1e4, 1e9)
    },
    "banded_self_attention": _OWN_SCORE | _OWN_WINDOW,
    "best_baseline": {
        "L of 1 refused": "there are two places or more",
        "a softmax with 1e-6 in its denominator": "a millionth is far within the tolerance",
        "a softmax shifted by the largest of all": "there is one row of scores",
    },
    "causal_language_model_loss_backward": {"n of 1 refused": "there are two tokens or more"},
    "causal_mask": _ONE_VALUE,
    "critical_gain": {
        "T of 1 refused": "there are three tokens or more",
        "a tanh that overflows": "no sum on the way is large: the tokens are of ordinary size",
    },
    "crossover_length": {"m of 1 refused": "there are two lengths or more"},
    "divisor_for_entropy": {
        "a softmax with 1e-6 in its denominator": "a millionth is far within the tolerance",
        "n_k of 1 refused": "there are two keys or more",
    },
    "encode_bidirectional": _LAST_AXIS,
    "fuse_projections": {"a last axis of length 1 squeezed": "there are three columns or more"},
    "hard_attention": {
        "a draw equal to a sum counts for the place before": "no seed draws exactly such a number",
    },
    "head_scales_backward": {
        "leading axes flattened": "the result has none: it is a sum over all sequences",
    },
    "induction_score": {"n of 1 refused": "there are three tokens or more"},
    "jacobian_norms": {
        "derivatives below 1e-8 taken for 0": "the tolerance is relative to the last norm: 1",
    },
    "label_smoothed_loss": {
        "inputs rounded to 1e-12": "of logits that small the loss is log V, to the tolerance",
    },
    "layers_to_reach": {"n of 1 refused": "there are two tokens or more"},
    "leave_one_out_gradient": {"k of 1 refused": "that is asked for: one draw has no others"},
    "linear_bias": _ONE_VALUE,
    "looks_with_coverage": {
        "inputs rounded to 1e-12": "only a penalty of thousands makes so much of so little",
    },
    "localisation": {
        "inputs rounded to 1e-12": "a share so tiny drowns in the rounding of a running sum",
    },
    "next_token_loss": {"V of 1 refused": "start, stop and padding are three tokens"},
    "rotary": _LAST_AXIS,
    "rotary_by_halves": _LAST_AXIS,
    "scores_backward": {
        "-1e+09 for a hidden score": "there the logarithm of a sum has no digits left",
    },
    "self_attention": _OWN_SCORE,
    "self_attention_backward": _OWN_SCORE,
    "shift_matrix": {"axes of length 1 squeezed": "both axes have an even length"} | _LAST_AXIS,
    "sinusoidal_positions": _ONE_VALUE | _LAST_AXIS,
    "weights_for_halves": _LAST_AXIS,
    "windowed_self_attention": _OWN_SCORE | _OWN_WINDOW,
    "words_lost": {
        "T of 1 refused": "there are two states or more",
        "a softmax with 1e-6 in its denominator": "the largest logit stays the largest",
        "the last of equal scores": "no two logits are equal",
    },
}
"""Of one exercise."""
