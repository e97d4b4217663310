import asyncio
import os
import signal
import subprocess
import sys
import tarfile
import textwrap
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import distribution
from pathlib import Path

import pytest
from execute_parts import running
from hypothesis import given
from hypothesis import strategies as st
from python_parts import Python, python_file, python_item

from pegboard.errors import NotExecutable
from pegboard.execute.folders import opened_lock
from pegboard.execute.python.environments import MARK, Environments
from pegboard.execute.python.interpreter import base_interpreter
from pegboard.execute.python.needs import check_python, needs_of
from pegboard.file_lock import taken
from pegboard.model.calls import Outcome
from real_servers import PARTS
from waiting import until

pytestmark = pytest.mark.server

A_HASH = "--hash=sha256:" + "0f" * 32


def needs(source: str = "", requirements: str = "", **executor: object):
    others = [python_file("requirements.txt", requirements)] if requirements else []
    return needs_of(python_item(source, *others, **executor), "main.py")


# What a tool says that it needs.


def test_manifest_requirements_file_and_inline_metadata_are_taken_together():
    source = """
        # /// script
        # requires-python = ">=3.11"
        # dependencies = [
        #   "Rich_Text",
        #   "httpx",
        # ]
        # ///
    """
    listed = """
        # what it needs
        attrs  >= 23 , <99   # any
        numpy==2.1.0 \\
            --hash=sha256:HASH

        httpx ; python_version >= "3.8"
    """.replace("HASH", "0f" * 32)
    found = needs(source, listed, dependencies=["httpx", "rich-text"])
    assert found.requirements == (
        "attrs<99,>=23",
        "httpx",
        'httpx; python_version >= "3.8"',
        f"numpy==2.1.0 {A_HASH}",
        "rich-text",
    )
    assert found.python == ">=3.11"
    assert needs(source, requires_python=">=3.12").python == ">=3.12"


def test_nothing_is_needed_by_default():
    assert needs("print()") == ((), "")
    assert needs("print('# /// script')", "# nothing\n") == ((), "")


@pytest.mark.parametrize(
    "line",
    [
        *("-r other.txt", "-e .", "--index-url https://evil.example", "-c c.txt", "--pre"),
        *("a --no-binary :all:", "a --config-settings=x=y", "--extra-index-url=x", "-f ."),
        *("https://evil.example/a.whl", "a @ https://evil.example/a.whl", "a@file:///a.whl"),
        *("git+https://evil.example/a", "./a.whl", "/a", "../a", "a.whl/", "~/a"),
        *("a; os_name == 'x --index-url y'", 'a; os_name == "${TOKEN}"', "a\0", "a\x1b"),
        *("a --hash=md5:00", "a --hash=sha256:00", f"{A_HASH}", "a=1", "a>>1", "[a]", "a b", "ä"),
        'a; os_name == "x\n--index-url=y"',
        *(
            r'a; os_name == "\x24{TOKEN}"',
            r'a; os_name == "x\x0a--index-url=y"',
            "a; os_name == '$x'",
        ),
        *(
            r'a; os_name == "x\x20\x2de ."',
            r'a; os_name == "\x23 coding: utf-7"',
            "a; os_name == '#'",
        ),
        *(r'a; os_name == "\u0024{TOKEN}"', r"a; os_name == 'a\x27\x22'", r'a; os_name == "x\"'),
    ],
)
def test_all_that_is_no_package_by_name_is_refused(line):
    with pytest.raises(NotExecutable, match="is not allowed for tools") as raised:
        needs(dependencies=[line])
    assert "httpx>=0.27" in raised.value.hint


