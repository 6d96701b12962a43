"""What is known of the chapters that were executed: the outputs, and under what they were made.

The outputs are in the execution cache, from which MyST-NB renders the pages. Beside it, a file
holds for each chapter the digest of all that it depended on when it was executed, and the seconds.
"""

import json
from pathlib import Path
from typing import Any

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn

from .chapters import Chapter

FILE = "chapters.json"


class Records:
    """The execution cache in the folder `cache_path`, and the file beside it."""

    def __init__(self, cache_path: str) -> None:
        self.cache = get_cache(cache_path)
        self.path = Path(cache_path) / FILE
        known = self.path.read_text(encoding="utf-8") if self.path.exists() else "{}"
        self.known: dict[str, dict[str, Any]] = json.loads(known)

    def seconds(self, name: str) -> float | None:
        """Return what the last execution of the chapter `name` took, if there was one."""
        return self.known[name]["seconds"] if name in self.known else None

    def holds(self, chapter: Chapter, digest: str) -> bool:
        """Tell whether these cells are in the cache, executed under this digest."""
        try:
            self.cache.match_cache_notebook(chapter.notebook)
        except KeyError:
            return False
        return self.known.get(chapter.name, {}).get("digest") == digest

    def drop(self, chapter: Chapter) -> None:
        """Forget all outputs of a chapter that is to be executed again.

        Older versions of it go as well: files that they have written, which other chapters read,
        are about to be written over.
        """
        for record in self.cache.list_cache_records():
            if Path(record.uri) == chapter.path:
                self.cache.remove_cache(record.pk)

    def keep(self, chapter: Chapter, digest: str, seconds: float) -> None:
        """Put an executed chapter into the cache."""
        data = {"execution_seconds": seconds}
        bundle = CacheBundleIn(chapter.notebook, str(chapter.path), data=data)
        self.cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
        self.known[chapter.name] = {"digest": digest, "seconds": seconds}
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text(json.dumps(self.known, indent=2) + "\n", encoding="utf-8")
        temporary.replace(self.path)
