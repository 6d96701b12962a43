from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Softmax:
    shift: "float" = 0.0
    known: ClassVar[dict] = {}

    def __call__(self, x: "np.ndarray", axis: "int" = -1) -> "np.ndarray":
        e = np.exp(x - np.amax(x, axis=axis, keepdims=True) - self.shift)
        return e / e.sum(axis=axis, keepdims=True)


softmax = Softmax(shift=1.0)
