"""The rules of the house, read from the source text: nothing here imports Pegboard."""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = "pegboard"
HOUSE = Path(__file__).parents[1] / "src" / PACKAGE

STAGES = ("sources", "gate", "store", "embed", "search", "execute")
ROOT = "__init__"
LAYERS: tuple[tuple[str, ...], ...] = (
    ("__main__", "pytools"),
    ("cli",),
    ("serve",),
    (ROOT,),
    ("tiers",),
    ("remote",),
    ("app",),
    ("config",),
    ("board",),
    STAGES,
    ("quality",),
    ("text", "file_lock"),
    ("ports",),
    ("model",),
    ("formats", "verbs"),
    ("errors",),
)
RANKS = {layer: rank for rank, layers in enumerate(LAYERS) for layer in layers}
ONLY = {ROOT: {"app"}, "__main__": {"cli"}, "pytools": {"cli"}}
"""Modules that may import less than their place would allow."""

MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 60
CATCH_ALL = (
    "board/find/patience.py",
    "board/maintain/worker.py",
    "board/sync/keeping.py",
    "cli/main.py",
    "serve/http/",
    "serve/searcher.py",
    "serve/web/visits.py",
)
READS_ENVIRONMENT = ("app/pegboard.py",)
LOADS_LATE = {
    "app/pegboard.py": ("board",),
    "app/runners.py": ("board", "execute", "gate"),
    "cli/creating.py": ("board",),
    "cli/publishing.py": ("remote", "tiers"),
    "cli/releases.py": ("board",),
    "cli/running.py": ("board",),
    "board/sync/source_kinds.py": ("sources",),
    "cli/serving.py": ("serve", "app", "remote", "tiers"),
    "cli/typed.py": ("serve",),
    "cli/measuring.py": ("app",),
    "cli/opening.py": ("remote",),
    "cli/reaching.py": ("tiers",),
    "cli/tiers.py": ("tiers",),
    "cli/answers.py": ("board",),
    "remote/board.py": ("remote",),
    "cli/database.py": ("app",),
    "embed/choose.py": ("embed",),
    "board/trust/signing.py": ("sources",),
    "cli/signing.py": ("cli",),
    "config/parts.py": ("board", "gate"),
    "gate/admission.py": ("gate",),
    "store/opening.py": ("store",),
}
"""Rooms that take long to load, and who may enter them only when they are needed."""
FACES = ("__main__", "pytools", "cli", "serve", "remote", "tiers")
KNOWS_THE_DATABASE = {
    "cli/database.py": "what `db status` shows is about the database itself",
    "tiers/opening.py": "the address of a registry tells a database from a file",
}
"""Faces ask use cases. These look at where a board is kept, because that is their subject."""
SPEAKS_SQL = ("store/sqlite/opening.py", "store/sqlite/store.py")
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "misc"}

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Lambda)
_SQL = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE)\b")
_QUERY_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


class Module(NamedTuple):
    name: str
    path: str
    """Relative to the package, with forward slashes."""
    text: str
    tree: ast.Module

    @property
    def is_package(self) -> bool:
        return self.path.endswith("__init__.py")


class Import(NamedTuple):
    target: str
    line: int
    hidden: bool
    """Inside a function or a class."""


Rule = Callable[[list[Module]], Iterator[str]]


def read(house: Path) -> list[Module]:
    return [_module(house, path) for path in sorted(house.rglob("*.py"))]


def _module(house: Path, path: Path) -> Module:
    relative = path.relative_to(house)
    parts = [PACKAGE, *relative.with_suffix("").parts]
    if parts[-1] == "__init__":
        parts.pop()
    text = path.read_text("utf-8")
    return Module(".".join(parts), relative.as_posix(), text, _tree(text, path))


@cache
def _tree(text: str, path: Path) -> ast.Module:
    """For the house is read for each rule."""
    return ast.parse(text, str(path))


@cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree))


def layer_of(name: str) -> str:
    return name.split(".")[1] if "." in name else ROOT


@cache
def imports_of(module: Module, known: frozenset[str]) -> list[Import]:
    """Every import of our own modules, wherever and in whatever way it is written."""
    return [
        Import(target, node.lineno, hidden)
        for node, hidden in _walk(module.tree, hidden=False)
        for target in _targets(node, module, known)
        if target == PACKAGE or target.startswith(f"{PACKAGE}.")
    ]


