"""`make bench`: compare SmolLM2, built from this course's blocks, with `transformers`.

Both have the weights of the published file. Both read the same 200 prompts, and each continues them
with greedy decoding.
"""

from __future__ import annotations

import datetime
import json
import platform
from pathlib import Path

import torch
import transformers
from smollm2_of_transformers import PROMPTS, same_weights

from solutions.published.smollm2 import SmolLM2

RESULT = Path("book/measured/smollm2.json")
MOST = 8
"""The maximum number of tokens that are generated after each prompt."""
MOST_DIFFERENT = 1e-3


@torch.no_grad()
def main() -> None:
    """Compare, write the result that chapter 12 reads, and fail if the two differ."""
    ours = SmolLM2()
    theirs = same_weights(ours)
    worst, same = 0.0, 0
    for prompt in PROMPTS:
        ids = torch.tensor([ours.ids(prompt)])
        worst = max(worst, float((ours.logits(ids) - theirs(ids).logits).abs().max()))
        written = theirs.generate(
            ids, max_new_tokens=MOST, do_sample=False, eos_token_id=ours.end, pad_token_id=ours.end
        )[0, ids.shape[1] :].tolist()
        tokens = [token for token in written if token != ours.end]
        same += [*ours.write(ids[0].tolist(), MOST)] == tokens
    versions = {"python": platform.python_version(), "torch": torch.__version__}
    result = {
        "date": datetime.date.today().isoformat(),
        "versions": versions | {"transformers": transformers.__version__},
        "prompts": len(PROMPTS),
        "most_tokens": MOST,
        "largest_logit_difference": worst,
        "prompts_with_equal_tokens": same,
    }
    print(json.dumps(result, indent=1))
    assert worst < MOST_DIFFERENT
    assert same == len(PROMPTS)
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
