"""Reading submissions: what people and their tools do to a notebook, and what is taken from it."""

import copy
import dataclasses
import hashlib
import json
import os
import re
import socket

import nbformat
import page
import pytest
import toy

from autograder.course.course import SubmissionFile
from autograder.exercise.outline import outline
from autograder.exercise.stubs import stub
from autograder.judging.verdict import AS_GIVEN, Verdict
from autograder.nbgrader.autograded import autograded_notebook
from autograder.nbgrader.release import PLACE_FOR_ANSWER, build_notebook
from autograder.submission import reading
from autograder.submission.reading import MAX_BYTES, MAX_CELLS
from autograder.submission.submission import MAX_SOURCE, read_submission

PROMPT = "import numpy as np\nfrom autograder import check"


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    return build_notebook(page.ASSIGNMENT, page.write(tmp_path_factory.mktemp("page")))


@pytest.fixture
def content(released):
    """The release as a student's editor has it: plain data, with both exercises answered."""
    made = json.loads(json.dumps(released))
    find(made, "row_mean")["source"] = toy.RIGHT_MEAN
    find(made, "scale")["source"] = toy.RIGHT_SCALE
    find(made, "why")["source"] = "Because."
    return made


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "submitted" / "ann" / "toy" / "toy.ipynb"
    made.parent.mkdir(parents=True)
    return made


@pytest.fixture
def read(path, released):
    """Write what is given (data or bytes, or nothing) and read it as a submission."""

    def write_and_read(given=None):
        if given is not None:
            data = given if isinstance(given, bytes) else json.dumps(given).encode()
            path.write_bytes(data)
        return read_submission(
            SubmissionFile("ann", "toy", path), outline(page.ASSIGNMENT), released
        )

    return write_and_read


def find(content, name):
    return next(c for c in content["cells"] if c["metadata"]["nbgrader"]["grade_id"] == name)


def code(source, **more):
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    return cell | {"source": source} | more


def pairs(submission):
    return [(cell.source, cell.exercise) for cell in submission.program]


WHOLE = [(PROMPT, None), (toy.RIGHT_MEAN, "row_mean"), (toy.RIGHT_SCALE, "scale")]


def test_answers_are_taken_and_self_checks_left_out(read, content):
    submission = read(content)
    assert pairs(submission) == WHOLE
    assert submission.written == {"why": "Because."}
    assert submission.problems == {}
    assert submission.dropped == ()
    assert submission.digest == hashlib.sha256(json.dumps(content).encode()).hexdigest()


def as_colab(content):
    content["metadata"] = {"colab": {"provenance": []}, "kernelspec": {"name": "ir"}}
    for cell in content["cells"]:
        cell["metadata"]["id"] = cell.pop("id")
        cell["source"] = cell["source"].splitlines(keepends=True)
    content["nbformat_minor"] = 0


def as_vs_code(content):
    content["metadata"] = {"language_info": {"name": "python"}}
    content["nbformat_minor"] = 2
    for cell in content["cells"]:
        cell.pop("id")


def as_tool_that_drops_metadata(content):
    for cell in content["cells"]:
        cell["metadata"] = {}


def as_tool_that_drops_metadata_and_ids(content):
    as_tool_that_drops_metadata(content)
    for cell in content["cells"]:
        del cell["id"]


def as_forger(content):
    """Marks, tags, outputs, prompts, self-checks and the kernel, all changed."""
    content["metadata"]["kernelspec"] = {"name": "../../evil", "language": 3}
    for cell in content["cells"]:
        cell["metadata"]["tags"] = ["skip-execution"]
        cell["metadata"]["nbgrader"] |= {"points": 1e9, "grade": False, "locked": "no"}
        if cell["metadata"]["nbgrader"]["grade_id"].startswith("part"):
            cell["source"] = "raise SystemExit"
        if cell["metadata"]["nbgrader"]["grade_id"].endswith("check"):
            cell["source"] = "print('all tests passed')"
        if cell["cell_type"] == "code":
            cell["outputs"] = [{"output_type": "stream", "text": "10 of 10"}]