def _walk(node: ast.AST, *, hidden: bool) -> Iterator[tuple[ast.stmt | ast.expr, bool]]:
    for child in ast.iter_child_nodes(node):
        inside = hidden or isinstance(child, SCOPES)
        if isinstance(child, ast.stmt | ast.expr):
            yield child, hidden
        yield from _walk(child, hidden=inside)


def _targets(node: ast.AST, module: Module, known: frozenset[str]) -> list[str]:
    match node:
        case ast.Import(names):
            return [alias.name for alias in names]
        case ast.ImportFrom(base, names, level):
            package = _absolute(module, base or "", level)
            return sorted(
                {
                    f"{package}.{a.name}" if f"{package}.{a.name}" in known else package
                    for a in names
                }
            )
        case ast.Call(func, [ast.Constant(str(target)), *_]) if _imports_by_name(func):
            return [target]
    return []


def _imports_by_name(func: ast.expr) -> bool:
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return name in ("import_module", "__import__")


def _absolute(module: Module, base: str, level: int) -> str:
    if not level:
        return base
    parts = module.name.split(".")
    above = parts[: len(parts) - level + module.is_package]
    return ".".join([*above, base] if base else above)


def _names(modules: list[Module]) -> frozenset[str]:
    return frozenset(module.name for module in modules)


# The rules. Each gives a sentence for everything that breaks it.


