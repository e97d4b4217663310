"""The table of codes says what the source says."""

import ast
import re
from pathlib import Path

from gate_parts import DOCS

from pegboard import gate
from pegboard.gate.limits import Limits

HOUSE = Path(gate.__file__).parent


def codes_in(tree):
    """Of `Refused(code, ...)`: the code itself, or what the name or table there holds."""
    named = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Refused":
            yield from _constants(node.args[0], named)


def _constants(said, named):
    match said:
        case ast.Constant(value):
            yield value
        case ast.Name(name) | ast.Subscript(ast.Name(name)):
            yield from _constants(named[name], named) if name in named else ()
        case ast.Dict(_, values):
            for value in values:
                yield from _constants(value, named)


def test_every_code_of_a_rejection_is_in_the_table_and_no_other():
    trees = [ast.parse(path.read_text("utf-8")) for path in HOUSE.glob("*.py")]
    codes = {code for tree in trees for code in codes_in(tree)}
    page = (DOCS / "explanation" / "gate.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.+) \| (.+) \|$", page, re.MULTILINE)
    documented = [code for code, *_ in rows]
    assert sorted(codes) == documented
    assert all(meaning.strip() and step.strip() for _, meaning, step in rows)


def test_the_limits_in_the_documentation_are_those_of_the_gate():
    page = (DOCS / "explanation" / "gate.md").read_text("utf-8")
    limits = Limits()
    assert f"more than {limits.object_depth} levels" in page
    assert f"{limits.files} files, {limits.list_items} entries" in page
    assert f"more than {limits.document_bytes // 1_000_000} MB" in page
    assert f"more than {limits.files_bytes // 1_000_000} MB" in page