def as_malformed_elsewhere(content):
    """Things that are no cells, cells that are no text, and marks of other types."""
    content["cells"] += [None, 7, {}, {"cell_type": ["code"], "source": {}, "metadata": []}]
    content["cells"] += [code("", metadata={"nbgrader": {"grade_id": ["row_mean"]}}, id=[])]


@pytest.mark.parametrize(
    "change",
    [
        as_colab,
        as_vs_code,
        as_tool_that_drops_metadata,
        as_forger,
        as_malformed_elsewhere,
    ],
)
def test_the_same_is_taken_whatever_a_tool_or_a_forger_did_around_it(read, content, change):
    change(content)
    submission = read(content)
    assert pairs(submission) == WHOLE
    assert submission.written == {"why": "Because."}
    assert submission.problems == {}


def test_answers_that_lost_every_mark_are_known_by_the_function_they_define(read, content):
    as_tool_that_drops_metadata_and_ids(content)
    submission = read(content)
    assert pairs(submission) == WHOLE
    assert submission.written == {"why": "Because."}
    assert submission.problems == {}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_read(read, content, encoding):
    content["cells"].append(code("NaN"))
    data = json.dumps(content).replace('"NaN"', '"x"').encode(encoding)
    assert pairs(read(data))[:3] == WHOLE


def test_literals_and_keys_that_json_forbids_are_read(read, content):
    text = json.dumps(content).replace('"nbformat":', '"nan": NaN, "nbformat": 3, "nbformat":')
    assert pairs(read(text.encode())) == WHOLE


def test_added_cells_stay_where_they_were(read, content):
    cells = content["cells"]
    cells.insert(cells.index(find(content, "row_mean")), code("helper = 2"))
    cells.insert(0, code("first = 1"))
    cells.append(code("last = 3"))
    cells.append({"cell_type": "markdown", "metadata": {}, "source": "my notes"})
    cells.append(code("   \n"))
    assert [source for source, _ in pairs(read(content))] == [
        "first = 1",
        PROMPT,
        "helper = 2",
        toy.RIGHT_MEAN,
        toy.RIGHT_SCALE,
        "last = 3",
    ]


def test_answers_come_in_the_order_of_the_release(read, content):
    content["cells"].reverse()
    assert pairs(read(content)) == WHOLE


WRONG = "def row_mean(X):\n    return 0"
TRIES = {
    "wrong, right": [WRONG, toy.RIGHT_MEAN],
    "wrong twice, right": [WRONG, "def row_mean(X):\n    return 1", toy.RIGHT_MEAN],
    "stub, wrong, right": ["stub", WRONG, toy.RIGHT_MEAN],
    "wrong, right, stub": [WRONG, toy.RIGHT_MEAN, "stub"],
    "wrong, right, empty": [WRONG, toy.RIGHT_MEAN, ""],
    "right, wrong, right": [toy.RIGHT_MEAN, WRONG, toy.RIGHT_MEAN],
}


@pytest.mark.parametrize("tries", TRIES.values(), ids=TRIES)
def test_of_an_answer_given_several_times_the_last_counts(read, content, released, tries):
    first = find(content, "row_mean")
    (stub,) = (c.source for c in released.cells if c.metadata.nbgrader.grade_id == "row_mean")
    for number, source in enumerate(stub if one == "stub" else one for one in tries):
        cell = first if number == 0 else copy.deepcopy(first)
        cell["source"] = source
        if number:
            content["cells"].append(cell)
    found = pairs(read(content))
    assert [pair for pair in found if pair[1] or pair in WHOLE] == WHOLE
    attempts = [pair for pair in found if pair not in WHOLE]
    at = found.index((toy.RIGHT_MEAN, "row_mean"))
    assert found[at - len(attempts) : at] == attempts  # they may define what it uses
    last = max(at for at, one in enumerate(tries) if one == toy.RIGHT_MEAN)
    assert {one for one, _ in attempts} == {*tries[:last]} - {"stub", toy.RIGHT_MEAN}


