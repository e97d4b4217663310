"""Typed clients of all real services: do they compile, and what does it cost to make them?

Every operation of the OpenAPI documents, and every saved tool of MCP servers, goes into a module
for its service, in TypeScript and in Python. A second file calls each of them with what it cannot
do without. All of it has to pass `tsc --strict` and `mypy --strict`.
"""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypeVar

from openapi_ingest import items_of
from pegboard.app.measure import evaluation_board
from pegboard.app.pegboard import located
from pegboard.gate.admission import admit
from pegboard.model.items import Candidate, Item
from pegboard.serve.typed.python import python_calls, python_module
from pegboard.serve.typed.typescript import typescript_calls, typescript_module
from replay import dumps
from report import Check, at_least, at_most, options, save

TSC = Path(__file__).parents[1] / "build/parts/typescript/node_modules/.bin/tsc"
GATEWAY = "http://127.0.0.1:8420"
STRICT = {
    "strict": True,
    "noUncheckedIndexedAccess": True,
    "exactOptionalPropertyTypes": True,
    "erasableSyntaxOnly": True,
    "noEmit": True,
    "allowImportingTsExtensions": True,
    "target": "es2022",
    "module": "es2022",
    "moduleResolution": "bundler",
    "lib": ["es2022"],
    "types": [],
}


T = TypeVar("T")


class Made(NamedTuple):
    """The modules of one language, and the processor seconds that making them took."""

    modules: dict[str, str]
    seconds: float

    @property
    def megabytes(self) -> float:
        return round(sum(map(len, self.modules.values())) / 1e6, 1)


def main() -> None:
    found = options(__doc__)
    found.add_argument("--tsc", type=Path, default=TSC, help="the compiler (%(default)s)")
    found.add_argument("--keep", type=Path, help="write the modules into this folder, and stay")
    args = found.parse_args()
    if not args.tsc.exists():
        raise SystemExit(f"{args.tsc} is missing; run: make parts")
    services = {**openapi_items(args.data / "openapi"), **mcp_items(args.data / "mcp")}
    items = [item for each in services.values() for item in each]
    unit, _ = timed(lambda: [json.dumps([i.input_schema, i.output_schema]) for i in items])
    in_typescript = made(services, typescript_module)
    in_python = made(services, python_module)
    with TemporaryDirectory(prefix="pegboard-bench-") as scratch:
        folder = args.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        tsc = compile_typescript(args.tsc.resolve(), folder, services, in_typescript.modules)
        mypy = check_python(folder, services, in_python.modules)
    thousands = len(items) / 1_000
    save(
        args,
        "typed_clients",
        {
            "checks": checks(services, in_typescript, in_python, tsc.errors, mypy.errors),
            "tools": {name: len(each) for name, each in services.items()},
            "megabytes": {
                "TypeScript": in_typescript.megabytes,
                "Python": in_python.megabytes,
            },
            "seconds a thousand tools": {
                "made in TypeScript": round(in_typescript.seconds / thousands, 2),
                "made in Python": round(in_python.seconds / thousands, 2),
                "tsc --strict": round(tsc.seconds / thousands, 2),
                "mypy --strict": round(mypy.seconds / thousands, 2),
            },
            "made / their schemas written as JSON": {
                "TypeScript": round(in_typescript.seconds / unit, 1),
                "Python": round(in_python.seconds / unit, 1),
            },
            "first errors": [*tsc.errors[:5], *mypy.errors[:5]],
        },
    )


def checks(
    services: dict[str, list[Item]],
    in_typescript: Made,
    in_python: Made,
    tsc: list[str],
    mypy: list[str],
) -> dict[str, Check]:
    count = sum(map(len, services.values()))
    called = sum(text.count("\n      call(") for text in in_typescript.modules.values())
    defined = sum(text.count("_call('public%2F") for text in in_python.modules.values())
    return {
        "functions in TypeScript": at_least(called, count),
        "functions in Python": at_least(defined, count),
        "errors of tsc --strict": at_most(len(tsc), 0),
        "errors of mypy --strict": at_most(len(mypy), 0),
    }