@given(st.text(max_size=30))
def test_whatever_is_said_is_refused_or_one_line_without_options(text):
    try:
        found = needs(dependencies=[text, f"a; os_name == '{text}'"]).requirements
    except NotExecutable as error:
        assert error.hint
        return
    for line in found:
        assert line.splitlines() == [line]
        assert " -" not in line
        assert not {"$", "#", "\\"} & set(line)
        assert "://" not in line or "os_name" in line


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("# /// script\n# dependencies = [\n# ///\n", "is not valid TOML"),
        ("# /// script\n# dependencies = 'a'\n# ///\n", "are no list of texts"),
        ("# /// script\n# dependencies = [1]\n# ///\n", "are no list of texts"),
        ("# /// script\n# a = " + "[" * 60_000 + "\n# ///\n", "is not valid TOML"),
        ("# /// script\n# a = " + "[" * 70_000 + "\n# ///\n", "is too long"),
        ("# /// script\n# dependencies = ['a']\n", "has no end"),
        ("# /// script\n# ///\n\n# /// script\n# ///\n", "there are two blocks"),
    ],
)
def test_metadata_that_cannot_be_read_is_named(source, complaint):
    with pytest.raises(NotExecutable, match=complaint):
        needs(source)


def test_there_is_a_bound_to_what_can_be_needed():
    with pytest.raises(NotExecutable, match="it needs 501 packages; at most 500"):
        needs(dependencies=[f"p{n}" for n in range(501)])
    with pytest.raises(NotExecutable, match=r"requirements.txt has 2,000,001 bytes"):
        needs(requirements="#" * 2_000_001)


def test_a_python_that_does_not_fit_is_told_with_both_versions():
    check_python(">=3.11,<4", "3.11.7")
    check_python(">=3.13", "3.14.0rc1")
    with pytest.raises(NotExecutable, match=r"it needs Python >=3.12, and Pegboard runs on 3.11.7"):
        check_python(">=3.12", "3.11.7")


# Real installers.


def offline(folder: Path) -> dict[str, str]:
    """Where both installers find packages then, and nowhere else."""
    found = {"NO_INDEX": "1", "FIND_LINKS": str(folder)}
    both = {f"{tool}_{name}": value for name, value in found.items() for tool in ("PIP", "UV")}
    return both | {"UV_DEFAULT_INDEX": folder.as_uri()}  # uv takes no order to have none


@pytest.fixture(params=["pip", "uv"])
def python(request, tmp_path):
    """Makes everything that tools are run with, with one of the installers."""
    path = "/usr/bin:/bin"
    if request.param == "uv":
        if not (PARTS / "uv" / "bin" / "uv").exists():
            pytest.fail("uv is not installed; run: make parts")
        path = f"{PARTS / 'uv' / 'bin'}:{path}"
    made: list[Python] = []

    def make(**environ: str) -> Python:
        made.append(Python(tmp_path / "cache", **{**os.environ, "PATH": path, **environ}))
        return made[-1]

    yield make
    for each in made:
        each.processes.close()


USES = """
    import sys
    import iniconfig

    def run(text: str):
        found = dict(iniconfig.IniConfig("x.ini", data=text)["a"].items())
        seen = [name for name in ("pegboard", "click", "pytest") if can(name)]
        return {"found": found, "file": iniconfig.__file__, "seen": seen, "prefix": sys.prefix}

    def can(name):
        try:
            __import__(name)
        except ImportError:
            return False
        return True
"""


@contextmanager
def an_index(folder: Path, name: str) -> Iterator[str]:
    """The address of an index on this machine, with a package that is installed here."""
    here = distribution(name)
    (folder / name).mkdir(parents=True)
    with zipfile.ZipFile(folder / name / f"{name}-{here.version}-py3-none-any.whl", "w") as archive:
        for each in here.files or ():
            if each.suffix != ".pyc" and each.name not in ("INSTALLER", "REQUESTED"):
                archive.write(each.locate(), each.as_posix())
    serve = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture
def index(tmp_path) -> Iterator[dict[str, str]]:
    """What leads both installers there, and nowhere else."""
    with an_index(tmp_path / "index", "iniconfig") as url:
        yield {"PIP_INDEX_URL": url, "UV_DEFAULT_INDEX": url, "PIP_FIND_LINKS": ""}


