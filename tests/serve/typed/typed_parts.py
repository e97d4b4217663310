"""The real compilers, and tools to make modules of."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from making import make_item
from pegboard.model.items import Item
from real_servers import PARTS, part

TSC = PARTS / "typescript" / "node_modules" / ".bin"
GATEWAY = "http://127.0.0.1:8420"

STRICT = {
    "strict": True,
    "noUncheckedIndexedAccess": True,
    "exactOptionalPropertyTypes": True,
    "noImplicitOverride": True,
    "noUnusedLocals": True,
    "erasableSyntaxOnly": True,
    "verbatimModuleSyntax": True,
    "isolatedModules": True,
    "allowImportingTsExtensions": True,
    "rewriteRelativeImportExtensions": True,
    "target": "es2022",
    "module": "es2022",
    "moduleResolution": "bundler",
    # Nothing of a browser or of Node is known: the module brings what it needs.
    "lib": ["es2022"],
    "types": [],
}


def tool(schema: Any = None, output: Any = None, name: str = "send", **fields: Any) -> Item:
    return make_item(name, input_schema=schema or {}, output_schema=output or {}, **fields)


def compiled(folder: Path, files: Mapping[str, str], *, emit: bool = False) -> list[str]:
    """What `tsc --strict` has to say. With `emit`, the JavaScript lies beside the files."""
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    options = {**STRICT, "noEmit": not emit}
    config = {"compilerOptions": options, "files": sorted(files)}
    (folder / "tsconfig.json").write_text(json.dumps(config), "utf-8")
    (folder / "package.json").write_text('{"type": "module"}', "utf-8")
    command = [part(TSC, "tsc"), "--pretty", "false", "-p", str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100)
    said = done.stdout.splitlines()
    assert done.returncode == 0 or said, done.stderr
    return said


def checked(folder: Path, files: Mapping[str, str]) -> list[str]:
    """The errors that `mypy --strict` finds, each as `file:line: ...`."""
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    (folder / "mypy.ini").write_text("[mypy]\n", "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--python-version", "3.11"]
    done = subprocess.run(
        [*command, "--hide-error-context", "--cache-dir", str(folder / "cache"), *sorted(files)],
        cwd=folder,
        env={k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "MYPYPATH")},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if ": error:" in line]