def test_what_an_earlier_attempt_defines_is_there_for_the_last(read, content):
    first = find(content, "row_mean")
    first["source"] = "def helper(row):\n    return 0\n\n" + WRONG
    content["cells"].append(copy.deepcopy(first) | {"source": toy.RIGHT_MEAN})
    found = pairs(read(content))
    assert found.index((first["source"], None)) < found.index((toy.RIGHT_MEAN, "row_mean"))


def test_of_a_duplicated_cell_the_last_counts_though_it_is_wrong(read, content):
    content["cells"].append(copy.deepcopy(find(content, "row_mean")) | {"source": WRONG})
    assert dict((name, source) for source, name in pairs(read(content)))["row_mean"] == WRONG


def test_a_copy_that_was_answered_counts_before_the_stub_that_was_not(read, content, released):
    answered = copy.deepcopy(find(content, "row_mean"))
    find(content, "row_mean")["source"] = next(
        cell.source for cell in released.cells if cell.metadata.nbgrader.grade_id == "row_mean"
    )
    content["cells"].append(answered)
    assert pairs(read(content)) == WHOLE


def test_an_answer_split_into_two_cells_stays_whole(read, content):
    first = find(content, "row_mean")
    helper = copy.deepcopy(first) | {"source": "def helper(row):\n    return sum(row)"}
    content["cells"].insert(content["cells"].index(first), helper)
    answer = dict((name, source) for source, name in pairs(read(content)))["row_mean"]
    assert answer == f"{helper['source']}\n\n{toy.RIGHT_MEAN}"


def test_an_answer_in_an_added_cell_is_run(read, content):
    find(content, "row_mean")["source"] = ""
    content["cells"].append(code("row_mean = lambda X: X.mean(axis=-1)"))
    submission = read(content)
    assert "row_mean" not in submission.problems
    assert pairs(submission)[-1] == ("row_mean = lambda X: X.mean(axis=-1)", None)


def test_text_that_is_no_unicode_harms_nothing(read, content):
    find(content, "row_mean")["source"] = toy.RIGHT_MEAN + "  # \ud800"
    find(content, "why")["source"] = "\udfff"
    submission = read(content)
    assert submission.program[1].source == toy.RIGHT_MEAN + "  # ?"
    assert submission.written == {"why": "?"}


def delete(content):
    content["cells"].remove(find(content, "row_mean"))


def empty(content):
    find(content, "row_mean")["source"] = ["\n", "  "]


def turn_to_text(content):
    find(content, "row_mean")["cell_type"] = "raw"


def turn_to_number(content):
    find(content, "row_mean")["source"] = 42


def lengthen(content):
    find(content, "row_mean")["source"] += "#" * MAX_SOURCE


PROBLEMS = [
    (delete, Verdict.MISSING, r"toy\.ipynb has no answer cell for `row_mean`. Get"),
    (empty, Verdict.MISSING, "The answer cell is empty. Define"),
    (turn_to_text, Verdict.MISSING, r"not a code cell \(raw\). Change"),
    (turn_to_number, Verdict.MALFORMED, "source is not text. Save"),
    (lengthen, Verdict.MALFORMED, "longer than 1000000 characters. Shorten"),
]


@pytest.mark.parametrize(("change", "verdict", "message"), PROBLEMS)
def test_what_is_wrong_with_one_answer_costs_the_others_nothing(
    read, content, change, verdict, message
):
    change(content)
    submission = read(content)
    assert list(submission.problems) == ["row_mean"]
    assert submission.problems["row_mean"].verdict is verdict
    assert re.search(message, submission.problems["row_mean"].message)
    assert pairs(submission) == [WHOLE[0], WHOLE[2]]


WHOLE_FILES = {
    "empty": (b"", "is empty"),
    "blank": (b" \n", "is empty"),
    "truncated": (b'{"cells": [{"cell_type": "code", "sou', "damaged or cut off"),
    "no text": (bytes(range(256)), "damaged or cut off"),
    "deep": (b'{"cells":' + b"[" * 10**6, "nested too deeply"),
    "huge number": (b"9" * 10**5, "damaged or cut off"),
    "list": (b"[]", "no cells"),
    "format 3": (b'{"nbformat": 3, "worksheets": [{"cells": []}]}', "old notebook format 3"),
    "cells no list": (b'{"nbformat": 4, "cells": {"a": 1}}', "no cells"),
    "too many cells": (b'{"cells": [' + b"0," * MAX_CELLS + b"0]}", f"at most {MAX_CELLS}"),
    "too large": (b" " * (MAX_BYTES + 1), "larger than 10 MiB"),
}


