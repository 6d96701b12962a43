"""What goes wrong in `rename_weights`."""

from __future__ import annotations

from ...judging.exercise import Misconception


def rename__norms_exchanged(state):
    tables = {
        "word_embeddings": "embedding",
        "position_embeddings": "positions",
        "token_type_embeddings": "segments",
        "LayerNorm": "norm",
    }
    parts = {
        "attention.self.query": "attention.W_q",
        "attention.self.key": "attention.W_k",
        "attention.self.value": "attention.W_v",
        "attention.output.dense": "attention.W_o",
        "attention.output.LayerNorm": "norm_2",
        "intermediate.dense": "feed_forward.W_1",
        "output.dense": "feed_forward.W_2",
        "output.LayerNorm": "norm_1",
    }
    renamed = {}
    for name, array in state.items():
        if name.startswith("pooler.") or name == "embeddings.position_ids":
            continue
        words = name.split(".")
        part = ".".join(words[3:-1])
        if words[0] == "embeddings" and words[1] in tables:
            renamed[f"{tables[words[1]]}.{words[2]}"] = array
        elif name.startswith("encoder.layer.") and part in parts:
            renamed[f"blocks.{words[2]}.{parts[part]}.{words[-1]}"] = array
        else:
            raise ValueError(name)
    return renamed


def rename__roles_in_alphabetical_order(state):
    tables = {
        "word_embeddings": "embedding",
        "position_embeddings": "positions",
        "token_type_embeddings": "segments",
        "LayerNorm": "norm",
    }
    parts = {
        "attention.self.query": "attention.W_k",
        "attention.self.key": "attention.W_q",
        "attention.self.value": "attention.W_v",
        "attention.output.dense": "attention.W_o",
        "attention.output.LayerNorm": "norm_1",
        "intermediate.dense": "feed_forward.W_1",
        "output.dense": "feed_forward.W_2",
        "output.LayerNorm": "norm_2",
    }
    renamed = {}
    for name, array in state.items():
        if name.startswith("pooler.") or name == "embeddings.position_ids":
            continue
        words = name.split(".")
        part = ".".join(words[3:-1])
        if words[0] == "embeddings" and words[1] in tables:
            renamed[f"{tables[words[1]]}.{words[2]}"] = array
        elif name.startswith("encoder.layer.") and part in parts:
            renamed[f"blocks.{words[2]}.{parts[part]}.{words[-1]}"] = array
        else:
            raise ValueError(name)
    return renamed


def rename__key_for_value(state):
    tables = {
        "word_embeddings": "embedding",
        "position_embeddings": "positions",
        "token_type_embeddings": "segments",
        "LayerNorm": "norm",
    }
    parts = {
        "attention.self.query": "attention.W_q",
        "attention.self.key": "attention.W_v",
        "attention.self.value": "attention.W_k",
        "attention.output.dense": "attention.W_o",
        "attention.output.LayerNorm": "norm_1",
        "intermediate.dense": "feed_forward.W_1",
        "output.dense": "feed_forward.W_2",
        "output.LayerNorm": "norm_2",
    }
    renamed = {}
    for name, array in state.items():
        if name.startswith("pooler.") or name == "embeddings.position_ids":
            continue
        words = name.split(".")
        part = ".".join(words[3:-1])
        if words[0] == "embeddings" and words[1] in tables:
            renamed[f"{tables[words[1]]}.{words[2]}"] = array
        elif name.startswith("encoder.layer.") and part in parts:
            renamed[f"blocks.{words[2]}.{parts[part]}.{words[-1]}"] = array
        else:
            raise ValueError(name)
    return renamed


def rename__transposed(state):
    tables = {
        "word_embeddings": "embedding",
        "position_embeddings": "positions",
        "token_type_embeddings": "segments",
        "LayerNorm": "norm",
    }
    parts = {
        "attention.self.query": "attention.W_q",
        "attention.self.key": "attention.W_k",
        "attention.self.value": "attention.W_v",
        "attention.output.dense": "attention.W_o",
        "attention.output.LayerNorm": "norm_1",
        "intermediate.dense": "feed_forward.W_1",
        "output.dense": "feed_forward.W_2",
        "output.LayerNorm": "norm_2",
    }
    renamed = {}
    for name, array in state.items():
        if name.startswith("pooler.") or name == "embeddings.position_ids":
            continue
        words = name.split(".")
        part = ".".join(words[3:-1])
        if words[0] == "embeddings" and words[1] in tables:
            renamed[f"{tables[words[1]]}.{words[2]}"] = array
        elif name.startswith("encoder.layer.") and part in parts:
            renamed[f"blocks.{words[2]}.{parts[part]}.{words[-1]}"] = array.T
        else:
            raise ValueError(name)
    return renamed


