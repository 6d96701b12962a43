"""Read the time of submission from nbgrader's timestamp.txt in a submission's folder."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

import dateutil.parser
import dateutil.tz

from .files import read_start
from .plaintext import printable

YEARS = range(1990, 2200)
"""The years in which work may have been handed in."""

_DEFAULTS = (datetime(2000, 1, 1), datetime(2001, 2, 2))
"""Two dates that fill in the missing parts of a text; they differ in every part."""


class UnknownZone(ValueError):
    """Raised for a time zone that this machine does not know."""


def submission_time(folder: Path) -> datetime | None:
    """Return the time (UTC) in the timestamp.txt of a submission's folder; None without a file.

    Raises ValueError, which names the file, if it holds no plausible time. Years outside of YEARS
    are refused, since nbgrader's pages fail to convert times at the ends of the calendar.
    """
    path = folder / "timestamp.txt"
    if not os.path.lexists(path):
        return None
    try:
        time = parse_time(read_start(path, 100).decode().strip())
    except UnknownZone as error:
        raise ValueError(
            f"{path}: {error}. Until then, this submission has no known time."
        ) from error
    except Exception as error:  # a student's text can make the parser raise other types, too
        raise ValueError(
            f"{path}: it holds no time, so this submission has no known time. Remove the file."
        ) from error
    if time.year not in YEARS:
        raise ValueError(
            f"{path}: its year is {time.year}, which is not from {YEARS[0]} to {YEARS[-1]}, "
            "so this submission has no known time. Correct the file, or remove it."
        )
    return time


def in_future(time: datetime) -> bool:
    """Return True for a time (naive, in UTC) more than five minutes in the future."""
    return time > datetime.now(UTC).replace(tzinfo=None) + timedelta(minutes=5)


def to_utc(value: datetime | str | None) -> datetime | None:
    """Return a time, in any form that nbgrader uses, as a naive datetime in UTC.

    This replaces nbgrader's own `parse_utc`. Raises what `parse_time` raises.
    """
    if value is None:
        return None
    if isinstance(value, str):
        return parse_time(value.strip())
    return (value - (value.utcoffset() or timedelta(0))).replace(tzinfo=None)


def parse_time(text: str) -> datetime:
    """Return the time in `text` as a naive datetime in UTC.

    A time zone is a name of the IANA database (`America/Los_Angeles`), an offset (`-0800`) or an
    abbreviation that this machine knows; without one the time is in UTC, as nbgrader documents.
    nbgrader's own parser reads an unknown abbreviation as UTC, and the offset -0800 as 800
    seconds. Raises UnknownZone, and ValueError if `text` is not a date and a time.
    """
    before, _, last = text.rpartition(" ")
    zone = None
    if "/" in last and any(map(str.isalpha, last)):
        text, zone = before, _zone(last, None)
    orders = (False,) if re.match(r"\d{4}\D", text) else (False, True)
    times: list[datetime] = [
        dateutil.parser.parse(text, default=default, tzinfos=_zone, dayfirst=day_first)
        for default in _DEFAULTS
        for day_first in orders
    ]
    if len(set(times)) > 1:
        raise ValueError(
            f"{printable(text)}: part of the date is missing, or day and month are ambiguous. "
            "Write it as in 2026-10-12 23:59:00 UTC."
        )
    time = times[0] if zone is None else times[0].replace(tzinfo=zone)
    offset = time.utcoffset() or timedelta(0)
    return (time - offset).replace(tzinfo=None)


def _zone(name: str | None, offset: int | None) -> tzinfo:
    if offset is not None:
        fixed: tzinfo = dateutil.tz.tzoffset(name, offset)
        return fixed
    zone: tzinfo | None = dateutil.tz.gettz(name) if name else dateutil.tz.UTC
    if zone is None:
        raise UnknownZone(
            f"the time zone {printable(name or '')} is not known. Write an offset such as -0800, "
            "or a name such as America/Los_Angeles"
        )
    return zone
