"""Small questions to a syntax tree that nobody has checked yet, each with a bounded answer."""

import ast
import json
import threading
import warnings

MAX_ALTERNATIVES = 64
MAX_LITERAL = 4_096

TOO_DEEP = (RecursionError, MemoryError, SystemError)
"""What the parser raises on nesting it cannot follow; which, depends on construct and version."""

_parsing = threading.Lock()


def parse_quietly(source: str) -> ast.Module:
    """`ast.parse` without its warnings about the source.

    Filters are global to the process. The one added here names a file that only this call parses,
    so no other thread's warning is lost; the lock keeps calls from restoring each other's filters.
    """
    filename = "<pegboard source>"
    with _parsing, warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=filename)
        return ast.parse(source, filename=filename)


def json_value(node: ast.expr | None) -> tuple[object, ...]:
    """The literal's value as JSON has it, or nothing if it is no literal, no JSON, or too long."""
    if node is None or any(_has_other_keys(inner) for inner in ast.walk(node)):
        return ()
    try:
        text = json.dumps(ast.literal_eval(node), ensure_ascii=False, allow_nan=False)
        return (json.loads(text),) if len(text.encode()) <= MAX_LITERAL else ()
    except (ValueError, TypeError, SyntaxError, *TOO_DEEP):
        return ()


def alternatives(node: ast.expr) -> list[ast.expr]:
    """The members of `A | B | C`, however long: the tree leans left by one level for each."""
    waiting, found = [node], []
    while waiting:
        member = waiting.pop()
        if isinstance(member, ast.BinOp) and isinstance(member.op, ast.BitOr):
            waiting += [member.right, member.left]
        else:
            found.append(member)
    return found


def expression(text: str) -> ast.expr | None:
    if len(text) > MAX_LITERAL:
        return None
    try:
        statements = parse_quietly(text.strip()).body
    except (SyntaxError, ValueError, *TOO_DEEP):
        return None
    only = statements[0] if len(statements) == 1 else None
    return only.value if isinstance(only, ast.Expr) else None


def last_name(node: ast.expr) -> str:
    """`Optional` of `typing.Optional`, of `t.Optional[X]` and of `Optional(...)`."""
    if isinstance(node, ast.Subscript | ast.Call):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _has_other_keys(node: ast.AST) -> bool:
    """JSON would turn a key that is no text into one that is."""
    return isinstance(node, ast.Dict) and any(
        not isinstance(constant(key), str) for key in node.keys
    )


def option(node: ast.Call, name: str) -> ast.expr | None:
    return next((k.value for k in node.keywords[:MAX_ALTERNATIVES] if k.arg == name), None)


def text(node: ast.expr | None) -> str:
    value = constant(node)
    return " ".join(value[:MAX_LITERAL].split()) if isinstance(value, str) else ""


def constant(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None
