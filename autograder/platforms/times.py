"""Convert times of submissions between the formats of platforms and nbgrader. All are naive UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime

ON_THE_PLATFORM = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d+))? ?(Z|UTC|[+-]\d\d:?\d\d)", re.ASCII
)

MOODLE = (
    "%d %B %Y, %I:%M %p",
    "%d %B %Y, %H:%M",
    "%B %d, %Y, %I:%M %p",
    "%B %d, %Y, %H:%M",
)
"""Moodle's date formats in British and American English, without the day of the week."""


def parse_time(text: str) -> datetime | None:
    """Return the time in `text`, which must include its time zone; None for another format."""
    match = ON_THE_PLATFORM.fullmatch(text.strip())
    if match is None:
        return None
    date, clock, fraction, zone = match.groups()
    zone = "+00:00" if zone in ("Z", "UTC") else zone
    try:
        time = datetime.fromisoformat(f"{date}T{clock}.{(fraction or '0')[:6]:0<6}{zone}")
        return time.astimezone(UTC).replace(tzinfo=None, microsecond=0)
    except (ValueError, OverflowError):
        return None


def parse_moodle_time(text: str) -> datetime | None:
    """Return the time in a cell of Moodle's worksheet; None if it cannot be read.

    Moodle writes no time zone, so the time is read in the time zone of this process.
    """
    text = " ".join(text.split())
    weekday = re.match(r"[A-Z][a-z]+day, ", text)
    for form in MOODLE:
        try:
            local = datetime.strptime(text[weekday.end() :] if weekday else text, form)
            return local.astimezone().astimezone(UTC).replace(tzinfo=None)
        except (ValueError, OverflowError, OSError):
            continue
    return None


def as_timestamp(time: datetime) -> str:
    """Return `time` in nbgrader's format for timestamp.txt."""
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"
