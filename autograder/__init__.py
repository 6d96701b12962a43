"""The autograder: declares exercises, judges answers, and grades a class.

In a notebook: `from autograder import check`, then `check(my_function)`.
"""

import sys
from typing import TYPE_CHECKING, Any

if sys.version_info < (3, 11):  # noqa: UP036 - students install with no version check
    raise ImportError("The exercises need Python 3.11 or newer. This is " + sys.version.split()[0])

if TYPE_CHECKING:
    from .notebook.check import check

__all__ = ["check"]


def __getattr__(name: str) -> Any:
    """Import `check` on first access, so that the command line starts without NumPy.

    Raises ModuleNotFoundError, which names what to install, if a package is missing.
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