def rename__layers_from_1(state):
    tables = {
        "word_embeddings": "embedding",
        "position_embeddings": "positions",
        "token_type_embeddings": "segments",
        "LayerNorm": "norm",
    }
    parts = {
        "attention.self.query": "attention.W_q",
        "attention.self.key": "attention.W_k",
        "attention.self.value": "attention.W_v",
        "attention.output.dense": "attention.W_o",
        "attention.output.LayerNorm": "norm_1",
        "intermediate.dense": "feed_forward.W_1",
        "output.dense": "feed_forward.W_2",
        "output.LayerNorm": "norm_2",
    }
    renamed = {}
    for name, array in state.items():
        if name.startswith("pooler.") or name == "embeddings.position_ids":
            continue
        words = name.split(".")
        part = ".".join(words[3:-1])
        if words[0] == "embeddings" and words[1] in tables:
            renamed[f"{tables[words[1]]}.{words[2]}"] = array
        elif name.startswith("encoder.layer.") and part in parts:
            renamed[f"blocks.{int(words[2]) + 1}.{parts[part]}.{words[-1]}"] = array
        else:
            raise ValueError(name)
    return renamed


def rename__first_digit(state):
    tables = {
        "word_embeddings": "embedding",
        "position_embeddings": "positions",
        "token_type_embeddings": "segments",
        "LayerNorm": "norm",
    }
    parts = {
        "attention.self.query": "attention.W_q",
        "attention.self.key": "attention.W_k",
        "attention.self.value": "attention.W_v",
        "attention.output.dense": "attention.W_o",
        "attention.output.LayerNorm": "norm_1",
        "intermediate.dense": "feed_forward.W_1",
        "output.dense": "feed_forward.W_2",
        "output.LayerNorm": "norm_2",
    }
    renamed = {}
    for name, array in state.items():
        if name.startswith("pooler.") or name == "embeddings.position_ids":
            continue
        words = name.split(".")
        part = ".".join(words[3:-1])
        if words[0] == "embeddings" and words[1] in tables:
            renamed[f"{tables[words[1]]}.{words[2]}"] = array
        elif name.startswith("encoder.layer.") and part in parts:
            renamed[f"blocks.{words[2][0]}.{parts[part]}.{words[-1]}"] = array
        else:
            raise ValueError(name)
    return renamed


def rename__pooler_kept(state):
    tables = {
        "word_embeddings": "embedding",
        "position_embeddings": "positions",
        "token_type_embeddings": "segments",
        "LayerNorm": "norm",
    }
    parts = {
        "attention.self.query": "attention.W_q",
        "attention.self.key": "attention.W_k",
        "attention.self.value": "attention.W_v",
        "attention.output.dense": "attention.W_o",
        "attention.output.LayerNorm": "norm_1",
        "intermediate.dense": "feed_forward.W_1",
        "output.dense": "feed_forward.W_2",
        "output.LayerNorm": "norm_2",
    }
    renamed = {}
    for name, array in state.items():
        if name == "embeddings.position_ids":
            continue
        words = name.split(".")
        part = ".".join(words[3:-1])
        if words[0] == "embeddings" and words[1] in tables:
            renamed[f"{tables[words[1]]}.{words[2]}"] = array
        elif name.startswith("encoder.layer.") and part in parts:
            renamed[f"blocks.{words[2]}.{parts[part]}.{words[-1]}"] = array
        else:
            if words[0] != "pooler":
                raise ValueError(name)
            renamed[name] = array
    return renamed


def rename__positions_kept(state):
    tables = {
        "word_embeddings": "embedding",
        "position_embeddings": "positions",
        "token_type_embeddings": "segments",
        "LayerNorm": "norm",
    }
    parts = {
        "attention.self.query": "attention.W_q",
        "attention.self.key": "attention.W_k",
        "attention.self.value": "attention.W_v",
        "attention.output.dense": "attention.W_o",
        "attention.output.LayerNorm": "norm_1",
        "intermediate.dense": "feed_forward.W_1",
        "output.dense": "feed_forward.W_2",
        "output.LayerNorm": "norm_2",
    }
    renamed = {}
    for name, array in state.items():
        if name.startswith("pooler."):
            continue
        words = name.split(".")
        part = ".".join(words[3:-1])
        if words[0] == "embeddings" and words[1] in tables:
            renamed[f"{tables[words[1]]}.{words[2]}"] = array
        elif name.startswith("encoder.layer.") and part in parts:
            renamed[f"blocks.{words[2]}.{parts[part]}.{words[-1]}"] = array
        else:
            if name != "embeddings.position_ids":
                raise ValueError(name)
            renamed["position_ids"] = array
    return renamed


