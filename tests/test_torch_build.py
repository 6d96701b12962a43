"""PyTorch in the build for processors: `.ci/torch` installs it, and commands to type name it."""

import os
import re
import socket
import subprocess
import threading
import tomllib
import venv
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from autograder.notebook import TORCH_INDEX

ROOT = Path(__file__).parents[1]
PINS = (ROOT / "requirements.txt").read_text(encoding="utf-8")
VERSION = re.search(r"^torch==(\S+)$", PINS, re.MULTILINE)[1]
EXTRAS = {
    folder: tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]["optional-dependencies"]
    for folder in (".", "autograder")
}
"""The extras of the course and of the engine, by folder."""


def write_wheel(folder, version):
    """Write a wheel of a torch that holds nothing."""
    folder.mkdir(parents=True)
    info = f"torch-{version}.dist-info"
    files = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(folder / f"torch-{version}-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)


class Handler(SimpleHTTPRequestHandler):
    """Serve a folder, whose listings are what pip takes for an index, and note what is asked."""

    def log_message(self, _, request, *rest):
        self.server.requests.append(request.split()[1])


@pytest.fixture
def indexes(tmp_path):
    """Serve two indexes on this machine: one with the ordinary build, and one like PyTorch's."""
    write_wheel(tmp_path / "indexes" / "ordinary" / "torch", VERSION)
    write_wheel(tmp_path / "indexes" / "processors" / "torch", f"{VERSION}+cpu")
    handler = partial(Handler, directory=tmp_path / "indexes")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.requests = []
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True, symlinks=True)
    return folder


class Installing:
    """What a user has who set up nothing for pip, and whose ordinary index is ours."""

    def __init__(self, environment, server, home):
        self.server = server
        self.ours = f"http://127.0.0.1:{server.server_port}"
        inherited = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
        self.variables = inherited | {
            "HOME": str(home),
            "PATH": f"{environment / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_INDEX_URL": f"{self.ours}/ordinary",
            "PIP_NO_CACHE_DIR": "1",
        }

    def run(self, *command, **variables):
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=self.variables | variables,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout + done.stderr

    def torch(self, **variables):
        """Run `.ci/torch`, then what follows it everywhere; return the text and the version."""
        text = self.run(str(ROOT / ".ci" / "torch"), **variables)
        self.run("pip", "install", "-q", f"torch=={VERSION}", **variables)
        listed = self.run("pip", "list")
        return text, re.search(r"^torch +(\S+)$", listed, re.MULTILINE)[1]

    def asked(self):
        """Tell whether the index for processors was asked for anything."""
        return any(path.startswith("/processors") for path in self.server.requests)


@pytest.fixture
def installing(environment, indexes, tmp_path):
    one = Installing(environment, indexes, tmp_path)
    one.run("pip", "uninstall", "-q", "-y", "torch")
    return one


def test_the_build_for_processors_is_installed_and_stays(installing):
    index = f"{installing.ours}/processors"
    text, version = installing.torch(TORCH_INDEX=index)
    assert version == f"{VERSION}+cpu"
    assert text == f"Installing PyTorch's build for processors, 0.2 GB, from {index} ...\n"
    installing.server.requests.clear()
    assert installing.torch(TORCH_INDEX=index) == ("", version)
    assert installing.server.requests == []


@pytest.mark.parametrize("listens", [False, True], ids=["refused", "never answers"])
def test_an_index_out_of_reach_leaves_the_ordinary_build_and_says_what_it_weighs(
    installing, listens
):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # nobody else gets the port
        if listens:
            nobody.listen()
        index = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        text, version = installing.torch(TORCH_INDEX=index)
    assert version == VERSION
    assert f"could not be had from {index}" in text
    assert "2.7 GB to download" in text


def test_an_index_without_the_pinned_version_is_no_reason_to_stop(installing):
    text, version = installing.torch(TORCH_INDEX=f"{installing.ours}/ordinary")
    assert version == VERSION
    assert "could not be had" in text


def test_an_empty_index_asks_for_the_build_for_graphics_cards(installing):
    assert installing.torch(TORCH_INDEX="") == ("", VERSION)
    assert not installing.asked()


def test_what_pips_own_settings_bring_needs_no_other_index(installing, tmp_path):
    wheels = tmp_path / "indexes" / "processors" / "torch"
    index = f"{installing.ours}/processors"
    found = installing.torch(TORCH_INDEX=index, PIP_FIND_LINKS=str(wheels))
    assert found == ("", f"{VERSION}+cpu")
    assert not installing.asked()


def test_only_linux_has_another_build_in_its_ordinary_index(installing, tmp_path):
    uname = tmp_path / "bin" / "uname"
    uname.parent.mkdir()
    uname.write_text("#!/bin/sh\necho Darwin\n")
    uname.chmod(0o755)
    path = f"{uname.parent}{os.pathsep}{installing.variables['PATH']}"
    found = installing.torch(TORCH_INDEX=f"{installing.ours}/processors", PATH=path)
    assert found == ("", VERSION)
    assert not installing.asked()


def tracked(*patterns):
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    ours = [path for path in listed if not path.startswith("tests/")]
    return {path: (ROOT / path).read_text(encoding="utf-8") for path in ours}


def test_the_index_has_one_address():
    texts = tracked(".ci", "Makefile", "*.md", "*.py", "*.txt", "*.toml", "*.yml")
    pattern = re.compile(r"https?://[\w.-]*pytorch\.org/whl[\w/.-]*")
    found = {path: {*pattern.findall(text)} for path, text in texts.items()}
    assert {one for addresses in found.values() for one in addresses} == {TORCH_INDEX}
    assert {path for path, addresses in found.items() if addresses} == {
        ".ci/torch",
        "README.md",
        "autograder/notebook/__init__.py",
        "book/howto_scale.md",
        "book/howto_student.md",
    }


def brings_torch(command):
    """Tell whether a `pip install` brings PyTorch, by name, by an extra, or with all the rest."""
    groups = re.findall(r"(\.|autograder)\[([\w,]+)\]", command)
    extras = [EXTRAS[folder][name] for folder, names in groups for name in names.split(",")]
    return (
        bool(re.search(r" torch\b", command))
        or "-r requirements.txt" in command
        or any("torch" in requirements for requirements in extras)
    )


SMALL_BUILD = re.compile(rf"(\.ci|here)/torch|{re.escape(TORCH_INDEX)}|--torch-backend cpu")


def test_every_command_that_brings_torch_asks_for_the_build_for_processors():
    """In the same line, or by `.ci/torch` in the line before."""
    commands = []
    for path, text in tracked(".ci", "Makefile", "*.md", "*.py").items():
        before = ""
        for line in text.replace("\\\n", "").splitlines():
            if "pip install" in line and not line.startswith("#") and brings_torch(line):
                commands.append((path, before, line))
            before = line
    assert {"Makefile", "README.md", ".ci/practise"} <= {path for path, *_ in commands}
    assert [one for one in commands if not SMALL_BUILD.search("".join(one[1:]))] == []
