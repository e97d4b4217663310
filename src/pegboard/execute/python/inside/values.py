"""The result of a tool as JSON."""

try:
    from _json import encode_basestring_ascii  # all of `json` takes long to load
except ImportError:
    from json.encoder import encode_basestring_ascii

MOST_DEPTH = 100
MOST_TEXT = 8 << 20

_AS_TEXT = {"uuid.UUID", "decimal.Decimal"}
_ISO = {"datetime.date", "datetime.time"}


class Unfit(Exception):
    """The result cannot be handed on, for the reason that the message gives."""


def as_json(value: object) -> str:
    """Raises `Unfit`. What is no number, such as NaN, is null."""
    text = _Text()
    text.add(value, 0)
    return "".join(text.parts)


def quoted(text: str) -> str:
    return encode_basestring_ascii(text)


def names_of(kind: type) -> set[str]:
    """The class and its ancestors by name: nothing has to be loaded to be compared with."""
    return {f"{each.__module__}.{each.__qualname__}" for each in kind.__mro__}


class _Text:
    def __init__(self) -> None:
        self.parts: list[str] = []
        self._size = 0

    def add(self, value: object, depth: int) -> None:
        if depth > MOST_DEPTH:
            raise Unfit(f"the result is nested more than {MOST_DEPTH} levels deep; make it flatter")
        if isinstance(value, list) and type(value) is list:
            self._list(value, depth)
        elif isinstance(value, dict) and type(value) is dict:
            self._object(value, depth)
        elif (simple := _simple(value)) is not None:
            self._write(simple)
        else:
            self.add(_plain(value), depth + 1)

    def _write(self, part: str) -> None:
        self.parts.append(part)
        self._size += len(part)
        if self._size > MOST_TEXT:
            raise Unfit(
                f"the result has more than {MOST_TEXT >> 20} MB of JSON; return less, or leave a"
                " file in the folder that the variable PEGBOARD_OUTPUT names"
            )

    def _list(self, values: list[object], depth: int) -> None:
        self._write("[")
        for at, value in enumerate(values):
            if at:
                self._write(",")
            self.add(value, depth + 1)
        self._write("]")

    def _object(self, pairs: dict[object, object], depth: int) -> None:
        self._write("{")
        for at, (name, value) in enumerate(pairs.items()):
            if at:
                self._write(",")
            self._write(_key(name) + ":")
            self.add(value, depth + 1)
        self._write("}")


def _simple(value: object) -> str | None:
    """None if it is no text, number, truth value or nothing."""
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, str) and type(value) is str:
        return encode_basestring_ascii(value)
    if isinstance(value, int) and type(value) is int:
        return _whole(value)
    if isinstance(value, float) and type(value) is float:
        return repr(value) if value - value == 0 else "null"
    return None


def _whole(value: int) -> str:
    try:
        return repr(value)
    except ValueError as error:
        raise Unfit("the result has a number of thousands of digits; return it as text") from error


def _key(name: object) -> str:
    simple = _simple(name)
    for _ in range(3):
        if simple is not None:
            break
        name = _plain(name)
        simple = _simple(name)
    if simple is None:
        raise Unfit(f"the result has a key of type {_called(name)}; use texts as keys")
    return simple if isinstance(name, str) else encode_basestring_ascii(simple)


def _plain(value: object) -> object:
    """Something nearer to JSON."""
    kind = type(value)
    names = names_of(kind)
    if "enum.Enum" in names:
        return getattr(value, "value", None)
    if hasattr(kind, "model_dump"):
        return kind.model_dump(value, mode="json")
    if hasattr(kind, "__dataclass_fields__"):
        from dataclasses import fields, is_dataclass

        if is_dataclass(kind):
            return {each.name: getattr(value, each.name) for each in fields(kind)}
    if hasattr(kind, "__attrs_attrs__"):
        return {each.name: getattr(value, each.name) for each in kind.__attrs_attrs__}
    if hasattr(kind, "_asdict"):
        return dict(kind._asdict(value))
    if names & _AS_TEXT:
        return str(value)
    if names & _ISO and hasattr(kind, "isoformat"):
        return kind.isoformat(value)
    if "datetime.timedelta" in names and hasattr(kind, "total_seconds"):
        return _duration(kind.total_seconds(value))
    return _plain_builtin(value)


def _plain_builtin(value: object) -> object:
    """Of what derives from Python's own types, or behaves like one of them."""
    from collections.abc import Mapping, Sequence, Set

    kind = type(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__index__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, bytes | bytearray | memoryview):
        from binascii import b2a_base64

        return b2a_base64(value, newline=False).decode()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Set):
        return sorted(value, key=lambda each: as_json(each))
    if isinstance(value, Sequence):
        return list(value)
    if hasattr(kind, "__fspath__"):
        return kind.__fspath__(value)
    if hasattr(kind, "tolist"):
        return kind.tolist(value)
    raise Unfit(
        f"a result of type {_called(value)} cannot be written as JSON;"
        " return objects, lists, texts and numbers"
    )


def _duration(seconds: float) -> str:
    sign = "-" if seconds < 0 else ""
    return f"{sign}PT{abs(seconds):f}".rstrip("0").rstrip(".") + "S"


def _called(value: object) -> str:
    kind = type(value)
    inside = kind.__module__ in ("builtins", "__main__", "__mp_main__")
    return kind.__qualname__ if inside else f"{kind.__module__}.{kind.__qualname__}"
