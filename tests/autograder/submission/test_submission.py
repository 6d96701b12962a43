"""Test reading submissions: changes made by people and tools, and the answers that are read."""

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
from autograder.grading.program import judge_program
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
    """Return the released notebook as plain data with both exercises answered."""
    notebook = json.loads(json.dumps(released))
    find(notebook, "row_mean")["source"] = toy.RIGHT_MEAN
    find(notebook, "scale")["source"] = toy.RIGHT_SCALE
    find(notebook, "why")["source"] = "Because."
    return notebook


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "submitted" / "ann" / "toy" / "toy.ipynb"
    file.parent.mkdir(parents=True)
    return file


@pytest.fixture
def read(path, released):
    """Return a function that writes data or bytes, if any, and reads them as a submission."""

    def write_and_read(data=None):
        if data is not None:
            contents = data if isinstance(data, bytes) else json.dumps(data).encode()
            path.write_bytes(contents)
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


def test_answer_uses_the_given_module_of_the_release(tmp_path, path, sandbox):
    released = build_notebook(page.ASSIGNMENT, page.with_module(tmp_path, "FACTOR = 2.0\n"))
    content = json.loads(json.dumps(released).replace("2.0", "3.0"))  # also in its metadata
    find(content, "scale")["source"] = (
        "def scale(X, factor=TOP):\n    return FACTOR * factor / TOP * X"
    )
    content["cells"][1:1] = [
        code("from factors import FACTOR as TOP"),  # above the given cell
        code("%%writefile factors.py\nFACTOR = 3.0"),
    ]
    path.write_text(json.dumps(content))
    file = SubmissionFile("ann", "toy", path)
    program = read_submission(file, outline(page.ASSIGNMENT), released).program
    judged = judge_program(program, toy.TOY, course_key=b"key", digest="a", sandbox=sandbox)
    assert judged["scale"].passed, judged


@pytest.mark.parametrize(
    ("text", "notes"), [("FACTOR = 3.0\n", 1), ("FACTOR = 2.0\r\n", 0), (None, 0)]
)
def test_student_hears_of_a_given_file_that_differs(tmp_path, path, text, notes):
    released = build_notebook(page.ASSIGNMENT, page.with_module(tmp_path, "FACTOR = 2.0\n"))
    path.write_text(json.dumps(released))
    if text is not None:
        path.with_name("factors.py").write_bytes(text.encode())
    file = SubmissionFile("ann", "toy", path)
    dropped = read_submission(file, outline(page.ASSIGNMENT), released).dropped
    assert len(dropped) == notes
    assert all(line.startswith("factors.py in your folder differs") for line in dropped)


WHOLE = [(PROMPT, None), (toy.RIGHT_MEAN, "row_mean"), (toy.RIGHT_SCALE, "scale")]


def test_answers_are_read_and_self_checks_left_out(read, content):
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
    """Change the metadata, tags, outputs, prompts, self-checks and the kernel."""
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
    """Add values that are not cells, cells without text, and metadata of other types."""
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
def test_answers_are_read_despite_changes_by_tools_or_forgers(read, content, change):
    change(content)
    submission = read(content)
    assert pairs(submission) == WHOLE
    assert submission.written == {"why": "Because."}
    assert submission.problems == {}


def test_answers_without_metadata_are_recognised_by_their_function(read, content):
    as_tool_that_drops_metadata_and_ids(content)
    submission = read(content)
    assert pairs(submission) == WHOLE
    assert submission.written == {"why": "Because."}
    assert submission.problems == {}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_mark_is_accepted(read, content, encoding):
    content["cells"].append(code("NaN"))
    data = json.dumps(content).replace('"NaN"', '"x"').encode(encoding)
    assert pairs(read(data))[:3] == WHOLE


def test_nan_literals_and_duplicate_keys_are_accepted(read, content):
    text = json.dumps(content).replace('"nbformat":', '"nan": NaN, "nbformat": 3, "nbformat":')
    assert pairs(read(text.encode())) == WHOLE


def test_added_cells_keep_their_position(read, content):
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


def test_answers_follow_the_order_of_the_release(read, content):
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
def test_last_of_several_attempts_counts(read, content, released, tries):
    first = find(content, "row_mean")
    (stub,) = (c.source for c in released.cells if c.metadata.nbgrader.grade_id == "row_mean")
    for number, source in enumerate(stub if text == "stub" else text for text in tries):
        cell = first if number == 0 else copy.deepcopy(first)
        cell["source"] = source
        if number:
            content["cells"].append(cell)
    program = pairs(read(content))
    assert [pair for pair in program if pair[1] or pair in WHOLE] == WHOLE
    attempts = [pair for pair in program if pair not in WHOLE]
    at = program.index((toy.RIGHT_MEAN, "row_mean"))
    assert program[at - len(attempts) : at] == attempts  # the answer may use their definitions
    last = max(at for at, text in enumerate(tries) if text == toy.RIGHT_MEAN)
    assert {source for source, _ in attempts} == {*tries[:last]} - {"stub", toy.RIGHT_MEAN}


