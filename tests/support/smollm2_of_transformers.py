"""SmolLM2 in the `transformers` package, with the weights that the course's own model has."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from solutions.positions import weights_for_halves
from solutions.published.smollm2 import CONTEXT, SIZES, SmolLM2

PROMPTS = [
    f"{beginning} {subject}"
    for beginning in (
        "The capital of",
        "Once upon a time there was",
        "A short history of",
        "def count_the_words(text):  # in",
        "Dear Sir or Madam, I write to you about",
        "What I like best about",
        "In 1987, 3 of 4 people wrote about",
        "Two plus two is four, and",
        "Q: What is the difference between a cat and",
        "She opened the door and saw",
    )
    for subject in (
        "France", "Peru", "the sea", "bread", "a small village", "the moon", "attention",
        "a clockmaker", "naïve children", "the year 2024", "trees", "a red car", "music", "rain",
        "the North Pole", "numbers", "dogs", "a letter", "war and peace", "nothing at all",
    )
]  # fmt: skip


def same_weights(ours: SmolLM2) -> LlamaForCausalLM:
    """Return the same model; transformers rotates features in halves and not in pairs."""
    config = LlamaConfig(
        vocab_size=SIZES["vocab_size"],
        hidden_size=SIZES["d_model"],
        intermediate_size=SIZES["d_ff"],
        num_hidden_layers=SIZES["n_layers"],
        num_attention_heads=SIZES["n_heads"],
        num_key_value_heads=SIZES["n_kv_heads"],
        max_position_embeddings=CONTEXT,
        rms_norm_eps=SIZES["eps"],
        rope_parameters={"rope_type": "default", "rope_theta": SIZES["base"]},
        tie_word_embeddings=True,
    )
    model = LlamaForCausalLM(config).eval()
    names = {
        "embedding": "model.embed_tokens", "norm": "model.norm",
        "norm_1": "input_layernorm", "norm_2": "post_attention_layernorm",
        "attention.W_q": "self_attn.q_proj", "attention.W_k": "self_attn.k_proj",
        "attention.W_v": "self_attn.v_proj", "attention.W_o": "self_attn.o_proj",
        "feed_forward.W_gate": "mlp.gate_proj", "feed_forward.W_up": "mlp.up_proj",
        "feed_forward.W_down": "mlp.down_proj",
    }  # fmt: skip
    state = {}
    for name, weights in ours.model.state_dict().items():
        part = name.removesuffix(".weight")
        heads = {"W_q": SIZES["n_heads"], "W_k": SIZES["n_kv_heads"]}.get(part.split(".")[-1])
        if heads:
            weights = torch.from_numpy(weights_for_halves(weights.numpy().T, heads).T)
        if part.startswith("blocks."):
            _, number, rest = part.split(".", 2)
            state[f"model.layers.{number}.{names[rest]}.weight"] = weights
        else:
            state[f"{names[part]}.weight"] = weights
    state["lm_head.weight"] = state["model.embed_tokens.weight"]
    model.load_state_dict(state)
    return model