def unknown_layers(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        if layer_of(module.name) not in RANKS:
            yield (
                f"{module.path} belongs to no layer: give {layer_of(module.name)!r} a layer"
                " in LAYERS of tests/test_architecture.py"
            )


def wrong_directions(modules: list[Module]) -> Iterator[str]:
    known = _names(modules)
    for module in modules:
        for found in imports_of(module, known):
            if not _may_import(layer_of(module.name), layer_of(found.target)):
                yield (
                    f"{module.path}:{found.line} imports {found.target}:"
                    f" {layer_of(module.name)} may not look at {layer_of(found.target)}"
                )


def _may_import(importer: str, imported: str) -> bool:
    if importer not in RANKS or imported not in RANKS:
        return False
    if importer in ONLY:
        return imported in ONLY[importer]
    return importer == imported or RANKS[importer] < RANKS[imported]


def hidden_imports(modules: list[Module]) -> Iterator[str]:
    known = _names(modules)
    for module in modules:
        for found in imports_of(module, known):
            if found.hidden and layer_of(found.target) not in LOADS_LATE.get(module.path, ()):
                yield f"{module.path}:{found.line} hides its import of {found.target}; move it up"


def cycles(modules: list[Module]) -> Iterator[str]:
    """A module is in a cycle when it can be reached from itself."""
    known = _names(modules)
    graph = {
        module.name: {i.target for i in imports_of(module, known) if i.target in known}
        for module in modules
    }
    for name in _reached_from_themselves(graph):
        yield f"{name} imports itself by way of others; break the cycle"


def circles_of_rooms(modules: list[Module]) -> Iterator[str]:
    """No module may be in a cycle, and yet two rooms may each need the other to be understood."""
    known = _names(modules)
    graph: dict[str, set[str]] = {}
    for module in modules:
        room = _room_of(module.name)
        for found in imports_of(module, known):
            target = _room_of(found.target)
            if room and target and target != room:
                graph.setdefault(room, set()).add(target)
    for name in _reached_from_themselves(graph):
        yield f"{name} needs rooms that need it; move what leads back"


def _room_of(name: str) -> str:
    """`pegboard.board.sync.adding` is in the room `board.sync`; what lies in a hall is in none."""
    parts = name.split(".")
    return ".".join(parts[1:3]) if len(parts) > 3 else ""


def _reached_from_themselves(graph: Mapping[str, set[str]]) -> Iterator[str]:
    for name in sorted(graph):
        reached: set[str] = set()
        ahead = list(graph[name])
        while ahead:
            each = ahead.pop()
            if each not in reached:
                reached.add(each)
                ahead.extend(graph.get(each, ()))
        if name in reached:
            yield name


def long_files(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        lines = len(module.text.splitlines())
        if lines > MAX_FILE_LINES:
            yield f"{module.path} has {lines} lines; at most {MAX_FILE_LINES}"


def long_functions(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        for node in nodes(module.tree):
            if isinstance(node, FUNCTIONS):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MAX_FUNCTION_LINES:
                    yield (
                        f"{module.path}:{node.lineno} {node.name} has {lines} lines;"
                        f" at most {MAX_FUNCTION_LINES}"
                    )


def broad_excepts(modules: list[Module]) -> Iterator[str]:
    """`except BaseException` is for cleaning up, so it has to end in a bare `raise`."""
    for module in modules:
        for node in nodes(module.tree):
            if not isinstance(node, ast.ExceptHandler):
                continue
            caught = _caught(node)
            last = node.body[-1]
            passes_on = isinstance(last, ast.Raise) and last.exc is None
            if "BaseException" in caught and not passes_on:
                yield f"{module.path}:{node.lineno} swallows BaseException"
            elif caught & {"", "Exception"} and not module.path.startswith(CATCH_ALL):
                yield f"{module.path}:{node.lineno} catches everything; name the errors"


def _caught(handler: ast.ExceptHandler) -> set[str]:
    if handler.type is None:
        return {""}
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {ast.unparse(kind).rpartition(".")[2] for kind in kinds}


def bare_type_ignores(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        if "type: ignore" not in module.text:
            continue
        for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
            if token.type == tokenize.COMMENT and "type: ignore" in token.string:
                sentence = re.sub(r"type: ignore(\[[^]]*\])?|noqa(:\s*\w+)?|#", "", token.string)
                if len(sentence.split()) < 4:
                    yield (
                        f"{module.path}:{token.start[0]} ignores a type without a sentence"
                        " that says which upstream bug it works round"
                    )


def prints(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        for node in nodes(module.tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print":
                yield f"{module.path}:{node.lineno} prints"


def environment_reads(modules: list[Module]) -> Iterator[str]:
    names = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}
    for module in modules:
        if module.path in READS_ENVIRONMENT:
            continue
        for node in nodes(module.tree):
            by_attribute = (
                isinstance(node, ast.Attribute)
                and node.attr in names
                and getattr(node.value, "id", "") == "os"
            )
            by_name = isinstance(node, ast.ImportFrom) and (
                node.module == "os" and any(alias.name in names for alias in node.names)
            )
            if by_attribute or by_name:
                yield f"{module.path}:{node.lineno} sees the environment; hand it a setting"


def vague_names(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        if VAGUE_NAMES & set(module.name.split(".")):
            yield f"{module.path} is named after nothing; name it after its step"


def loose_sql(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        if module.path in SPEAKS_SQL:
            continue
        for node in nodes(module.tree):
            text = node.value if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and _SQL.match(text):
                yield f"{module.path}:{node.lineno} has SQL in it; name it in a .sql file"


def reaching_faces(modules: list[Module]) -> Iterator[str]:
    """Whatever a face asks the store itself, no other face can ask in the same way."""
    known = _names(modules)
    for module in modules:
        if layer_of(module.name) not in FACES:
            continue
        for node in nodes(module.tree):
            match node:
                case ast.Attribute(_, "store") | ast.Call(
                    ast.Name("getattr"), [_, ast.Constant("store"), *_]
                ):
                    yield f"{module.path}:{node.lineno} reaches into the store; ask a use case"
        if module.path not in KNOWS_THE_DATABASE:
            for found in imports_of(module, known):
                if layer_of(found.target) == "store" or found.target == f"{PACKAGE}.ports.store":
                    yield f"{module.path}:{found.line} imports {found.target}; ask a use case"


RULES: tuple[Rule, ...] = (
    unknown_layers,
    wrong_directions,
    reaching_faces,
    hidden_imports,
    cycles,
    circles_of_rooms,
    long_files,
    long_functions,
    broad_excepts,
    bare_type_ignores,
    prints,
    environment_reads,
    vague_names,
    loose_sql,
)


class Queries(NamedTuple):
    """One `.sql` file, and the modules that load it under a name of theirs."""

    file: Path
    names: list[str]
    users: list[tuple[Module, str]]


def queries(house: Path) -> list[Queries]:
    modules = [module for module in read(house) if layer_of(module.name) == "store"]
    loads = [(module, each) for module in modules for each in _loads(module.tree)]
    found = []
    files = [f for f in (house / "store" / "sql").rglob("*.sql") if f.parent.name != "migrations"]
    parts = [f for f in files if not _QUERY_NAME.search(f.read_text("utf-8"))]
    for file in sorted(set(files) - set(parts)):
        topic = (file.parent.name, file.stem)
        loaded = (topic, ("", file.stem))
        users = [(module, name) for module, (name, what) in loads if what in loaded]
        found.append(Queries(file, _QUERY_NAME.findall(file.read_text("utf-8")), users))
    return found


def _loads(tree: ast.Module) -> Iterator[tuple[str, tuple[str, str]]]:
    """`SQL = load("sqlite", "items")` as `SQL`, ("sqlite", "items").

    And `self._sql = reading.sql("items")`, which is for every dialect, as `_sql`, ("", "items").
    """
    for node in nodes(tree):
        match node:
            case ast.Assign(
                [ast.Attribute(_, name)],
                ast.Call(ast.Attribute(ast.Name("reading"), "sql"), [ast.Constant(topic)]),
            ):
                yield name, ("", topic)
            case ast.Assign(
                [ast.Name(name)],
                ast.Call(ast.Name("load"), [ast.Constant(dialect), ast.Constant(topic)]),
            ):
                yield name, (dialect, topic)


def unused_queries(house: Path) -> Iterator[str]:
    for sql in queries(house):
        if any(_takes_all(module.tree, name) for module, name in sql.users):
            continue
        said = {
            node.value
            for module, _ in sql.users
            for node in nodes(module.tree)
            if isinstance(node, ast.Constant)
        }
        yield from (
            f"{sql.file.name}: {name} is never used" for name in sql.names if name not in said
        )


def _takes_all(tree: ast.Module, name: str) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in ("values", "items")
        and getattr(node.value, "id", "") == name
        for node in nodes(tree)
    )


def missing_queries(house: Path) -> Iterator[str]:
    for sql in queries(house):
        for module, variable in sql.users:
            for node in nodes(module.tree):
                match node:
                    case ast.Subscript(
                        ast.Name(name) | ast.Attribute(ast.Name("self"), name),
                        ast.Constant(str(wanted)),
                    ) if name == variable and wanted not in sql.names:
                        yield f"{module.path}:{node.lineno} asks {sql.file.name} for {wanted}"


def repeated_queries(house: Path) -> Iterator[str]:
    for sql in queries(house):
        twice = sorted({name for name in sql.names if sql.names.count(name) > 1})
        yield from (f"{sql.file.name} names {name} twice" for name in twice)


@cache
def house() -> list[Module]:
    return read(HOUSE)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_house_keeps_the_rule(rule: Rule):
    assert list(rule(house())) == []


def test_every_exception_is_still_needed(monkeypatch):
    """Else it waits for somebody to break the rule there."""
    here = globals()
    late = {(path, layer) for path, layers in LOADS_LATE.items() for layer in layers}
    monkeypatch.setitem(here, "LOADS_LATE", {})
    said = list(hidden_imports(house()))
    needed = {(each.partition(":")[0], layer_of(each.split()[-4].rstrip(";"))) for each in said}
    assert late - needed == set()
    for name, rule in (
        ("CATCH_ALL", broad_excepts),
        ("READS_ENVIRONMENT", environment_reads),
        ("KNOWS_THE_DATABASE", reaching_faces),
        ("SPEAKS_SQL", loose_sql),
    ):
        paths = tuple(here[name])
        monkeypatch.setitem(here, name, ())
        said = list(rule(house()))
        assert [path for path in paths if not any(each.startswith(path) for each in said)] == []


@pytest.mark.parametrize("rule", [unused_queries, missing_queries, repeated_queries])
def test_the_named_queries_keep_the_rule(rule: Callable[[Path], Iterator[str]]):
    assert list(rule(HOUSE)) == []


def test_the_rules_look_at_the_whole_house():
    names = _names(house())
    assert {"pegboard", "pegboard.app", "pegboard.store.sqlite.items"} <= names
    assert sum(len(list(imports_of(module, names))) for module in house()) > 50
    assert {sql.file.stem for sql in queries(HOUSE)} >= {
        "items",
        "tasks",
        "index",
        "ledger",
        "check",
    }
    assert all(sql.names and sql.users for sql in queries(HOUSE))


# The rules themselves, on small houses that break them.


def build(tmp_path: Path, files: dict[str, str]) -> list[Module]:
    house = tmp_path / PACKAGE
    for path, text in files.items():
        target = house / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    return read(house)


BROKEN: list[tuple[Rule, str, str, str]] = [
    (unknown_layers, "cellar.py", "", "give 'cellar' a layer"),
    (unknown_layers, "cellar/wine.py", "", "give 'cellar' a layer"),
    (wrong_directions, "model.py", "import pegboard.app", "model may not look at app"),
    (wrong_directions, "errors.py", "from pegboard.model import X", "may not look at model"),
    (wrong_directions, "model.py", "from pegboard.text import terms", "may not look at text"),
    (wrong_directions, "gate/a.py", "from pegboard.store import b", "gate may not look at store"),
    (wrong_directions, "gate/a.py", "from ..store import b", "gate may not look at store"),
    (wrong_directions, "gate/__init__.py", "from ..store.b import c", "may not look at store"),
    (wrong_directions, "gate/a.py", "from pegboard import store", "gate may not look at store"),
    (wrong_directions, "gate/a.py", "from .. import store", "gate may not look at store"),
    (wrong_directions, "text.py", "from pegboard import Pegboard", "may not look at __init__"),
    (wrong_directions, "app.py", "import pegboard.cellar", "app may not look at cellar"),
    (wrong_directions, "board/a.py", "def f():\n import pegboard.app", "may not look at app"),
    (
        wrong_directions,
        "board/a.py",
        "if TYPE_CHECKING:\n from pegboard.config import Settings",
        "may not look at config",
    ),
    (
        wrong_directions,
        "board/a.py",
        "import importlib\nimportlib.import_module('pegboard.app')",
        "may not look at app",
    ),
    (wrong_directions, "text.py", "__import__('pegboard.app')", "may not look at app"),
    (wrong_directions, "__init__.py", "from pegboard.cli import main", "may not look at cli"),
    (wrong_directions, "__init__.py", "from pegboard.board import x", "may not look at board"),
    (wrong_directions, "__main__.py", "from pegboard.app import x", "may not look at app"),
    (reaching_faces, "cli/a.py", "board.store.items.get(1)", "cli/a.py:1 reaches into the store"),
    (reaching_faces, "serve/http/a.py", "listed(asked.board.store)", "a.py:1 reaches into"),
    (reaching_faces, "tiers/a.py", "getattr(board.store, 'database')", "reaches into the store"),
    (reaching_faces, "tiers/a.py", "x = getattr(board, 'store', None)", "reaches into the store"),
    (reaching_faces, "serve/a.py", "from pegboard.store.b import x", "imports pegboard.store.b"),
    (reaching_faces, "cli/database.py", "with a as b:\n b.store", "database.py:2 reaches into"),
    (hidden_imports, "app.py", "def f():\n from pegboard.model import x", "app.py:2 hides"),
    (hidden_imports, "app.py", "class A:\n def f(s):\n  import pegboard.model", "app.py:3 hides"),
    (hidden_imports, "app.py", "f = lambda: __import__('pegboard.model')", "app.py:1 hides"),
    (cycles, "text.py", "import pegboard.text", "pegboard.text imports itself"),
    (long_files, "text.py", "x = 1\n" * 601, "text.py has 601 lines"),
    (long_functions, "text.py", "def f():\n" + " x = 1\n" * 60, "f has 61 lines"),
    (long_functions, "text.py", "class A:\n async def g(s):\n" + "  x = 1\n" * 60, "g has 61"),
    (broad_excepts, "text.py", "try: pass\nexcept Exception: pass", "text.py:2 catches"),
    (broad_excepts, "text.py", "try: pass\nexcept: pass", "text.py:2 catches"),
    (broad_excepts, "text.py", "try: pass\nexcept (OSError, Exception): pass", "catches"),
    (
        broad_excepts,
        "board/maintain/worker.py",
        "try: pass\nexcept BaseException: pass",
        "swallows",
    ),
    (bare_type_ignores, "text.py", "x = 1  # type: ignore[assignment]", "without a sentence"),
    (bare_type_ignores, "text.py", "x = 1  # type: ignore  # noqa: E501", "without a sentence"),
    (prints, "text.py", "print(1)", "text.py:1 prints"),
    (environment_reads, "text.py", "import os\nos.environ['A']", "text.py:2 sees"),
    (environment_reads, "text.py", "import os\nos.getenv('A')", "text.py:2 sees"),
    (environment_reads, "text.py", "from os import environ", "text.py:1 sees"),
    (vague_names, "board/utils.py", "", "named after nothing"),
    (vague_names, "common/a.py", "", "named after nothing"),
    (loose_sql, "board/a.py", "x = 'SELECT 1'", "has SQL in it"),
    (loose_sql, "board/a.py", "x = f'  DELETE FROM {t}'", "has SQL in it"),
    (loose_sql, "store/sqlite/items.py", "x = 'UPDATE items'", "has SQL in it"),
]


@pytest.mark.parametrize(("rule", "path", "text", "complaint"), BROKEN)
def test_a_house_that_breaks_a_rule_is_told_so(tmp_path, rule, path, text, complaint):
    house = build(tmp_path, {path: text, "store/__init__.py": "", "store/b.py": ""})
    [said] = rule(house)
    assert complaint in said


def test_a_long_way_round_is_a_cycle_too(tmp_path):
    house = build(
        tmp_path,
        {
            "gate/a.py": "from pegboard.gate import b",
            "gate/b.py": "if TYPE_CHECKING:\n    from pegboard.gate.c import x",
            "gate/c.py": "from . import a",
            "gate/d.py": "from pegboard.gate import a",
        },
    )
    assert [said.split()[0] for said in cycles(house)] == [
        "pegboard.gate.a",
        "pegboard.gate.b",
        "pegboard.gate.c",
    ]


def test_rooms_that_need_one_another_are_told_so_though_no_module_imports_itself(tmp_path):
    house = build(
        tmp_path,
        {
            "board/sync/a.py": "from pegboard.board.trust.c import x",
            "board/sync/b.py": "",
            "board/trust/c.py": "",
            "board/trust/d.py": "from pegboard.board.sync.b import x",
            "board/find/e.py": "from pegboard.board.sync.a import x",
        },
    )
    assert list(cycles(house)) == []
    assert [said.split()[0] for said in circles_of_rooms(house)] == ["board.sync", "board.trust"]


def test_what_the_rules_allow_passes_all_of_them(tmp_path):
    house = build(
        tmp_path,
        {
            "__init__.py": "from pegboard.app.pegboard import Pegboard",
            "__main__.py": "from pegboard.cli.main import main",
            "app/pegboard.py": "import os\nfrom pegboard.store.a import x\nos.environ",
            "cli/database.py": "from pegboard.store.a import x",
            "cli/main.py": "from pegboard import v\ntry: pass\nexcept Exception: pass",
            "store/a.py": "import os.path\nfrom pegboard.store import b\nfrom . import b as c",
            "store/b.py": "def f():\n    import json\n    raise ValueError('Select one')",
            "store/sqlite/opening.py": "x = 'SELECT 1'\n"
            "try: pass\nexcept BaseException:\n    raise",
            "text.py": "x = 1  # type: ignore[x]  # numpy 2 types its arrays wrongly",
            "model/items.py": "x = 1\n" * 400,
            "errors.py": "def f():\n" + "    x = 1\n" * 59,
        },
    )
    assert [said for rule in RULES for said in rule(house)] == []


def test_queries_that_nobody_uses_or_nobody_wrote_are_named(tmp_path):
    build(
        tmp_path,
        {
            "store/sql/sqlite/items.sql": "-- name: get\nSELECT 1;\n-- name: lost\nSELECT 2;\n"
            "-- name: get\nSELECT 3;\n",
            "store/sql/sqlite/check.sql": "-- name: whole\nSELECT 1;\n",
            "store/sqlite/items.py": 'SQL = load("sqlite", "items")\n'
            'CHECKS = load("sqlite", "check")\nSQL["get"]\nSQL["got"]\nCHECKS.values()\n',
            "store/sql/sqlite/runs.sql": "-- name: recent\nSELECT 1;\n",
            "store/reading/runs.py": 'self._sql = reading.sql("runs")\n'
            'self._sql["recent"]\nself._sql["oldest"]\n',
        },
    )
    house = tmp_path / PACKAGE
    assert list(unused_queries(house)) == ["items.sql: lost is never used"]
    assert list(missing_queries(house)) == [
        "store/sqlite/items.py:4 asks items.sql for got",
        "store/reading/runs.py:3 asks runs.sql for oldest",
    ]
    assert list(repeated_queries(house)) == ["items.sql names get twice"]