def test_last_attempt_may_use_definitions_of_an_earlier_one(read, content):
    first = find(content, "row_mean")
    first["source"] = "def helper(row):\n    return 0\n\n" + WRONG
    content["cells"].append(copy.deepcopy(first) | {"source": toy.RIGHT_MEAN})
    program = pairs(read(content))
    assert program.index((first["source"], None)) < program.index((toy.RIGHT_MEAN, "row_mean"))


def test_last_copy_of_a_cell_counts_even_if_it_is_wrong(read, content):
    content["cells"].append(copy.deepcopy(find(content, "row_mean")) | {"source": WRONG})
    assert dict((name, source) for source, name in pairs(read(content)))["row_mean"] == WRONG


def test_answered_copy_counts_rather_than_the_stub(read, content, released):
    answered = copy.deepcopy(find(content, "row_mean"))
    find(content, "row_mean")["source"] = next(
        cell.source for cell in released.cells if cell.metadata.nbgrader.grade_id == "row_mean"
    )
    content["cells"].append(answered)
    assert pairs(read(content)) == WHOLE


def test_answer_split_into_two_cells_is_joined(read, content):
    first = find(content, "row_mean")
    helper = copy.deepcopy(first) | {"source": "def helper(row):\n    return sum(row)"}
    content["cells"].insert(content["cells"].index(first), helper)
    answer = dict((name, source) for source, name in pairs(read(content)))["row_mean"]
    assert answer == f"{helper['source']}\n\n{toy.RIGHT_MEAN}"


def test_answer_in_an_added_cell_is_run(read, content):
    find(content, "row_mean")["source"] = ""
    content["cells"].append(code("row_mean = lambda X: X.mean(axis=-1)"))
    submission = read(content)
    assert "row_mean" not in submission.problems
    assert pairs(submission)[-1] == ("row_mean = lambda X: X.mean(axis=-1)", None)


def test_invalid_unicode_is_replaced(read, content):
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
def test_problem_with_an_answer_does_not_affect_the_others(read, content, change, verdict, message):
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
def test_file_that_is_not_a_notebook_is_malformed_with_a_reason(read, data, message):
    submission = read(data)
    assert {problem.verdict for problem in submission.problems.values()} == {Verdict.MALFORMED}
    assert list(submission.problems) == ["row_mean", "scale"]
    assert message in submission.problems["scale"].message
    assert submission.program == ()


def test_notebook_of_the_maximum_size_is_read(read, content):
    data = json.dumps(content).encode()
    assert pairs(read(data + b" " * (MAX_BYTES - len(data)))) == WHOLE


def test_absent_notebook_is_missing_and_a_misnamed_one_is_reported(read, path, content):
    submission = read()
    assert {problem.verdict for problem in submission.problems.values()} == {Verdict.MISSING}
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
def test_symbolic_link_is_not_followed(read, path, content, tmp_path, make):
    target = tmp_path / "elsewhere" / "secret.ipynb"
    target.parent.mkdir()
    target.write_text(json.dumps(content))
    make(path, target)
    submission = read()
    assert path.exists()
    assert submission.problems["scale"].verdict is Verdict.MALFORMED
    assert "symbolic link" in submission.problems["scale"].message
    assert submission.program == ()


def test_course_folder_may_be_reached_by_a_symbolic_link(released, path, content, tmp_path):
    path.write_text(json.dumps(content))
    (tmp_path / "linked").symlink_to(tmp_path / "submitted")
    file = SubmissionFile("ann", "toy", tmp_path / "linked" / "ann" / "toy" / "toy.ipynb")
    assert pairs(read_submission(file, outline(page.ASSIGNMENT), released)) == WHOLE


def bind(path):
    folder = os.getcwd()
    os.chdir(path.parent)  # the address of a Unix socket must be short
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(folder)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, bind])
def test_pipes_folders_and_sockets_are_malformed_without_blocking(read, path, make):
    make(path)
    submission = read()
    assert {problem.verdict for problem in submission.problems.values()} == {Verdict.MALFORMED}


def test_file_in_place_of_the_folder_is_missing(read, path):
    path.parent.rmdir()
    path.parent.write_text("here it is")
    assert read().problems["scale"].verdict is Verdict.MISSING


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_unreadable_file_is_malformed(read, path, content):
    path.write_text(json.dumps(content))
    path.chmod(0)
    assert "permissions" in read().problems["scale"].message


