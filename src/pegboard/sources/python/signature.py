"""JSON Schema (draft 2020-12) of a function's parameters and result, read from its syntax tree.

Nothing is imported or run. What cannot be understood becomes `{}`, the schema that accepts
anything. Depth and size are bounded, because the tree comes from a file nobody has checked yet.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pegboard.sources.python import docstring
from pegboard.sources.python.docstring import Docstring
from pegboard.sources.python.syntax import (
    MAX_ALTERNATIVES,
    alternatives,
    constant,
    expression,
    json_value,
    last_name,
    option,
    text,
)

Schema = dict[str, object]
Function = ast.FunctionDef | ast.AsyncFunctionDef
Names = Mapping[str, ast.ClassDef | ast.expr]

MAX_DEPTH = 12
MAX_NODES = 4_000
MAX_ANCESTORS = 16

_PLAIN: Mapping[str, Mapping[str, object]] = {
    "str": {"type": "string"},
    "bytes": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "datetime": {"type": "string", "format": "date-time"},
    "date": {"type": "string", "format": "date"},
    "time": {"type": "string", "format": "time"},
    "timedelta": {"type": "string", "format": "duration"},
    "UUID": {"type": "string", "format": "uuid"},
    "Path": {"type": "string"},
}
_LISTS = {"list", "List", "Sequence", "MutableSequence", "Iterable", "Iterator", "Collection"}
_TUPLES = {"tuple", "Tuple"}
_SETS = {"set", "Set", "frozenset", "FrozenSet", "AbstractSet", "MutableSet"}
_DICTS = {"dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict"}
_WRAPPERS = {"Final", "Required", "NotRequired", "ReadOnly", "InitVar"}
_ENUMS = {"Enum", "StrEnum", "IntEnum"}
_MODELS = {"BaseModel", "TypedDict", "dataclass"}
_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def input_schema(function: Function, described: Docstring, names: Names) -> Schema:
    schemas = _Schemas(names)
    fields = [
        (argument.arg, argument.annotation, _Field.read(default))
        for argument, default in _parameters(function.args)
    ]
    schema = schemas.record(fields, described.parameters)
    schema["additionalProperties"] = function.args.kwarg is not None
    return schemas.rooted(schema)


def output_schema(function: Function, described: Docstring, names: Names) -> Schema:
    """`{}` if the annotation says nothing."""
    schemas = _Schemas(names)
    schema = schemas.of(function.returns)
    if schema and described.returns:
        schema.setdefault("description", described.returns)
    return schemas.rooted(schema)


def top_level_names(module: ast.Module) -> Names:
    """The classes and aliases that an annotation in this module may mean."""
    found: dict[str, ast.ClassDef | ast.expr] = {}
    for node in module.body:
        match node:
            case ast.ClassDef(name=name):
                found[name] = node
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found[name] = value
    return found


class _Field(NamedTuple):
    """What stands right of the `=`: a plain default, or `Field(...)` and `field(...)`."""

    required: bool = True
    included: bool = True
    default: tuple[object, ...] = ()
    description: str = ""

    @classmethod
    def read(cls, node: ast.expr | None) -> "_Field":
        if node is None:
            return cls()
        if not isinstance(node, ast.Call) or last_name(node) not in ("Field", "field"):
            return cls(required=False, default=json_value(node))
        default = node.args[0] if node.args else option(node, "default")
        default = None if constant(default) is Ellipsis else default
        return cls(
            required=default is None and option(node, "default_factory") is None,
            included=json_value(option(node, "init")) != (False,),
            default=json_value(default),
            description=text(option(node, "description")),
        )


class _Schemas:
    """Schemas of annotations that share one budget of nodes and one set of definitions."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._left = MAX_NODES
        self._open: set[str] = set()
        self._wanted: list[ast.ClassDef] = []

    def record(
        self, fields: Iterable[tuple[str, ast.expr | None, _Field]], described: Mapping[str, str]
    ) -> Schema:
        properties: Schema = {}
        required: dict[str, bool] = {}
        for name, annotation, field in fields:
            text = field.description or described.get(name, "")
            properties[name] = self._property(annotation, field, text)
            required[name] = field.required
        needed = [name for name in properties if required[name]]
        return {"type": "object", "properties": properties, "required": needed}

    def _property(self, annotation: ast.expr | None, field: _Field, description: str) -> Schema:
        schema = self.of(annotation)
        text = schema.pop("description", description)
        if field.default == (None,):
            schema = _any_of([schema, {"type": "null"}])
        if text:
            schema["description"] = text
        if field.default:
            schema["default"] = field.default[0]
        return schema

    def rooted(self, schema: Schema) -> Schema:
        """The schema with a definition for every class that it, or one of them, refers to."""
        definitions: Schema = {}
        for node in self._wanted:
            definitions[node.name] = self._class(node) if self._left > 0 else {}
        return {**schema, "$defs": definitions} if definitions else schema

    def of(self, node: ast.expr | None, depth: int = 0) -> Schema:
        self._left -= 1
        if node is None or depth > MAX_DEPTH or self._left < 0:
            return {}
        match node:
            case ast.Constant(value=None):
                return {"type": "null"}
            case ast.Constant(value=str(text)):
                return self.of(expression(text), depth + 1)
            case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)) if name in self._names:
                return self._local(name, depth)
            case ast.Name() | ast.Attribute():
                return self._generic(last_name(node), [], depth)
            case ast.BinOp(op=ast.BitOr()):
                return self._union(alternatives(node), depth)
            case ast.Subscript(value=base, slice=inner):
                arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                return self._generic(last_name(base), arguments, depth)
        return {}

    def _local(self, name: str, depth: int) -> Schema:
        found = self._names[name]
        if not isinstance(found, ast.ClassDef):
            return self._alias(name, found, depth)
        if not _marks(self._lineage(found)) & (_ENUMS | _MODELS):
            return {}
        if found not in self._wanted:
            self._wanted.append(found)
        return {"$ref": f"#/$defs/{name}"}

    def _alias(self, name: str, node: ast.expr, depth: int) -> Schema:
        """Inlined, and cut where it means itself: a `$ref` could lead a validator in circles."""
        if name in self._open:
            return {}
        self._open.add(name)
        schema = self.of(node, depth + 1)
        self._open.discard(name)
        return schema

    def _generic(self, name: str, arguments: Sequence[ast.expr], depth: int) -> Schema:
        self._left -= len(arguments)
        if name in _TUPLES:
            return self._tuple(arguments, depth)
        if name in _LISTS | _SETS:
            unique: Schema = {"uniqueItems": True} if name in _SETS else {}
            return {**self._array(arguments, depth), **unique}
        if name in _DICTS:
            values = self.of(arguments[1], depth + 1) if len(arguments) == 2 else {}
            return {"type": "object", **({"additionalProperties": values} if values else {})}
        if name == "Literal":
            plain = all(isinstance(node, ast.Constant | ast.UnaryOp) for node in arguments)
            return _enumeration([json_value(node) for node in arguments]) if plain else {}
        if name in ("Union", "Optional"):
            none = [ast.Constant(value=None)] if name == "Optional" else []
            return self._union([*arguments, *none], depth)
        if name == "Annotated" and arguments:
            return self._annotated(arguments, depth)
        if name in _WRAPPERS and arguments:
            return self.of(arguments[0], depth + 1)
        return dict(_PLAIN.get(name, {}))

    def _array(self, arguments: Sequence[ast.expr], depth: int) -> Schema:
        items = self.of(arguments[0], depth + 1) if arguments else {}
        return {"type": "array", "items": items} if items else {"type": "array"}

    def _tuple(self, arguments: Sequence[ast.expr], depth: int) -> Schema:
        size = len(arguments)
        if not 0 < size <= MAX_ALTERNATIVES:
            return {"type": "array"}
        if constant(arguments[-1]) is Ellipsis:
            return self._array(arguments, depth)
        places = [self.of(argument, depth + 1) for argument in arguments]
        return {"type": "array", "prefixItems": places, "minItems": size, "maxItems": size}

    def _union(self, members: Sequence[ast.expr], depth: int) -> Schema:
        self._left -= len(members)
        if len(members) > MAX_ALTERNATIVES:
            return {}
        return _any_of([self.of(member, depth + 1) for member in members])

    def _annotated(self, arguments: Sequence[ast.expr], depth: int) -> Schema:
        schema = self.of(arguments[0], depth + 1)
        for extra in arguments[1:]:
            said = option(extra, "description") if isinstance(extra, ast.Call) else extra
            if description := text(said):
                return {**schema, "description": description}
        return schema

    def _class(self, node: ast.ClassDef) -> Schema:
        lineage = self._lineage(node)
        if marks := _marks(lineage) & _ENUMS:
            schema = _enumeration([*_members(lineage, "StrEnum" in marks)])
        else:
            fields = (field for owner in reversed(lineage) for field in _fields(owner))
            schema = self.record(fields, {})
        description = docstring.clean(ast.get_docstring(node, clean=False) or "")
        return {**schema, "description": description} if description else schema

    def _lineage(self, node: ast.ClassDef) -> list[ast.ClassDef]:
        """The class and its ancestors in this file, nearest first."""
        found = [node]
        for known in found:
            for base in known.bases[:MAX_ANCESTORS]:
                parent = self._names.get(last_name(base))
                if isinstance(parent, ast.ClassDef) and parent not in found:
                    found.append(parent)
            if len(found) > MAX_ANCESTORS:
                break
        return found