@pytest.mark.parametrize(("data", "message"), WHOLE_FILES.values(), ids=WHOLE_FILES.keys())
def test_a_file_that_is_no_notebook_is_malformed_and_says_why(read, data, message):
    submission = read(data)
    assert {one.verdict for one in submission.problems.values()} == {Verdict.MALFORMED}
    assert list(submission.problems) == ["row_mean", "scale"]
    assert message in submission.problems["scale"].message
    assert submission.program == ()


def test_the_largest_notebook_that_is_allowed_is_read(read, content):
    data = json.dumps(content).encode()
    assert pairs(read(data + b" " * (MAX_BYTES - len(data)))) == WHOLE


def test_no_notebook_is_missing_and_another_name_is_pointed_out(read, path, content):
    submission = read()
    assert {one.verdict for one in submission.problems.values()} == {Verdict.MISSING}
    other = path.with_name("toy (1)\u202e.ipynb")
    other.write_text(json.dumps(content))
    renamed = read()
    assert renamed.problems["scale"].verdict is Verdict.MISSING
    assert "but there is toy (1)\\u202e.ipynb. Rename it" in renamed.problems["scale"].message
    assert renamed.digest != submission.digest


def link(path, target):
    path.symlink_to(target)


def link_folder(path, target):
    path.parent.rmdir()
    path.parent.symlink_to(target.parent)
    target.rename(target.with_name("toy.ipynb"))


def link_student(path, target):
    path.parent.rmdir()
    path.parent.parent.rmdir()
    (target.parent / "toy").mkdir()
    target.rename(target.parent / "toy" / "toy.ipynb")
    path.parent.parent.symlink_to(target.parent)


@pytest.mark.parametrize("make", [link, link_folder, link_student])
def test_a_symbolic_link_is_not_followed(read, path, content, tmp_path, make):
    target = tmp_path / "elsewhere" / "secret.ipynb"
    target.parent.mkdir()
    target.write_text(json.dumps(content))
    make(path, target)
    submission = read()
    assert path.exists()
    assert submission.problems["scale"].verdict is Verdict.MALFORMED
    assert "symbolic link" in submission.problems["scale"].message
    assert submission.program == ()


def test_the_course_itself_may_be_reached_by_a_link(released, path, content, tmp_path):
    path.write_text(json.dumps(content))
    (tmp_path / "linked").symlink_to(tmp_path / "submitted")
    file = SubmissionFile("ann", "toy", tmp_path / "linked" / "ann" / "toy" / "toy.ipynb")
    assert pairs(read_submission(file, outline(page.ASSIGNMENT), released)) == WHOLE


def bind(path):
    folder = os.getcwd()
    os.chdir(path.parent)  # the address of a socket must be short
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(folder)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, bind])
def test_what_is_no_file_is_malformed_and_blocks_nothing(read, path, make):
    make(path)
    submission = read()
    assert {one.verdict for one in submission.problems.values()} == {Verdict.MALFORMED}


def test_a_file_where_the_folder_should_be_is_missing(read, path):
    path.parent.rmdir()
    path.parent.write_text("here it is")
    assert read().problems["scale"].verdict is Verdict.MISSING


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read_is_malformed(read, path, content):
    path.write_text(json.dumps(content))
    path.chmod(0)
    assert "permissions" in read().problems["scale"].message


def test_a_file_that_grows_while_it_is_read_is_capped(read, path, content, monkeypatch):
    monkeypatch.setattr(reading, "MAX_BYTES", 100)
    real = os.fstat

    def small(descriptor):
        status = list(real(descriptor))
        status[6] = 1
        return os.stat_result(status)

    monkeypatch.setattr(os, "fstat", small)
    assert "larger than" in read(content).problems["scale"].message


