"""Test that replies of a room are validated like all data from a sandbox."""

import pytest

from autograder.probe.line import LineError
from autograder.probe.status import Status
from autograder.sandbox.rooms import _parse_reply

REPLY = {"status": "ended", "cell": None, "sizes": [2, 1], "requests": [[0, 3]], "clean": True}


def test_reply_is_parsed_into_a_run():
    run, clean = _parse_reply(REPLY, b"abc")
    assert (run.status, run.results, run.requests) == (Status.ENDED, (b"ab", b"c"), {0: 3})
    assert clean
    assert not run.left


@pytest.mark.parametrize(
    "change",
    [
        {"status": "PASS"},
        {"status": ""},
        {"status": None},
        {"cell": "0"},
        {"sizes": [2]},
        {"sizes": [-1, 4]},
        {"requests": [[0]]},
    ],
)
def test_invalid_reply_is_an_error(change):
    with pytest.raises(LineError):
        _parse_reply(REPLY | change, b"abc")