def test_file_that_grows_while_being_read_is_limited(read, path, content, monkeypatch):
    monkeypatch.setattr(reading, "MAX_BYTES", 100)
    real = os.fstat

    def small(descriptor):
        status = list(real(descriptor))
        status[6] = 1
        return os.stat_result(status)

    monkeypatch.setattr(os, "fstat", small)
    assert "larger than" in read(content).problems["scale"].message


def test_every_file_descriptor_is_closed(read, path, content):
    before = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    read(content)
    read(b"{")
    path.unlink()
    read()
    after = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    assert len(after) == len(before)


PIECES = {
    "first piece untouched": ([PLACE_FOR_ANSWER, "Because."], "Because."),
    "last piece untouched": (["Because.", PLACE_FOR_ANSWER], "Because."),
    "two halves": (["Because", "of rows."], "Because\n\nof rows."),
    "the same twice": (["Because.", "Because."], "Because."),
    "a half without letters": (["Because.", " \n"], "Because."),
}


@pytest.mark.parametrize(("texts", "written"), PIECES.values(), ids=PIECES)
def test_pieces_of_a_written_answer_are_joined(read, content, texts, written):
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
def test_text_near_a_question_counts_as_an_answer(read, content, released, write):
    find(content, "why")["source"] = PLACE_FOR_ANSWER
    assert read(content).answered == set()
    write(content)
    submission = read(content)
    assert submission.answered == {"why"}
    if write is as_no_text:
        return
    texts = [*submission.written.values(), *(cell.source for cell in submission.beside)]
    assert sum("Because." in text for text in texts) == 1
    notebook = autograded_notebook(submission, page.ASSIGNMENT, released)
    assert nbformat.writes(notebook).count("Because") == 1


def test_written_answer_without_metadata_keeps_its_place(read, content):
    mark_and_id_dropped(content)
    behind(content, "why-task", text("First."))
    submission = read(content)
    assert submission.written == {"why": "First.\n\nBecause."}
    assert submission.beside == ()


@pytest.mark.parametrize("name", ["title", "row_mean-task", "row_mean-check"])
def test_text_far_from_a_question_is_not_an_answer(read, content, name):
    find(content, "why")["source"] = PLACE_FOR_ANSWER
    behind(content, "part-01" if name == "title" else name, text("My own note."))
    submission = read(content)
    assert submission.answered == set()
    assert [cell.source for cell in submission.beside] == ["My own note."]


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
def test_text_that_is_not_run_is_shown(read, content, released, write):
    assert "lost" not in nbformat.writes(
        autograded_notebook(read(content), page.ASSIGNMENT, released)
    )
    write(content)
    notebook = autograded_notebook(read(content), page.ASSIGNMENT, released)
    lost = [cell.source for cell in notebook.cells if "lost" in cell.source[:200]]
    assert len(lost) == (2 if write is as_an_attempt_before_one_that_is_too_long else 1)
    nbformat.validate(notebook)


def test_answer_in_its_self_check_cell_is_run(read, content, released):
    (released_stub,) = (
        c.source for c in released.cells if c.metadata.nbgrader.grade_id == "row_mean"
    )
    for stub_left in (True, False):
        find(content, "row_mean-check")["source"] = toy.RIGHT_MEAN + "\n\ncheck(row_mean)"
        if stub_left:
            find(content, "row_mean")["source"] = released_stub
        else:
            without(content, "row_mean")
        submission = read(content)
        assert submission.problems == {}
        answer = dict((name, source) for source, name in pairs(submission))["row_mean"]
        assert answer.endswith("check(row_mean)")
        assert submission.beside == ()


def test_identical_placeholders_are_distinguished_by_order(tmp_path, path, content):
    assignment = dataclasses.replace(
        page.ASSIGNMENT, written=(page.WHY, dataclasses.replace(page.WHY, name="how"))
    )
    again = '+++ {"written": "how"}\n\nHow?\n\n+++\n\nThe end.'
    released = build_notebook(
        assignment, page.write(tmp_path, page.PAGE.replace("The end.", again))
    )
    notebook = json.loads(json.dumps(released))
    as_tool_that_drops_metadata_and_ids(notebook)
    second = [cell["source"] for cell in notebook["cells"]].index(PLACE_FOR_ANSWER) + 2
    notebook["cells"][second]["source"] = "So."
    path.write_text(json.dumps(notebook))
    submission = read_submission(SubmissionFile("ann", "toy", path), outline(assignment), released)
    assert submission.answered == {"how"}
    assert submission.written == {"how": "So."}


