"""The exercises of chapter 10, "GPT and BERT"."""

from autograder.exercise.declaring import assignment

ASSIGNMENT = assignment(
    __name__,
    title="GPT and BERT",
    exercises=(
        "byte_pair_merges",
        "bpe_encode",
        "gpt",
        "causal_language_model_loss",
        "causal_language_model_loss_backward",
        "sample_next",
        "induction_score",
        "masked_diffusion_loss",
        "prefix_mask",
        "rename_weights",
        "lora_linear",
        "merge_lora",
        "beyond_topic",
    ),
    written=("why_bert_cannot_write",),
)