def test_a_package_of_the_index_is_installed_once_and_is_there(python, index):
    python = python(**index)
    item = python_item(USES, python_file("requirements.txt", "IniConfig>=2\n"))
    told = []
    for _ in range(2):
        job = python.job(item, {"text": "[a]\nb=1\n"}, on_progress=told.append)
        result = python.run_job(job)
        assert result.outcome is Outcome.OK, result
    [place] = python.folder.glob("environments/*/")
    assert result.structured["found"] == {"b": "1"}
    assert result.structured["seen"] == []
    assert Path(result.structured["file"]).is_relative_to(place)
    assert Path(result.structured["prefix"]) == place
    assert [each.message for each in told] == ["installing iniconfig>=2"]
    assert list(place.rglob("iniconfig/__pycache__/*.pyc")), "it is compiled once, not at each call"
    assert (place / "pyvenv.cfg").read_text().count("include-system-site-packages = false") == 1


def sdist(folder: Path, proof: Path) -> None:
    """A package that would write a file when it is built."""
    root = folder / "evil-1.0"
    root.mkdir(parents=True)
    (root / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    (root / "setup.py").write_text(
        f"open({str(proof)!r}, 'w').close()\n"
        "from setuptools import setup\nsetup(name='evil', version='1.0')\n"
    )
    with tarfile.open(folder / "evil-1.0.tar.gz", "w:gz") as archive:
        archive.add(root, "evil-1.0")


def test_a_package_that_would_have_to_be_built_is_not_installed(python, tmp_path):
    sdist(tmp_path / "links", tmp_path / "was_run")
    python = python(**offline(tmp_path / "links"))
    result = python.run(python_item("def run():\n    return 1", dependencies=["evil"]))
    assert result.outcome is Outcome.UNAVAILABLE
    assert "evil cannot be installed: " in result.error
    assert not (tmp_path / "was_run").exists()
    assert not list(python.folder.glob("environments/*/"))


def wheel(folder: Path) -> None:
    """A package that would write a file whenever an interpreter with it starts."""
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / "quiet-1.0-py3-none-any.whl", "w") as archive:
        files = {
            "quiet.py": "WORD = 'quiet'\n",
            "quiet.pth": "import os; os.path.exists(os.environ['PROOF']) or "
            "open(os.environ['PROOF'], 'w').close()\n",
            "quiet-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: quiet\nVersion: 1.0\n",
            "quiet-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\n"
            "Root-Is-Purelib: true\nTag: py3-none-any\n",
        }
        for name, content in files.items():
            archive.writestr(name, content)
        record = "".join(f"{name},,\n" for name in [*files, "quiet-1.0.dist-info/RECORD"])
        archive.writestr("quiet-1.0.dist-info/RECORD", record)


def test_nothing_of_a_package_runs_before_the_tool_does(python, tmp_path):
    wheel(tmp_path / "links")
    proof = tmp_path / "was_run"
    python = python(**offline(tmp_path / "links"), PROOF=str(proof))
    place = asyncio.run(python.environments.folder(["quiet==1.0"], lambda: None))
    assert (place / MARK).exists()
    assert not proof.exists()
    source = "import quiet\ndef run():\n    return quiet.WORD"
    item = python_item(source, dependencies=["quiet==1.0"], env={"PROOF": "proof.txt"})
    result = python.run(item)
    assert result.structured == {"result": "quiet"}, result
    assert [each.name for each in result.artifacts] == ["proof.txt"], "inside, it does run"


# An installer that behaves as a test wants.


