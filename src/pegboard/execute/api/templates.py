"""Texts with places in them for arguments and secrets, filled in one pass.

A value that was put in is never looked into again: an argument cannot name a secret, and a secret
cannot name an argument.
"""

import re
from collections.abc import Callable, Mapping

from pegboard.execute.api.styles import scalar
from pegboard.execute.secrets import REFERENCE, Secrets
from pegboard.model.content import Json

LEFT_OUT = object()
"""What names an argument that was not given is not sent."""

PLACE = re.compile(r"(?<!\$)\{([^{}]+)\}")

Encode = Callable[[str], str]


def as_it_is(value: str) -> str:
    return value


def with_secrets(text: str, secrets: Secrets, encode: Encode = as_it_is) -> str:
    """Raises `SecretMissing`."""
    return REFERENCE.sub(lambda found: encode(secrets.line(found[1] or found[2])), text)


class Filling:
    """The arguments and secrets of one call, and which arguments have found a place."""

    def __init__(self, arguments: Json, declared: Json, secrets: Secrets) -> None:
        """`declared` are the arguments that the tool knows: others in braces stand as they are."""
        self._arguments = arguments
        self._known = {*arguments, *declared}
        self._secrets = secrets
        self.placed: set[str] = set()

    @property
    def unplaced(self) -> dict[str, object]:
        return {
            name: value
            for name, value in self._arguments.items()
            if name not in self.placed and value is not None
        }

    def value(self, template: object) -> object:
        """JSON with every text in it filled; one that is only a place becomes what is put there."""
        if isinstance(template, str):
            whole = PLACE.fullmatch(template)
            if whole is None or whole[1] not in self._known:
                return self.text(template)
            self.placed.add(whole[1])
            return self._arguments.get(whole[1], LEFT_OUT)
        if isinstance(template, Mapping):
            pairs = ((name, self.value(each)) for name, each in template.items())
            return {name: each for name, each in pairs if each is not LEFT_OUT}
        if isinstance(template, list | tuple):
            return [each for each in map(self.value, template) if each is not LEFT_OUT]
        return template

    def text(
        self, template: str, encode: Encode = as_it_is, *, every: bool = False
    ) -> str | object:
        """With `every`, whatever is in braces is a place. `LEFT_OUT` if an argument is missing."""
        written, end = [], 0
        for place in PLACE.finditer(template):
            if place[1] not in self._known and not every:
                continue
            self.placed.add(place[1])
            if self._arguments.get(place[1]) is None:
                return LEFT_OUT
            written.append(with_secrets(template[end : place.start()], self._secrets, encode))
            written.append(encode(scalar(self._arguments[place[1]])))
            end = place.end()
        written.append(with_secrets(template[end:], self._secrets, encode))
        return "".join(written)

    def missing(self, template: str) -> str:
        """The first place for which there is no argument."""
        names = (place[1] for place in PLACE.finditer(template))
        return next((name for name in names if self._arguments.get(name) is None), "")