def test_every_descriptor_is_closed(read, path, content):
    before = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    read(content)
    read(b"{")
    path.unlink()
    read()
    after = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    assert len(after) == len(before)


PIECES = {
    "the first left as it was": ([PLACE_FOR_ANSWER, "Because."], "Because."),
    "the last left as it was": (["Because.", PLACE_FOR_ANSWER], "Because."),
    "two halves": (["Because", "of rows."], "Because\n\nof rows."),
    "the same twice": (["Because.", "Because."], "Because."),
    "a half without letters": (["Because.", " \n"], "Because."),
}


@pytest.mark.parametrize(("texts", "written"), PIECES.values(), ids=PIECES)
def test_of_a_written_answer_every_piece_counts(read, content, texts, written):
    first = find(content, "why")
    copied = copy.deepcopy(first)
    first["source"], copied["source"] = texts
    content["cells"].append(copied)
    submission = read(content)
    assert submission.written == {"why": written}
    assert submission.answered == {"why"}
    assert submission.beside == ()


def text(source, kind="markdown"):
    return {"cell_type": kind, "metadata": {}, "source": source}


def behind(content, name, cell):
    content["cells"].insert(content["cells"].index(find(content, name)) + 1, cell)


def without(content, *names):
    for name in names:
        content["cells"].remove(find(content, name))


def own_below_the_place(content):
    behind(content, "why", text("Because."))


def own_below_the_question(content):
    behind(content, "why-task", text("Because."))


def own_above_the_question(content):
    behind(content, "scale-check", text("Because."))


def own_at_the_end(content):
    content["cells"].append(text("Because."))


def own_as_code(content):
    behind(content, "why", code("Because."))


def own_as_raw(content):
    behind(content, "why", text("Because.", "raw"))


def in_the_question(content):
    find(content, "why-task")["source"] += "\n\nBecause."


def second_half_without_its_mark(content):
    find(content, "why")["source"] = "For this"
    behind(content, "why", text("Because."))


def mark_and_id_dropped(content):
    without(content, "why")
    behind(content, "why-task", text("Because."))


def all_but_the_text_dropped(content):
    without(content, "why", "why-task")
    content["cells"].insert(0, text("Because."))


def as_no_text(content):
    find(content, "why")["source"] = ["Because.", 1]


WRITTEN = [
    own_below_the_place,
    own_below_the_question,
    own_above_the_question,
    own_at_the_end,
    own_as_code,
    own_as_raw,
    in_the_question,
    second_half_without_its_mark,
    mark_and_id_dropped,
    all_but_the_text_dropped,
]


@pytest.mark.parametrize("write", [*WRITTEN, as_no_text])
def test_a_question_near_which_anything_is_written_is_answered(read, content, released, write):
    find(content, "why")["source"] = PLACE_FOR_ANSWER
    assert read(content).answered == set()
    write(content)
    submission = read(content)
    assert submission.answered == {"why"}
    if write is as_no_text:
        return
    shown = [*submission.written.values(), *(one.source for one in submission.beside)]
    assert sum("Because." in one for one in shown) == 1
    seen = autograded_notebook(submission, page.ASSIGNMENT, released)
    assert nbformat.writes(seen).count("Because") == 1


def test_an_answer_whose_cell_lost_its_mark_stands_in_its_place(read, content):
    mark_and_id_dropped(content)
    behind(content, "why-task", text("First."))
    submission = read(content)
    assert submission.written == {"why": "First.\n\nBecause."}
    assert submission.beside == ()


@pytest.mark.parametrize("name", ["title", "row_mean-task", "row_mean-check"])
def test_a_text_far_from_a_question_does_not_answer_it(read, content, name):
    find(content, "why")["source"] = PLACE_FOR_ANSWER
    behind(content, "part-01" if name == "title" else name, text("A note of mine."))
    submission = read(content)
    assert submission.answered == set()
    assert [one.source for one in submission.beside] == ["A note of mine."]


def in_a_self_check(content):
    find(content, "row_mean-check")["source"] += "  # lost"