NOTHING = {"no file": None, "empty": b"", "blank": b" \n"}


@pytest.mark.parametrize("data", NOTHING.values(), ids=NOTHING)
def test_empty_submission_answers_no_question(read, data):
    assert read(data).answered == set()


@pytest.mark.parametrize("data", [b"{", b'{"worksheets": []}', b" " * (MAX_BYTES + 1)])
def test_unreadable_notebook_may_hold_a_written_answer(read, data):
    assert read(data).answered == {"why"}


def test_misnamed_notebook_may_hold_a_written_answer_and_is_reported(read, path, content):
    for name in ("toy-Copy1.ipynb", "._toy.ipynb", "toy.txt"):
        path.with_name(name).write_text(json.dumps(content))
    assert read().answered == {"why"}
    submission = read(content)
    assert submission.dropped == (
        "Only toy.ipynb is graded. In its folder there is also: toy-Copy1.ipynb.",
    )


def test_writefile_outside_the_folder_is_reported(read, content):
    content["cells"].insert(1, code("%%writefile ../helpers.py\nx = 1"))
    content["cells"].insert(1, code("%%writefile helpers.py\nx = 1"))
    (line,) = read(content).dropped
    assert line.startswith(
        "A cell of your own writes no file: %%writefile ../helpers.py would write"
    )
    assert "outside the notebook's folder" in line


@pytest.mark.parametrize("characters", [20_001, 25_000, MAX_SOURCE])
def test_added_data_cell_is_run(read, content, characters):
    data = f"data = '{'1' * (characters - 9)}'"
    content["cells"].insert(1, code(data))
    submission = read(content)
    assert pairs(submission) == [(data, None), *WHOLE]
    assert submission.dropped == ()


def test_overlong_added_cell_is_left_out_and_reported(read, content):
    content["cells"].insert(1, code(f"my_data = '{'1' * MAX_SOURCE}'"))
    submission = read(content)
    assert pairs(submission) == WHOLE
    assert ["1,000,012 characters" in line for line in submission.dropped] == [True]
    assert "my_data = '111" in submission.dropped[0]


@pytest.mark.parametrize(
    ("source", "change"),
    [(PROMPT + "\nimport math", "changed"), ("", "removed"), (None, "removed")],
)
def test_changed_given_cell_is_run_in_its_original_form_and_reported(read, content, source, change):
    if source is None:
        content["cells"].remove(find(content, "part-02"))
    else:
        find(content, "part-02")["source"] = source
    submission = read(content)
    assert pairs(submission) == WHOLE
    (line,) = submission.dropped
    assert f"A given cell was {change}, but was run in its original form" in line
    assert "It begins with: “import numpy as np”." in line


BUG = stub(toy.CENTRED)


@pytest.fixture
def hand_in_a_bug(tmp_path, path):
    """Return a function that hands in a debug answer followed by added cells."""
    assignment = toy.Assignment("toy", "A toy", (toy.CENTRED,), ())
    text = page.PAGE.split("```{code-cell} ipython3\n:exercise: scale")[0]
    text = text.replace("row_mean", "centred")
    released = build_notebook(assignment, page.write(tmp_path, text))

    def hand_in(source, *added):
        notebook = json.loads(json.dumps(released))
        find(notebook, "centred")["source"] = source
        notebook["cells"] += [code(cell) for cell in added]
        path.write_text(json.dumps(notebook))
        return read_submission(SubmissionFile("ann", "toy", path), outline(assignment), released)

    return hand_in


@pytest.mark.parametrize("source", [BUG, BUG + "\n\n", BUG.replace("\n\n", "  \r\n")])
def test_untouched_debug_answer_is_not_run_and_reported(hand_in_a_bug, source):
    submission = hand_in_a_bug(source)
    problem = submission.problems["centred"]
    assert problem == AS_GIVEN
    assert "centred" not in {cell.exercise for cell in submission.program}


@pytest.mark.parametrize(
    ("old", "new"), [("    return", "        return"), ("axis=0", "axis=1"), ("last?", "last!")]
)
def test_edited_debug_answer_is_run(hand_in_a_bug, old, new):
    submission = hand_in_a_bug(BUG.replace(old, new))
    assert submission.problems == {}
    assert (BUG.replace(old, new), "centred") in pairs(submission)


def test_debug_answer_may_be_corrected_in_an_added_cell(hand_in_a_bug):
    right = "def centred(X):\n    return X - X.mean(-1, keepdims=True)"
    submission = hand_in_a_bug(BUG, right)
    assert submission.problems == {}
    assert (right, None) in pairs(submission)
