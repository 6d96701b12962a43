"""The toy assignment with a written question, the page that asks it, and its notebook."""

import dataclasses

import toy

from autograder.exercise.model import Written

WHY = Written(name="why", points=2, minutes=5, rubric="Says why.")
ASSIGNMENT = dataclasses.replace(toy.TOY, written=(WHY,))

PAGE = """\
---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  name: python3
  display_name: Python 3
  language: python
---

# A toy

Read, then write.

```{code-cell} ipython3
import numpy as np
from autograder import check
```

## Means

The mean of $[1, 3]$ is 2.

```{code-cell} ipython3
:exercise: row_mean
```

Now scale.

```{code-cell} ipython3
:exercise: scale
```

+++ {"written": "why"}

Why is a mean linear?

+++

The end.
"""


def write(folder, text=PAGE):
    path = folder / "toy.md"
    path.write_text(text, encoding="utf-8")
    return path
