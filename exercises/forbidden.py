"""What is ready-made, and forbidden where writing it is the exercise.

Each is a tuple of the dotted names that `probe.ready_made.Watch` takes. Those
without a `*` stand in the notebook too.
"""

from __future__ import annotations

SOFTMAX = (
    "scipy.special.softmax",
    "torch.softmax",
    "scipy.special.*softmax",
    "torch.*softmax*",
    "torch.*scaled_dot_product*",  # of the identity, with a scale of 1, it is the softmax
    "torch.*_attention*",
    "torch.*transformer_encoder_layer_fwd",
    "torch.autograd*",  # the gradient of `logsumexp` is one, too
    "torch.*make_dual",
)

MULTI_HEAD_ATTENTION = ("torch.nn.MultiheadAttention", "torch.*multi_head_attention*")

ATTENTION = (
    "torch.nn.functional.scaled_dot_product_attention",
    *MULTI_HEAD_ATTENTION,
    "torch.*scaled_dot_product*",
    "torch.*_safe_softmax",  # nothing else of torch runs it
)

LAYER_NORM = (
    "torch.nn.LayerNorm",
    "torch.nn.functional.layer_norm",
    "torch.*layer_norm*",
    "torch.*group_norm*",  # of one group, or of every token as a batch, it is the same
    "torch.*instance_norm*",
    "torch.*batch_norm*",
    "torch.*rms_norm*",
)

CROSS_ENTROPY = (
    "torch.nn.CrossEntropyLoss",
    "torch.nn.functional.cross_entropy",
    "torch.*cross_entropy_loss",
)

RECURRENT_NETWORK = ("torch.nn.RNN", "torch.nn.RNNCell", "torch.*rnn_tanh*")

GATED_NETWORK = ("torch.nn.GRU", "torch.nn.GRUCell", "torch.*gru*")

ENCODER_LAYER = ("torch.nn.TransformerEncoderLayer", "torch.*transformer_encoder_layer_fwd")

DECODER_LAYER = ("torch.nn.TransformerDecoderLayer",)

TRANSFORMER = (
    "torch.nn.Transformer",
    "torch.nn.TransformerEncoder",
    "torch.nn.TransformerDecoder",
)

AUTOMATIC_DIFFERENTIATION = (
    "torch.autograd",
    "torch.func",
    "torch.*make_dual",
    "torch.*backward*",  # the derivatives of torch's functions, as operators of their own
    "torch.*_jvp*",
)
