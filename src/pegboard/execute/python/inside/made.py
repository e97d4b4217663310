"""Arguments as the function that gets them declares them: models, dataclasses, dates and the like.

JSON has none of these. A declaration that cannot be understood changes nothing.
"""

from .values import names_of

TYPE_CHECKING = False  # that of `typing` would have to be loaded
if TYPE_CHECKING:
    from collections.abc import Callable

_NUMBERS = (int, float, str)


def keywords(function: "Callable[..., object]", arguments: dict[str, object]) -> dict[str, object]:
    """Raises what the classes raise whose values do not fit."""
    hints = _hints(function)
    return {
        name: _made(hints[name], value) if name in hints else value
        for name, value in arguments.items()
    }


def _hints(function: "Callable[..., object]") -> dict[str, object]:
    from typing import get_type_hints

    try:
        return get_type_hints(function)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return {}


def _made(kind: object, value: object) -> object:
    from typing import Union, get_args, get_origin

    origin, inner = get_origin(kind), get_args(kind)
    if origin is Union or f"{getattr(origin, '__name__', '')}" == "UnionType":
        return _one_of(inner, value)
    if isinstance(value, list):
        return _items(origin or kind, inner, value)
    if isinstance(value, dict) and len(inner) == 2:
        return {name: _made(inner[1], each) for name, each in value.items()}
    return _single(kind, value) if isinstance(kind, type) else value


def _single(kind: type, value: object) -> object:
    names = names_of(kind)
    if hasattr(kind, "model_validate"):
        return kind.model_validate(value)
    if hasattr(kind, "__dataclass_fields__") and isinstance(value, dict):
        from typing import get_type_hints

        hints = get_type_hints(kind)
        return kind(**{name: _made(hints.get(name), each) for name, each in value.items()})
    if "enum.Enum" in names:
        return kind(value)
    if "decimal.Decimal" in names and isinstance(value, _NUMBERS):
        return kind(str(value))
    if isinstance(value, str):
        if names & {"datetime.date", "datetime.time"} and hasattr(kind, "fromisoformat"):
            return kind.fromisoformat(value)
        if "uuid.UUID" in names or hasattr(kind, "__fspath__"):
            return kind(value)
    return value


def _items(kind: object, inner: tuple[object, ...], value: list[object]) -> object:
    """A list of them, unless a tuple or a set is declared."""
    if not isinstance(kind, type):
        return value
    fixed = issubclass(kind, tuple) and inner[-1:] != (...,)
    if fixed and len(inner) == len(value):
        made = [_made(each, item) for each, item in zip(inner, value, strict=True)]
    else:
        made = [_made(inner[0], item) for item in value] if inner and not fixed else value
    if kind in (tuple, set, frozenset):
        return kind(made)
    return set(made) if kind.__name__ in ("Set", "MutableSet") else made


def _one_of(kinds: tuple[object, ...], value: object) -> object:
    """As it is if that is allowed, else as the first of them that takes it."""
    if type(value) in kinds:
        return value
    for kind in kinds:
        try:
            made = _made(kind, value)
        except (ValueError, TypeError, ArithmeticError):
            continue
        if made is not value:
            return made
    return value