def in_a_given_cell(content):
    find(content, "part-02")["source"] += "\nlost = 1"


def in_a_prompt(content):
    find(content, "part-03")["source"] += "\nlost"


def as_text_for_code(content):
    find(content, "row_mean").update(cell_type="markdown", source="lost")


def as_half_of_an_answer(content):
    first = find(content, "row_mean")
    content["cells"].append(copy.deepcopy(first) | {"cell_type": "raw", "source": "lost"})


def as_too_long(content):
    find(content, "row_mean")["source"] = toy.RIGHT_MEAN + "  # lost " + "#" * MAX_SOURCE


def as_an_attempt_before_one_that_is_too_long(content):
    as_too_long(content)
    first = find(content, "row_mean")
    content["cells"].insert(0, copy.deepcopy(first) | {"source": f"{WRONG}  # lost"})


def as_an_own_cell_that_is_too_long(content):
    content["cells"].append(code("#" * 100 + "\n# lost" + "#" * MAX_SOURCE))


def as_an_attempt(content):
    first = find(content, "row_mean")
    content["cells"].insert(0, copy.deepcopy(first) | {"source": f"{WRONG}  # lost"})


@pytest.mark.parametrize(
    "write",
    [
        in_a_self_check,
        in_a_given_cell,
        in_a_prompt,
        as_text_for_code,
        as_half_of_an_answer,
        as_too_long,
        as_an_attempt_before_one_that_is_too_long,
        as_an_own_cell_that_is_too_long,
        as_an_attempt,
    ],
)
def test_what_is_not_run_is_shown(read, content, released, write):
    assert "lost" not in nbformat.writes(
        autograded_notebook(read(content), page.ASSIGNMENT, released)
    )
    write(content)
    shown = autograded_notebook(read(content), page.ASSIGNMENT, released)
    lost = [cell.source for cell in shown.cells if "lost" in cell.source[:200]]
    assert len(lost) == (2 if write is as_an_attempt_before_one_that_is_too_long else 1)
    nbformat.validate(shown)


def test_an_answer_in_the_cell_of_its_self_check_is_run(read, content, released):
    (given,) = (c.source for c in released.cells if c.metadata.nbgrader.grade_id == "row_mean")
    for stub_left in (True, False):
        find(content, "row_mean-check")["source"] = toy.RIGHT_MEAN + "\n\ncheck(row_mean)"
        if stub_left:
            find(content, "row_mean")["source"] = given
        else:
            without(content, "row_mean")
        submission = read(content)
        assert submission.problems == {}
        answer = dict((name, source) for source, name in pairs(submission))["row_mean"]
        assert answer.endswith("check(row_mean)")
        assert submission.beside == ()


def test_places_that_read_alike_are_told_apart_by_their_order(tmp_path, path, content):
    asked = dataclasses.replace(
        page.ASSIGNMENT, written=(page.WHY, dataclasses.replace(page.WHY, name="how"))
    )
    again = '+++ {"written": "how"}\n\nHow?\n\n+++\n\nThe end.'
    released = build_notebook(asked, page.write(tmp_path, page.PAGE.replace("The end.", again)))
    made = json.loads(json.dumps(released))
    as_tool_that_drops_metadata_and_ids(made)
    second = [cell["source"] for cell in made["cells"]].index(PLACE_FOR_ANSWER) + 2
    made["cells"][second]["source"] = "So."
    path.write_text(json.dumps(made))
    submission = read_submission(SubmissionFile("ann", "toy", path), outline(asked), released)
    assert submission.answered == {"how"}
    assert submission.written == {"how": "So."}


NOTHING = {"no file": None, "empty": b"", "blank": b" \n"}


@pytest.mark.parametrize("data", NOTHING.values(), ids=NOTHING)
def test_of_nothing_no_question_is_answered(read, data):
    assert read(data).answered == set()


@pytest.mark.parametrize("data", [b"{", b'{"worksheets": []}', b" " * (MAX_BYTES + 1)])
def test_what_cannot_be_read_may_hold_a_written_answer(read, data):
    assert read(data).answered == {"why"}


