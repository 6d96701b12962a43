"""The autograder: what an exercise is, how an answer is judged, how a class is graded.

In a notebook: `from autograder import check`, then `check(my_function)`.
"""

import sys
from typing import TYPE_CHECKING, Any

if sys.version_info < (3, 11):  # noqa: UP036 - no installer has looked, for a student
    raise ImportError("The exercises need Python 3.11 or newer. This is " + sys.version.split()[0])

if TYPE_CHECKING:
    from .notebook.check import check

__all__ = ["check"]


def __getattr__(name: str) -> Any:
    """Import `check` where it is first asked for: the command starts without NumPy.

    Raises ModuleNotFoundError, saying what to install, if the exercises need what is missing.
    """
    if name != "check":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .notebook import ShadowedModuleHint, what_to_install

    with ShadowedModuleHint():
        try:
            from .notebook.check import check, import_torch_if_needed

            import_torch_if_needed()
        except ModuleNotFoundError as error:
            raise what_to_install(error) from None

    return check
