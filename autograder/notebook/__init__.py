"""The self-check in the student's notebook.

A file in the notebook's folder may have the name of a module that Python or NumPy needs, and shadow
it. So this file imports only modules that every Python has loaded already.
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


class ShadowedModuleHint:
    """A context manager for code that imports modules of Python and NumPy.

    If a file of the student's shadows one of them and the code fails for that reason, it raises
    ImportError with the name of the file and what to do. Other exceptions pass through unchanged.
    """

    def __enter__(self) -> None:
        """Enter the block."""

    def __exit__(
        self, _: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """Raise ImportError if a shadowing file explains `error`."""
        if not isinstance(error, Exception):
            return
        files = [
            *_in_traceback(at),
            *(_loaded_files(error) if isinstance(error, _IMPORT_ERRORS) else ()),
        ]
        if files:
            raise ImportError(
                f"{' and '.join(dict.fromkeys(files))}: Python needs another module of this name, "
                "but finds this file instead. Rename the file, restart the kernel, and run the "
                "notebook again."
            ) from error


_IMPORT_ERRORS = (ImportError, AttributeError)
"""The errors that importing or using a wrong module raises."""


def _in_traceback(trace: TracebackType | None) -> Iterator[str]:
    """Yield the shadowing files that a traceback leads through."""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if _shadowed_module(file):
            yield file
        trace = trace.tb_next


def _loaded_files(error: Exception) -> Iterator[str]:
    """Yield the shadowing files that are loaded and may have caused the error."""
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    for module in [*sys.modules.values()]:
        file = getattr(module, "__file__", None)
        name = _shadowed_module(file) if isinstance(file, str) else None
        if name and (missing is None or missing.partition(".")[0] == name):
            yield str(file)


def _shadowed_module(file: str) -> str | None:
    """Return the name of the module that a file or package in the working directory shadows.

    None if the file is elsewhere, or there is no other module of its name.
    """
    folder, base = os.path.split(os.path.abspath(file))
    if base == "__init__.py":
        folder, base = os.path.split(folder)
    here, name = os.getcwd(), base.removesuffix(".py")
    if folder != here or name == __name__.partition(".")[0]:
        return None
    others = [path for path in sys.path if os.path.abspath(path) != here]
    exists = name in sys.stdlib_module_names or any(
        os.path.exists(os.path.join(path, base)) for path in others for base in (name, f"{name}.py")
    )
    return name if exists else None