def _parameters(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    missing = len(positional) - len(arguments.defaults)
    pairs = zip(positional, [*[None] * missing, *arguments.defaults], strict=True)
    yield from (pair for at, pair in enumerate(pairs) if at or pair[0].arg != "self")
    yield from zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)


def _fields(owner: ast.ClassDef) -> Iterator[tuple[str, ast.expr | None, _Field]]:
    """The fields of a model, dataclass or TypedDict, without those it inherits."""
    total = not any(k.arg == "total" and json_value(k.value) == (False,) for k in owner.keywords)
    for statement in owner.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                field, wrapper = _Field.read(value), last_name(annotation)
                if wrapper == "NotRequired" or not (total or wrapper == "Required"):
                    field = field._replace(required=False)
                if field.included and wrapper != "ClassVar" and not name.startswith("_"):
                    yield name, annotation, field


def _members(lineage: Sequence[ast.ClassDef], lowered: bool) -> Iterator[tuple[object, ...]]:
    """The values of an enumeration; `auto()` is known where it means the name in lower case."""
    for owner in lineage:
        for statement in owner.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    if isinstance(value, ast.Call) and last_name(value) == "auto" and lowered:
                        yield (name.lower(),)
                    elif not name.startswith("_"):
                        yield json_value(value)


def _enumeration(values: Sequence[tuple[object, ...]]) -> Schema:
    plain = [value[0] for value in values if value and type(value[0]) in _JSON_TYPES]
    if not plain or len(plain) < len(values):
        return {}
    types = {_JSON_TYPES[type(value)] for value in plain}
    unique = list({(type(value), value): value for value in plain}.values())
    return {**({"type": types.pop()} if len(types) == 1 else {}), "enum": unique}


def _any_of(schemas: Sequence[Schema]) -> Schema:
    """Flat, each alternative once, and `{}` as soon as one of them accepts anything."""
    found: list[object] = []
    for schema in schemas:
        inner = schema.get("anyOf") if len(schema) == 1 else None
        for alternative in inner if isinstance(inner, list) else [schema]:
            if alternative not in found:
                found.append(alternative)
    if {} in found or not found:
        return {}
    return schemas[0] if len(found) == 1 else {"anyOf": found}


def _marks(lineage: Sequence[ast.ClassDef]) -> set[str]:
    """What the classes are derived from or decorated with."""
    most = MAX_ANCESTORS
    nodes = [node for c in lineage for node in (*c.bases[:most], *c.decorator_list[:most])]
    return {last_name(node) for node in nodes}