def test_a_notebook_of_another_name_may_hold_a_written_answer_and_is_named(read, path, content):
    for name in ("toy-Copy1.ipynb", "._toy.ipynb", "toy.txt"):
        path.with_name(name).write_text(json.dumps(content))
    assert read().answered == {"why"}
    submission = read(content)
    assert submission.dropped == (
        "Only toy.ipynb is graded. In its folder there is also: toy-Copy1.ipynb.",
    )


def test_a_file_that_would_lead_out_of_the_folder_is_named(read, content):
    content["cells"].insert(0, code("%%writefile ../helpers.py\nx = 1"))
    content["cells"].insert(0, code("%%writefile helpers.py\nx = 1"))
    (line,) = read(content).dropped
    assert line.startswith("A cell of your own writes no file: %%writefile ../helpers.py would ")


@pytest.mark.parametrize("characters", [20_001, 25_000, MAX_SOURCE])
def test_an_added_cell_of_data_is_run(read, content, characters):
    data = f"data = '{'1' * (characters - 9)}'"
    content["cells"].insert(0, code(data))
    submission = read(content)
    assert pairs(submission) == [(data, None), *WHOLE]
    assert submission.dropped == ()


def test_an_added_cell_that_is_too_long_is_left_out_and_named(read, content):
    content["cells"].insert(0, code(f"my_data = '{'1' * MAX_SOURCE}'"))
    submission = read(content)
    assert pairs(submission) == WHOLE
    assert ["1,000,012 characters" in line for line in submission.dropped] == [True]
    assert "my_data = '111" in submission.dropped[0]


@pytest.mark.parametrize(
    ("source", "what"), [(PROMPT + "\nimport math", "changed"), ("", "removed"), (None, "removed")]
)
def test_a_given_cell_that_was_changed_or_removed_is_run_as_given_and_said_so(
    read, content, source, what
):
    if source is None:
        content["cells"].remove(find(content, "part-02"))
    else:
        find(content, "part-02")["source"] = source
    submission = read(content)
    assert pairs(submission) == WHOLE
    (line,) = submission.dropped
    assert f"A given cell was {what}, but was run in its original form" in line
    assert "It begins with: import numpy as np." in line


BUG = stub(toy.CENTRED)


@pytest.fixture
def hand_in_a_bug(tmp_path, path):
    """Hand in this source as the answer to a debug exercise, and cells behind it."""
    assignment = toy.Assignment("toy", "A toy", (toy.CENTRED,), ())
    text = page.PAGE.split("```{code-cell} ipython3\n:exercise: scale")[0]
    text = text.replace("row_mean", "centred")
    released = build_notebook(assignment, page.write(tmp_path, text))

    def hand_in(source, *own):
        made = json.loads(json.dumps(released))
        find(made, "centred")["source"] = source
        made["cells"] += [code(cell) for cell in own]
        path.write_text(json.dumps(made))
        return read_submission(SubmissionFile("ann", "toy", path), outline(assignment), released)

    return hand_in


@pytest.mark.parametrize("source", [BUG, BUG + "\n\n", BUG.replace("\n\n", "  \r\n")])
def test_a_bug_as_it_was_released_is_not_run_and_said_so(hand_in_a_bug, source):
    submission = hand_in_a_bug(source)
    problem = submission.problems["centred"]
    assert problem == AS_GIVEN
    assert "centred" not in {cell.exercise for cell in submission.program}


@pytest.mark.parametrize(
    ("old", "new"), [("    return", "        return"), ("axis=0", "axis=1"), ("last?", "last!")]
)
def test_a_bug_that_was_touched_is_run(hand_in_a_bug, old, new):
    submission = hand_in_a_bug(BUG.replace(old, new))
    assert submission.problems == {}
    assert (BUG.replace(old, new), "centred") in pairs(submission)


def test_a_bug_as_it_was_released_may_be_corrected_in_a_cell_of_its_own(hand_in_a_bug):
    right = "def centred(X):\n    return X - X.mean(-1, keepdims=True)"
    submission = hand_in_a_bug(BUG, right)
    assert submission.problems == {}
    assert (right, None) in pairs(submission)
