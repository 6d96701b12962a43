"""The exercise `rename_weights`: a published model's weights under the course's names."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Raises
from solutions import gpt_and_bert as solutions

rename_weights = Declaration(
    solutions.rename_weights,
    points=3,
    difficulty=2,
    minutes=20,
    help=(
        "Make two tables from their names to yours, one for the embedding and one for the parts "
        "of a layer. Then cut each name into a layer, a part and the word weight or bias.",
        "`name.rpartition('.')` cuts off weight or bias. `output.dense` occurs in two names: "
        "what comes before it says which is which.",
        "Section “Weights that others have trained”, on the page about BERT.",
    ),
)


@rename_weights.right
def word_by_word(state):
    embeddings = {
        "word_embeddings": ["embedding"],
        "position_embeddings": ["positions"],
        "token_type_embeddings": ["segments"],
        "LayerNorm": ["norm"],
    }
    attention = {"query": "W_q", "key": "W_k", "value": "W_v"}
    renamed = {}
    for name, array in state.items():
        match name.split("."):
            case ["pooler", *_] | ["embeddings", "position_ids"]:
                continue
            case ["embeddings", table, kind] if table in embeddings:
                parts = [*embeddings[table], kind]
            case ["encoder", "layer", i, "attention", "self", role, kind] if role in attention:
                parts = ["blocks", i, "attention", attention[role], kind]
            case ["encoder", "layer", i, "attention", "output", "dense", kind]:
                parts = ["blocks", i, "attention", "W_o", kind]
            case ["encoder", "layer", i, "attention", "output", "LayerNorm", kind]:
                parts = ["blocks", i, "norm_1", kind]
            case ["encoder", "layer", i, "intermediate", "dense", kind]:
                parts = ["blocks", i, "feed_forward", "W_1", kind]
            case ["encoder", "layer", i, "output", "dense", kind]:
                parts = ["blocks", i, "feed_forward", "W_2", kind]
            case ["encoder", "layer", i, "output", "LayerNorm", kind]:
                parts = ["blocks", i, "norm_2", kind]
            case _:
                raise ValueError(f"unknown: {name}")
        renamed[".".join(parts)] = array
    return renamed


@rename_weights.right
def replaced(state):
    changes = (
        ("embeddings.LayerNorm", "norm"),
        ("embeddings.word_embeddings", "embedding"),
        ("embeddings.position_embeddings", "positions"),
        ("embeddings.token_type_embeddings", "segments"),
        ("encoder.layer.", "blocks."),
        (".attention.output.LayerNorm.", ".norm_1."),
        (".attention.output.dense.", ".attention.W_o."),
        (".attention.self.query.", ".attention.W_q."),
        (".attention.self.key.", ".attention.W_k."),
        (".attention.self.value.", ".attention.W_v."),
        (".intermediate.dense.", ".feed_forward.W_1."),
        (".output.dense.", ".feed_forward.W_2."),
        (".output.LayerNorm.", ".norm_2."),
    )
    tables = {"embedding.weight", "positions.weight", "segments.weight"}
    tables |= {"norm.weight", "norm.bias"}
    parts = {"norm_1", "norm_2", "feed_forward.W_1", "feed_forward.W_2"}
    parts |= {f"attention.W_{one}" for one in "qkvo"}
    renamed = {}
    for name, array in state.items():
        new = name
        for old, ours in changes:
            new = new.replace(old, ours)
        part = ".".join(new.split(".")[2:-1])
        if new in tables or (new.startswith("blocks.") and part in parts):
            renamed[new] = array
        elif not name.startswith("pooler.") and name != "embeddings.position_ids":
            raise ValueError(name)
    return renamed


@rename_weights.right
def from_our_names(state):
    theirs = {
        "attention.W_q": "attention.self.query",
        "attention.W_k": "attention.self.key",
        "attention.W_v": "attention.self.value",
        "attention.W_o": "attention.output.dense",
        "norm_1": "attention.output.LayerNorm",
        "feed_forward.W_1": "intermediate.dense",
        "feed_forward.W_2": "output.dense",
        "norm_2": "output.LayerNorm",
    }
    pairs = {
        "embeddings.word_embeddings.weight": "embedding.weight",
        "embeddings.position_embeddings.weight": "positions.weight",
        "embeddings.token_type_embeddings.weight": "segments.weight",
        "embeddings.LayerNorm.weight": "norm.weight",
        "embeddings.LayerNorm.bias": "norm.bias",
    }
    for layer in range(len(state)):
        for ours, published in theirs.items():
            for kind in ("weight", "bias"):
                name = f"encoder.layer.{layer}.{published}.{kind}"
                pairs[name] = f"blocks.{layer}.{ours}.{kind}"
    wanted = [
        name
        for name in state
        if not (name.startswith("pooler.") or name == "embeddings.position_ids")
    ]
    strangers = [name for name in wanted if name not in pairs]
    if strangers:
        raise ValueError(", ".join(strangers))
    return {pairs[name]: state[name] for name in wanted}


@rename_weights.right
def plain(state):
    tables = {
        "embeddings.word_embeddings": "embedding",
        "embeddings.position_embeddings": "positions",
        "embeddings.token_type_embeddings": "segments",
        "embeddings.LayerNorm": "norm",
    }
    theirs = (
        "attention.self.query attention.self.key attention.self.value attention.output.dense "
        "intermediate.dense output.dense attention.output.LayerNorm output.LayerNorm"
    )
    ours = (
        "attention.W_q attention.W_k attention.W_v attention.W_o "
        "feed_forward.W_1 feed_forward.W_2 norm_1 norm_2"
    )
    parts = dict(zip(theirs.split(), ours.split(), strict=True))
    renamed = {}
    for name, array in state.items():
        if name.startswith("pooler.") or name == "embeddings.position_ids":
            continue
        path, _, kind = name.rpartition(".")
        layer, _, part = path.removeprefix("encoder.layer.").partition(".")
        if path in tables:
            renamed[f"{tables[path]}.{kind}"] = array
        elif path.startswith("encoder.layer.") and part in parts:
            renamed[f"blocks.{layer}.{parts[part]}.{kind}"] = array
        else:
            raise ValueError(name)
    return renamed


rename_weights.wrong(
    "the two norms exchanged",
    "In the published layer, which sublayer does the norm in `attention.output` follow?",
    plain.edit("norm_1 norm_2", "norm_2 norm_1"),
)
rename_weights.wrong(
    "query and key exchanged",
    "Sorted by name, key comes before query. Which of the two is your W_q?",
    plain.edit("attention.W_q attention.W_k", "attention.W_k attention.W_q"),
)
rename_weights.wrong(
    "key and value exchanged",
    "Whose rows are compared with the query, and whose are blended? Which name is which?",
    plain.edit("attention.W_k attention.W_v", "attention.W_v attention.W_k"),
)
rename_weights.wrong(
    "transposed",
    "`nn.Linear` stores (out, in), in this course and in the published model. What is there to "
    "transpose?",
    plain.edit('{parts[part]}.{kind}"] = array', '{parts[part]}.{kind}"] = array.T'),
)
rename_weights.wrong(
    "layers counted from 1",
    "What is the number of the first layer, in their names and in yours?",
    plain.edit("{layer}", "{int(layer) + 1}"),
)
rename_weights.wrong(
    "the first digit of the layer",
    "What does your function make of `encoder.layer.11`?",
    plain.edit("{layer}", "{layer[0]}"),
)
rename_weights.wrong(
    "the pooler kept",
    "`load_state_dict` refuses a name that the model does not have. Does `BERT` have a part "
    "called pooler?",
    plain.edit("continue", 'if name.startswith("pooler."):\n    renamed[name] = array\ncontinue'),
)
rename_weights.wrong(
    "the position ids kept",
    "`embeddings.position_ids` holds 0, 1, 2 and so on. Is that a weight?",
    plain.edit(
        "continue",
        'if name == "embeddings.position_ids":\n    renamed["position_ids"] = array\ncontinue',
    ),
)
rename_weights.wrong(
    "an unknown name skipped",
    "A name that you do not know is left out without a word. When would anyone notice that it is "
    "missing?",
    plain.edit("raise ValueError(name)", "continue"),
)
rename_weights.wrong(
    "the two maps of the network exchanged",
    "Which of the two is wider than the tokens: intermediate or output?",
    plain.edit("feed_forward.W_1 feed_forward.W_2", "feed_forward.W_2 feed_forward.W_1"),
)


OF_LAYERS = {
    "attention.self.query": (3, 3),
    "attention.self.key": (3, 3),
    "attention.self.value": (3, 3),
    "attention.output.dense": (3, 3),
    "attention.output.LayerNorm": (3,),
    "intermediate.dense": (5, 3),
    "output.dense": (3, 5),
    "output.LayerNorm": (3,),
}
"""The parts of a published layer, with the shapes of their weights."""


@rename_weights.public
def _(rng):
    yield Case("the tables of the embedding", (_embeddings(rng),))
    yield Case("one layer", (_layers(rng, 1),)).holds(
        "The layer `encoder.layer.3` becomes `blocks.3`.", "The arrays themselves are not changed."
    )
    yield Case("a whole model of two layers", (_model(rng, 2),)).holds(
        "state: the weights by their published names, of any number of layers, in any order."
    )
    yield Case("twelve layers", (_layers(rng, 12),)).holds("state: the…", "The layer…")
    yield Case("in another order", (_shuffled(rng, _model(rng, 2)),)).holds("state: the…")
    yield Case("parts that the encoder does not have", (_rest(rng) | _embeddings(rng),)).holds(
        "What `BERT` has no place for is left out: `embeddings.position_ids`, and all that "
        "begins with `pooler.`."
    )
    yield Case("no weights", ({},)).holds("state: the…")
    yield Case("a layer of one feature", (_layers(rng, 1, d=1),)).holds("The arrays…")
    name = "cls.predictions.bias"
    yield Case(
        "a name that no BERT has", ({name: rng.normal(size=3)},), raises=_refused(name)
    ).holds("Raises ValueError, with the name in its message, for a name that no BERT has.")
    name = "encoder.layer.0.attention.self.queries.weight"
    yield Case(
        "a part that no layer has", ({name: rng.normal(size=3)},), raises=_refused(name)
    ).holds("Raises ValueError…")
    for name in (
        "poolers.dense.weight",
        "embeddings.position_ids.weight",
        "my.encoder.layer.0.output.dense.bias",
    ):
        note = f"a name that only resembles one, {name}"
        yield Case(note, ({name: rng.normal(size=3)},), raises=_refused(name))


@rename_weights.hidden
def _(rng):
    yield Case("the tables of the embedding", (_shuffled(rng, _embeddings(rng)),))
    yield Case("one layer", (_shuffled(rng, _layers(rng, 1)),))
    yield Case("a whole model", (_model(rng, int(rng.integers(3, 5))),))
    yield Case("more than ten layers", (_shuffled(rng, _layers(rng, int(rng.integers(11, 14)))),))
    yield Case("in another order", (_shuffled(rng, _model(rng, 2)),))
    yield Case("a layer of one feature", (_shuffled(rng, _layers(rng, 1, d=1)),))
    name = f"encoder.layer.1.crossattention.self.{rng.choice(['query', 'key'])}.weight"
    yield Case("a part that no layer has", ({name: rng.normal(size=3)},), raises=_refused(name))


def _refused(name: str) -> Raises:
    return Raises("ValueError", (name,))


def _embeddings(rng: np.random.Generator) -> dict[str, np.ndarray]:
    sizes = {"word": (7, 3), "position": (4, 3), "token_type": (2, 3)}
    tables = {f"embeddings.{one}_embeddings.weight": size for one, size in sizes.items()}
    shapes = {**tables, "embeddings.LayerNorm.weight": (3,), "embeddings.LayerNorm.bias": (3,)}
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


def _layers(rng: np.random.Generator, n_layers: int, d: int = 3) -> dict[str, np.ndarray]:
    found = {}
    for layer in range(n_layers):
        for part, of_three in OF_LAYERS.items():
            shape = tuple(d if size == 3 else size for size in of_three)
            found[f"encoder.layer.{layer}.{part}.weight"] = rng.normal(size=shape)
            found[f"encoder.layer.{layer}.{part}.bias"] = rng.normal(size=shape[0])
    return found


def _rest(rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {
        "embeddings.position_ids": np.arange(4)[None],
        "pooler.dense.weight": rng.normal(size=(3, 3)),
        "pooler.dense.bias": rng.normal(size=3),
    }


def _model(rng: np.random.Generator, n_layers: int) -> dict[str, np.ndarray]:
    return _embeddings(rng) | _layers(rng, n_layers) | _rest(rng)


def _shuffled(rng: np.random.Generator, state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    names = list(state)
    return {names[at]: state[names[at]] for at in rng.permutation(len(names)).tolist()}