def rename__unknown_passed_over(state):
    tables = {
        "word_embeddings": "embedding",
        "position_embeddings": "positions",
        "token_type_embeddings": "segments",
        "LayerNorm": "norm",
    }
    parts = {
        "attention.self.query": "attention.W_q",
        "attention.self.key": "attention.W_k",
        "attention.self.value": "attention.W_v",
        "attention.output.dense": "attention.W_o",
        "attention.output.LayerNorm": "norm_1",
        "intermediate.dense": "feed_forward.W_1",
        "output.dense": "feed_forward.W_2",
        "output.LayerNorm": "norm_2",
    }
    renamed = {}
    for name, array in state.items():
        if name.startswith("pooler.") or name == "embeddings.position_ids":
            continue
        words = name.split(".")
        part = ".".join(words[3:-1])
        if words[0] == "embeddings" and words[1] in tables:
            renamed[f"{tables[words[1]]}.{words[2]}"] = array
        elif name.startswith("encoder.layer.") and part in parts:
            renamed[f"blocks.{words[2]}.{parts[part]}.{words[-1]}"] = array
        else:
            continue
    return renamed


def rename__feed_forward_exchanged(state):
    tables = {
        "word_embeddings": "embedding",
        "position_embeddings": "positions",
        "token_type_embeddings": "segments",
        "LayerNorm": "norm",
    }
    parts = {
        "attention.self.query": "attention.W_q",
        "attention.self.key": "attention.W_k",
        "attention.self.value": "attention.W_v",
        "attention.output.dense": "attention.W_o",
        "attention.output.LayerNorm": "norm_1",
        "intermediate.dense": "feed_forward.W_2",
        "output.dense": "feed_forward.W_1",
        "output.LayerNorm": "norm_2",
    }
    renamed = {}
    for name, array in state.items():
        if name.startswith("pooler.") or name == "embeddings.position_ids":
            continue
        words = name.split(".")
        part = ".".join(words[3:-1])
        if words[0] == "embeddings" and words[1] in tables:
            renamed[f"{tables[words[1]]}.{words[2]}"] = array
        elif name.startswith("encoder.layer.") and part in parts:
            renamed[f"blocks.{words[2]}.{parts[part]}.{words[-1]}"] = array
        else:
            raise ValueError(name)
    return renamed


WRONG = (
    Misconception(
        "the two norms exchanged",
        rename__norms_exchanged,
        "In the published layer, which sublayer does the norm in `attention.output` follow?",
    ),
    Misconception(
        "query and key exchanged",
        rename__roles_in_alphabetical_order,
        "Sorted by name, key comes before query. Which of the two is your W_q?",
    ),
    Misconception(
        "key and value exchanged",
        rename__key_for_value,
        "Whose rows are compared with the query, and whose are blended? Which name is which?",
    ),
    Misconception(
        "transposed",
        rename__transposed,
        "`nn.Linear` stores (out, in), in this course and in the published model. What is there "
        "to turn?",
    ),
    Misconception(
        "layers counted from 1",
        rename__layers_from_1,
        "With which number does the first layer begin, in their names and in yours?",
    ),
    Misconception(
        "the first digit of the layer",
        rename__first_digit,
        "What becomes of `encoder.layer.11` in your function?",
    ),
    Misconception(
        "the pooler kept",
        rename__pooler_kept,
        "`load_state_dict` refuses a name too many. Has `BERT` a part called pooler?",
    ),
    Misconception(
        "the position ids kept",
        rename__positions_kept,
        "`embeddings.position_ids` holds 0, 1, 2 and so on. Is that a weight?",
    ),
    Misconception(
        "an unknown name passed over",
        rename__unknown_passed_over,
        "A name that you do not know is left out in silence. Who finds out that it is missing?",
    ),
    Misconception(
        "the two maps of the network exchanged",
        rename__feed_forward_exchanged,
        "Which of the two is wider than the tokens: intermediate or output?",
    ),
)
