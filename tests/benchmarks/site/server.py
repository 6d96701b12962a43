"""Serve the site as web hosts do, with compressed text and, optionally, with delayed fonts."""

import gzip
import io
import time
from email.utils import formatdate
from functools import cache
from pathlib import Path
from typing import BinaryIO

from site_tools import QuietHandler

COMPRESSED = {".css", ".html", ".js", ".json", ".map", ".mjs", ".svg", ".txt", ".wasm", ".xml"}
LATE = 1  # seconds: longer than the 0.1 s that browsers wait before they show a fallback font


class Compressing(QuietHandler):
    """Serve a folder as static hosts do: text with gzip, fonts and pictures unchanged.

    The browser may cache everything for ten minutes.
    """

    protocol_version = "HTTP/1.1"

    def send_head(self) -> BinaryIO | None:
        path = Path(self.translate_path(self.path))
        if path.suffix not in COMPRESSED or not path.is_file():
            return super().send_head()
        changed = path.stat().st_mtime
        body = packed(path, changed)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Last-Modified", formatdate(changed, usegmt=True))
        self.end_headers()
        return io.BytesIO(body)

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "max-age=600")
        super().end_headers()


class FontsLate(Compressing):
    """Imitate a slow connection: a font arrives long after its page is shown."""

    def send_head(self) -> BinaryIO | None:
        if Path(self.translate_path(self.path)).suffix in (".woff", ".woff2"):
            time.sleep(LATE)
        return super().send_head()


@cache
def packed(path: Path, changed: float) -> bytes:
    """Return the gzipped content of a file. It is cached until the file changes."""
    return gzip.compress(path.read_bytes())