class Installer:
    """A program called uv that notes how it is called, makes a folder, and then does as told."""

    def __init__(self, folder: Path, then: str, **environ: str) -> None:
        folder.mkdir()
        self.folder = folder
        program = folder / "uv"
        program.write_text(
            f"#!/bin/sh\nfolder={folder}\n"
            'echo "$@" >> $folder/calls\n'
            "env > $folder/environment\n"
            'if [ "$1" = venv ]; then for last; do :; done; mkdir -p "$last/bin"; exit 0; fi\n'
            f"{textwrap.dedent(then)}\n"
        )
        program.chmod(0o755)
        self.environ = {"PATH": f"{folder}:/usr/bin:/bin", **environ}
        self.cache = folder / "cache"

    def environments(self, **options: float) -> Environments:
        return Environments(self.cache, self.environ, base_interpreter(), **options)

    def calls(self) -> list[str]:
        file = self.folder / "calls"
        return [line.split()[0] for line in file.read_text().splitlines()] if file.exists() else []

    def left(self) -> list[str]:
        return [path.name for path in self.cache.iterdir() if path.is_dir()]


HANG = "sleep 600 & echo $! > $folder/child; echo $$ > $folder/self; wait"


def hanging(installer: Installer) -> list[int]:
    """The numbers of its processes, once it hangs."""
    files = [installer.folder / "child", installer.folder / "self"]
    until(lambda: all(file.exists() and file.read_text().strip() for file in files))
    return [int(file.read_text()) for file in files]


def test_a_failure_tells_the_last_words_without_anybodys_password(tmp_path):
    installer = Installer(
        tmp_path / "uv",
        """
        echo "Looking at https://me:pa55word@index.example/simple"
        echo "and https://only-a-token@index.example/x, https://a:b/c@host/"
        echo "error: no version of nothing" >&2
        exit 3
        """,
    )
    with pytest.raises(NotExecutable, match="nothing cannot be installed") as raised:
        asyncio.run(installer.environments().folder(["nothing"], lambda: None))
    told = str(raised.value)
    assert "error: no version of nothing" in told
    assert "https://***@index.example/simple" in told
    assert not any(secret in told for secret in ("pa55word", "only-a-token", "b/c"))
    assert installer.left() == []


def test_a_long_failure_is_cut(tmp_path):
    installer = Installer(tmp_path / "uv", "head -c 10000000 /dev/zero | tr '\\0' 'x'; exit 1")
    with pytest.raises(NotExecutable) as raised:
        asyncio.run(installer.environments().folder(["nothing"], lambda: None))
    assert len(str(raised.value)) < 2_000


def test_an_installer_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path):
    installer = Installer(tmp_path / "uv", HANG)
    environments = installer.environments(build_seconds=2.0)
    with pytest.raises(NotExecutable, match="installing a, b took longer than 2 seconds"):
        asyncio.run(environments.folder(["a", "b"], lambda: None))
    assert not any(running(pid) for pid in hanging(installer))
    assert installer.left() == []


def test_cancelling_ends_the_installer_with_all_that_it_started(tmp_path):
    installer = Installer(tmp_path / "uv", HANG)

    async def cancelled() -> list[int]:
        task = asyncio.create_task(installer.environments().folder(["a"], lambda: None))
        pids = await asyncio.to_thread(hanging, installer)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return pids

    assert not any(running(pid) for pid in asyncio.run(cancelled()))
    assert installer.left() == []


def test_whoever_waits_for_another_build_can_be_cancelled_too(tmp_path):
    installer = Installer(tmp_path / "uv", HANG)

    async def both() -> None:
        first = asyncio.create_task(installer.environments().folder(["a"], lambda: None))
        await asyncio.to_thread(hanging, installer)
        second = asyncio.create_task(installer.environments().folder(["a"], lambda: None))
        await asyncio.sleep(0)
        for task in (second, first):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(both())
    assert installer.calls() == ["venv", "pip"]


def test_one_environment_is_built_once_however_many_want_it(tmp_path):
    installer = Installer(tmp_path / "uv", "exit 0")
    built = []

    async def many() -> list[Path]:
        # Each with a lock of its own, as in as many processes.
        return await asyncio.gather(
            *(installer.environments().folder(["a"], lambda: built.append(1)) for _ in range(10))
        )

    assert len(set(asyncio.run(many()))) == 1
    assert installer.calls() == ["venv", "pip"]
    assert built == [1]