# The tools


def openapi_items(folder: Path) -> dict[str, list[Item]]:
    files = sorted([*folder.glob("*/*.gz"), *folder.glob("*.json")])
    if not files:
        raise SystemExit(f"{folder} has no documents; --data is the folder that has openapi/ in it")
    found: dict[str, list[Item]] = {}
    with evaluation_board(None, located().settings) as board:
        for file in files:
            board.add_source("openapi", str(file), name=None)
        board.sync(embed=False)
        for item in items_of(board):
            found.setdefault(item.source, []).append(item)
    return found


def mcp_items(folder: Path) -> dict[str, list[Item]]:
    return {
        f"mcp-{name}": list(admitted(name, tools))
        for name, tools in dumps(folder).items()
        if name and tools
    }


def admitted(server: str, tools: Sequence[dict[str, object]]) -> Iterator[Item]:
    for each in tools:
        fields = {
            "id": f"mcptools:{server}:{each['name']}",
            "name": each["name"],
            "category": server,
            "description": each.get("description") or "",
            "tool_type": "mcp",
            "input_schema": each.get("inputSchema") or {},
            "output_schema": each.get("outputSchema") or {},
        }
        item = admit(Candidate(server, str(each["name"]), "", fields))
        if isinstance(item, Item):
            yield item


# The modules


def made(services: dict[str, list[Item]], make: Callable[[Sequence[Item], str], str]) -> Made:
    seconds, modules = timed(lambda: {name: make(each, GATEWAY) for name, each in services.items()})
    return Made(modules, seconds)


def timed(work: Callable[[], T]) -> tuple[float, T]:
    began = time.process_time()
    done = work()
    return time.process_time() - began, done


class Judged(NamedTuple):
    errors: list[str]
    seconds: float


def compile_typescript(
    tsc: Path, folder: Path, services: dict[str, list[Item]], modules: dict[str, str]
) -> Judged:
    names = []
    for name, text in modules.items():
        calls = "".join(f"  await {each};\n" for each in typescript_calls(services[name]))
        head = f'import {{ tools }} from "./{name}.ts";\n\n'
        used = f"{head}export async function used() {{\n{calls}}}\n"
        (folder / f"{name}.ts").write_text(text, "utf-8")
        (folder / f"used-{name}.ts").write_text(used, "utf-8")
        names += [f"{name}.ts", f"used-{name}.ts"]
    config = {"compilerOptions": STRICT, "files": names}
    (folder / "tsconfig.json").write_text(json.dumps(config), "utf-8")
    return judged([str(tsc), "--pretty", "false", "-p", "."], folder, "error TS")


def check_python(folder: Path, services: dict[str, list[Item]], modules: dict[str, str]) -> Judged:
    names = []
    for number, (name, text) in enumerate(modules.items()):
        calls = "".join(f"    {each}\n" for each in python_calls(services[name]))
        used = f"from made_{number} import tools\n\n\ndef used() -> None:\n{calls}"
        (folder / f"made_{number}.py").write_text(text, "utf-8")
        (folder / f"used_{number}.py").write_text(used, "utf-8")
        names += [f"made_{number}.py", f"used_{number}.py"]
    (folder / "mypy.ini").write_text("[mypy]\n", "utf-8")
    options = ["--strict", "--python-version", "3.11", "--no-incremental"]
    return judged([sys.executable, "-m", "mypy", *options, *names], folder, ": error:")


def judged(command: list[str], folder: Path, mark: str) -> Judged:
    began = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    seconds = time.perf_counter() - began
    errors = [line for line in done.stdout.splitlines() if mark in line]
    if done.returncode != 0 and not errors:
        raise SystemExit(f"{shutil.which(command[0])} failed: {done.stdout}{done.stderr}")
    return Judged(errors, seconds)


if __name__ == "__main__":
    main()
