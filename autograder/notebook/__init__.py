"""The self-check: what the student's notebook sees.

A file beside the notebook may have the name of a module of Python or NumPy, and be found in its
place. So nothing is imported here but what every Python has loaded already.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from types import TracebackType

TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
"""PyTorch's own package index. On Linux, the ordinary one has only the build for NVIDIA cards."""

_REQUIREMENTS = {"numpy": "numpy", "torch": f"torch --extra-index-url {TORCH_INDEX}"}


def what_to_install(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return an error that says what to type, if NumPy or PyTorch is missing; else `error`."""
    requirement = _REQUIREMENTS.get(error.name or "")
    if requirement is None:
        return error
    return ModuleNotFoundError(
        f"The exercises need {error.name}, which this notebook's Python ({sys.executable}) does "
        "not have. Run this line in a new cell, then restart the kernel and begin again:\n\n"
        f"    %pip install {requirement}\n",
        name=error.name,
    )


class NamingWhatIsInTheWay:
    """A block that needs modules of Python and NumPy; ImportError if a file stands in their place.

    Its message says which file, and what to do. What has another cause goes through.
    """

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(
        self, _: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """See the class."""
        if not isinstance(error, Exception):
            return
        found = [*_run(at), *(_loaded(error) if isinstance(error, _OF_A_WRONG_MODULE) else ())]
        if found:
            raise ImportError(
                f"{' and '.join(dict.fromkeys(found))}: Python needs another module of this name, "
                "and finds this file in its place. Rename the file, restart the kernel, and run "
                "the notebook again."
            ) from error


_OF_A_WRONG_MODULE = (ImportError, AttributeError)


def _run(trace: TracebackType | None) -> Iterator[str]:
    """The files in the place of a module that a traceback leads through."""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if _name_taken(file):
            yield file
        trace = trace.tb_next


def _loaded(error: Exception) -> Iterator[str]:
    """The files in the place of a module that are loaded, and may be the reason of an error."""
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    for module in [*sys.modules.values()]:
        file = getattr(module, "__file__", None)
        name = _name_taken(file) if isinstance(file, str) else None
        if name and (missing is None or missing.partition(".")[0] == name):
            yield str(file)


def _name_taken(file: str) -> str | None:
    """The name of a module that is a file, or a folder, where we work, if there is another one."""
    folder, base = os.path.split(os.path.abspath(file))
    if base == "__init__.py":
        folder, base = os.path.split(folder)
    here, name = os.getcwd(), base.removesuffix(".py")
    if folder != here or name == __name__.partition(".")[0]:
        return None
    others = [path for path in sys.path if os.path.abspath(path) != here]
    known = name in sys.stdlib_module_names or any(
        os.path.exists(os.path.join(path, one)) for path in others for one in (name, f"{name}.py")
    )
    return name if known else None
