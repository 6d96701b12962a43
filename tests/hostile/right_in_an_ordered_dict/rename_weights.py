from collections import OrderedDict


def rename_weights(state):
    published = [
        ("embeddings.word_embeddings.", "embedding."),
        ("embeddings.position_embeddings.", "positions."),
        ("embeddings.token_type_embeddings.", "segments."),
        ("embeddings.LayerNorm.", "norm."),
    ]
    inner = [
        ("attention.self.query.", "attention.W_q."),
        ("attention.self.key.", "attention.W_k."),
        ("attention.self.value.", "attention.W_v."),
        ("attention.output.dense.", "attention.W_o."),
        ("attention.output.LayerNorm.", "norm_1."),
        ("intermediate.dense.", "feed_forward.W_1."),
        ("output.dense.", "feed_forward.W_2."),
        ("output.LayerNorm.", "norm_2."),
    ]
    new = OrderedDict()
    for name, array in state.items():
        if name == "embeddings.position_ids" or name.startswith("pooler."):
            continue
        parts, table, head = name.split("."), published, ""
        rest = name
        if name.startswith("encoder.layer."):
            table, head, rest = inner, f"blocks.{parts[2]}.", ".".join(parts[3:])
        for old, now in table:
            if rest.startswith(old):
                new[head + now + rest[len(old) :]] = array
                break
        else:
            raise ValueError(name)
    return new
