"""Test the CPU build of PyTorch: `.ci/torch` and all documented commands install it."""

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
    """Write a wheel of an empty package called torch."""
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
    """Serve a folder, whose listings pip reads as an index, and record the requests."""

    def log_message(self, _, request, *rest):
        self.server.requests.append(request.split()[1])


@pytest.fixture
def indexes(tmp_path):
    """Serve two local indexes: one with the default build, and one like PyTorch's."""
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
    """The environment of a user without pip settings, whose default index is the test server."""

    def __init__(self, environment, server, home):
        self.server = server
        self.server_url = f"http://127.0.0.1:{server.server_port}"
        inherited = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
        self.variables = inherited | {
            "HOME": str(home),
            "PATH": f"{environment / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_INDEX_URL": f"{self.server_url}/ordinary",
            "PIP_NO_CACHE_DIR": "1",
        }

    def run(self, *command, **variables):
        process = subprocess.run(
            command,
            cwd=ROOT,
            env=self.variables | variables,
            capture_output=True,
            text=True,
            check=True,
        )
        return process.stdout + process.stderr

    def torch(self, **variables):
        """Run `.ci/torch` and install torch; return the printed text and the installed version."""
        text = self.run(str(ROOT / ".ci" / "torch"), **variables)
        self.run("pip", "install", "-q", f"torch=={VERSION}", **variables)
        listed = self.run("pip", "list")
        return text, re.search(r"^torch +(\S+)$", listed, re.MULTILINE)[1]

    def cpu_index_requested(self):
        """Return whether the index of CPU builds received a request."""
        return any(path.startswith("/processors") for path in self.server.requests)


@pytest.fixture
def installing(environment, indexes, tmp_path):
    installation = Installing(environment, indexes, tmp_path)
    installation.run("pip", "uninstall", "-q", "-y", "torch")
    return installation


def test_cpu_build_is_installed_and_kept(installing):
    index = f"{installing.server_url}/processors"
    text, version = installing.torch(TORCH_INDEX=index)
    assert version == f"{VERSION}+cpu"
    assert text == f"Installing PyTorch's build for processors, 0.2 GB, from {index} ...\n"
    installing.server.requests.clear()
    assert installing.torch(TORCH_INDEX=index) == ("", version)
    assert installing.server.requests == []


@pytest.mark.parametrize("listens", [False, True], ids=["refused", "never answers"])
def test_unreachable_index_leaves_the_default_build_and_states_its_size(installing, listens):
    with socket.socket() as silent_server:
        silent_server.bind(("127.0.0.1", 0))  # reserves the port
        if listens:
            silent_server.listen()
        index = f"http://127.0.0.1:{silent_server.getsockname()[1]}"
        text, version = installing.torch(TORCH_INDEX=index)
    assert version == VERSION
    assert f"could not be had from {index}" in text
    assert "2.7 GB to download" in text


def test_index_without_the_pinned_version_does_not_stop_the_installation(installing):
    text, version = installing.torch(TORCH_INDEX=f"{installing.server_url}/ordinary")
    assert version == VERSION
    assert "could not be had" in text


def test_empty_index_selects_the_default_build(installing):
    assert installing.torch(TORCH_INDEX="") == ("", VERSION)
    assert not installing.cpu_index_requested()


def test_cpu_build_from_pip_settings_needs_no_other_index(installing, tmp_path):
    wheels = tmp_path / "indexes" / "processors" / "torch"
    index = f"{installing.server_url}/processors"
    result = installing.torch(TORCH_INDEX=index, PIP_FIND_LINKS=str(wheels))
    assert result == ("", f"{VERSION}+cpu")
    assert not installing.cpu_index_requested()


def test_other_systems_use_the_default_index(installing, tmp_path):
    uname = tmp_path / "bin" / "uname"
    uname.parent.mkdir()
    uname.write_text("#!/bin/sh\necho Darwin\n")
    uname.chmod(0o755)
    path = f"{uname.parent}{os.pathsep}{installing.variables['PATH']}"
    result = installing.torch(TORCH_INDEX=f"{installing.server_url}/processors", PATH=path)
    assert result == ("", VERSION)
    assert not installing.cpu_index_requested()


def tracked_texts(*patterns):
    paths = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    outside_tests = [path for path in paths if not path.startswith("tests/")]
    return {path: (ROOT / path).read_text(encoding="utf-8") for path in outside_tests}


def test_index_address_is_the_same_everywhere():
    texts = tracked_texts(".ci", "Makefile", "*.md", "*.py", "*.txt", "*.toml", "*.yml")
    pattern = re.compile(r"https?://[\w.-]*pytorch\.org/whl[\w/.-]*")
    addresses_by_path = {path: {*pattern.findall(text)} for path, text in texts.items()}
    assert {address for addresses in addresses_by_path.values() for address in addresses} == {
        TORCH_INDEX
    }
    assert {path for path, addresses in addresses_by_path.items() if addresses} == {
        ".ci/torch",
        "README.md",
        "autograder/notebook/__init__.py",
        "book/howto_scale.md",
        "book/howto_student.md",
    }


def installs_torch(command):
    """Return whether a `pip install` installs PyTorch by name, extra or requirements file."""
    groups = re.findall(r"(\.|autograder)\[([\w,]+)\]", command)
    extras = [EXTRAS[folder][name] for folder, names in groups for name in names.split(",")]
    return (
        bool(re.search(r" torch\b", command))
        or "-r requirements.txt" in command
        or any("torch" in requirements for requirements in extras)
    )


SMALL_BUILD = re.compile(rf"(\.ci|here)/torch|{re.escape(TORCH_INDEX)}|--torch-backend cpu")


def test_every_command_that_installs_torch_selects_the_cpu_build():
    """Accept the choice in the same line, or `.ci/torch` in the previous line."""
    commands = []
    for path, text in tracked_texts(".ci", "Makefile", "*.md", "*.py").items():
        before = ""
        for line in text.replace("\\\n", "").splitlines():
            if "pip install" in line and not line.startswith("#") and installs_torch(line):
                commands.append((path, before, line))
            before = line
    assert {"Makefile", "README.md", ".ci/practise"} <= {path for path, *_ in commands}
    assert [entry for entry in commands if not SMALL_BUILD.search("".join(entry[1:]))] == []