def test_what_a_killed_build_left_is_built_again(tmp_path):
    installer = Installer(tmp_path / "uv", "exit 0")
    place = asyncio.run(installer.environments().folder(["a"], lambda: None))
    (place / MARK).unlink()
    (place / "half").touch()
    assert asyncio.run(installer.environments().folder(["a"], lambda: None)) == place
    assert sorted(path.name for path in place.iterdir()) == [
        "bin",
        MARK,
        "requirements.txt",
    ]
    assert installer.calls() == ["venv", "pip"] * 2


BUILD = """
import asyncio, sys
from pathlib import Path
from pegboard.execute.python.environments import Environments
from pegboard.execute.python.interpreter import base_interpreter
made = Environments(Path(sys.argv[1]), {"PATH": sys.argv[2]}, base_interpreter())
asyncio.run(made.folder(["a"], lambda: None))
"""


def test_an_installer_that_outlives_its_pegboard_keeps_others_out(tmp_path):
    installer = Installer(tmp_path / "uv", HANG)
    command = [sys.executable, "-c", BUILD, str(installer.cache), installer.environ["PATH"]]
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": ":".join(sys.path)}) as ours:
        pids = hanging(installer)
        ours.send_signal(signal.SIGKILL)
    [lock] = installer.cache.glob("*.lock")
    with opened_lock(lock) as descriptor:
        assert not taken(descriptor)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        until(lambda: taken(descriptor))


def test_other_requirements_or_another_python_make_another_environment(tmp_path):
    installer = Installer(tmp_path / "uv", "exit 0")
    other = base_interpreter()._replace(version="3.99.0")
    made = [
        asyncio.run(environments.folder(requirements, lambda: None))
        for environments, requirements in (
            (installer.environments(), ["a", "b"]),
            (installer.environments(), ["b", "a"]),
            (installer.environments(), ["a"]),
            (Environments(installer.cache, installer.environ, other), ["a"]),
        )
    ]
    assert made[0] == made[1]
    assert len(set(made)) == 3
    assert (made[0] / "requirements.txt").read_text() == "a\nb\n"


def test_installers_get_the_persons_index_and_nothing_that_leads_them_elsewhere(tmp_path):
    kept = {
        "PIP_INDEX_URL": "x",
        "PIP_CONFIG_FILE": "x",
        "UV_INDEX_INNER_PASSWORD": "x",
        "UV_DEFAULT_INDEX": "x",
        "HTTPS_PROXY": "x",
        "SSL_CERT_FILE": "x",
    }
    dropped = {
        "PIP_TARGET": "/elsewhere",
        "PIP_USER": "1",
        "PIP_REQUIREMENT": "x",
        "PIP_NO_BINARY": ":all:",
        "UV_NO_BINARY": "1",
        "UV_SYSTEM_PYTHON": "1",
        "UV_PROJECT_ENVIRONMENT": "/elsewhere",
        "VIRTUAL_ENV": "/elsewhere",
        "PYTHONPATH": "/elsewhere",
        "PYTHONHOME": "/elsewhere",
        "PEGBOARD_TOKEN": "x",
    }
    installer = Installer(tmp_path / "uv", "exit 0", **kept, **dropped)
    asyncio.run(installer.environments().folder(["a"], lambda: None))
    seen = dict(
        line.split("=", 1)
        for line in (installer.folder / "environment").read_text().splitlines()
        if "=" in line
    )
    assert kept.items() <= seen.items()
    assert not dropped.keys() & seen.keys()
    assert "--no-build" in (installer.folder / "calls").read_text()


def test_a_cache_that_cannot_be_written_is_named(tmp_path):
    installer = Installer(tmp_path / "uv", "exit 0")
    installer.cache.write_bytes(b"")
    with pytest.raises(NotExecutable, match="no environment can be made in"):
        asyncio.run(installer.environments().folder(["a"], lambda: None))
