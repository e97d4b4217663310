"""What a page shows of a terminal, and a terminal to see whether it is so."""

import os
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
HERE = "/home/me/project"
"""Where the reader of a page works, by the page."""
BOUND = 120.0
NEAR = 0.05
"""Other processors round otherwise: by so much a score may differ from the one that is shown."""
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(
    r"^\$ (?P<text>(?:.*\\\n)*(?:.*<<'(?P<end>\w+)'\n(?s:.*?)^(?P=end)$|.*))\n"
    r"(?P<output>(?:(?!\$ ).*\n)*)",
    re.MULTILINE,
)
"""With the lines that it goes on with, and those of a file that it writes."""
OWN_VARIABLES = ("LANG", "TZ", "http_proxy", "https_proxy", "no_proxy")


class Shown(NamedTuple):
    command: str
    output: str


def shown(page: str) -> list[Shown]:
    """Each command after a `$` in a fenced block, with the lines below it."""
    found = []
    for language, block in FENCED.findall(page):
        for command in () if language else COMMAND.finditer(block):
            text = command["text"].replace("\\\n", "")
            found.append(Shown(text, command["output"].strip("\n")))
    return found


def files_of(page: str) -> dict[str, str]:
    """What the reader is told to save, by name: a Python block after "Save this as `name`"."""
    saved = re.findall(r"[Ss]ave this as `([\w.]+)`:\n\n```python\n(.*?)^```$", page, re.S | re.M)
    return dict(saved)


def differ(said: str, expected: str) -> bool:
    """Whether anything but the last digits of a score is another."""
    score = re.compile(r"\b0\.\d+\b")
    if score.sub("0.x", said) != score.sub("0.x", expected):
        return True
    pairs = zip(score.findall(said), score.findall(expected), strict=True)
    return any(abs(float(a) - float(b)) > NEAR for a, b in pairs)


class Terminal:
    """A shell in an empty folder that has the clone in it, and an environment of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        clone = folder / "pegboard"
        for part in ("examples", "demo"):
            shutil.copytree(
                ROOT / part,
                clone / part,
                ignore=shutil.ignore_patterns(".pegboard", "__pycache__"),
            )
        kept = {name: os.environ[name] for name in OWN_VARIABLES if name in os.environ}
        self._shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=kept
            | {
                "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
                "HOME": str(folder / "home"),
                "PYTHONUNBUFFERED": "1",
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        self._shell.kill()
        self._shell.wait()
        for pipe in (self._shell.stdin, self._shell.stdout):
            assert pipe
            pipe.close()

    def run(self, command: str) -> tuple[str, int]:
        """What comes of it, with the folder called as the page calls it, and the exit code."""
        assert self._shell.stdin
        asked = f"{{ {command}\n}} </dev/null\nprintf '\\n%s %s\\n' =-= $?\n"
        self._shell.stdin.write(asked.encode())
        self._shell.stdin.flush()
        said = self._until(re.compile(rb"\n=-= (\d+)\n$"))
        output, code = re.fullmatch(r"(.*?)\n*\n=-= (\d+)\n", said, re.DOTALL).groups()
        return output.replace(str(self.folder), HERE).strip("\n"), int(code)

    def _until(self, end: re.Pattern[bytes]) -> str:
        assert self._shell.stdout
        pipe = self._shell.stdout.fileno()
        said, begun = b"", time.monotonic()
        while not end.search(said):
            left = BOUND - (time.monotonic() - begun)
            ready, _, _ = select.select([pipe], [], [], max(left, 0))
            assert ready, f"nothing more within {BOUND:g} s after: {said.decode()}"
            part = os.read(pipe, 65_536)
            assert part, f"the shell ended after: {said.decode()}"
            said += part
        return said.decode()
