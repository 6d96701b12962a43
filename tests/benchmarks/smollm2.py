"""`make bench`: SmolLM2 in this course's blocks, beside the `transformers` package.

Both have the same weights, those of the published file. 200 prompts are read by both, and each goes
on from them by itself, greedily.
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
"""Tokens that are written after each prompt."""
MOST_DIFFERENT = 1e-3


@torch.no_grad()
def main() -> None:
    """Compare, write what chapter 12 reads, and fail where the two differ."""
    ours = SmolLM2()
    theirs = same_weights(ours)
    worst, same = 0.0, 0
    for prompt in PROMPTS:
        ids = torch.tensor([ours.ids(prompt)])
        worst = max(worst, float((ours.logits(ids) - theirs(ids).logits).abs().max()))
        written = theirs.generate(
            ids, max_new_tokens=MOST, do_sample=False, eos_token_id=ours.end, pad_token_id=ours.end
        )[0, ids.shape[1] :].tolist()
        same += [*ours.write(ids[0].tolist(), MOST)] == [one for one in written if one != ours.end]
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
