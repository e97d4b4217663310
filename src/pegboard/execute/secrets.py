"""Secrets by reference: `secret://NAME`, or `${NAME}`, looked up when a tool is run.

A value is found in the environment, or else in the system's keyring. It is handed to the tool and
to nobody else: `hide` takes every value that was looked up out of what the tool brings back.
"""

import re
from collections.abc import Callable, Mapping

from pegboard.errors import SecretMissing
from pegboard.execute.redaction import redacted
from pegboard.model.content import Json

REFERENCE = re.compile(r"secret://([A-Za-z0-9_][A-Za-z0-9_./-]*)|\$\{([A-Za-z_][A-Za-z0-9_]*)\}")

LookUp = Callable[[str], str | None]


def names_in(value: object) -> list[str]:
    """The secrets that a text, or any text inside a list or mapping, refers to; each once."""
    if isinstance(value, str):
        found = [first or second for first, second in REFERENCE.findall(value)]
    elif isinstance(value, Mapping):
        found = [name for each in value.values() for name in names_in(each)]
    elif isinstance(value, list | tuple):
        found = [name for each in value for name in names_in(each)]
    else:
        found = []
    return list(dict.fromkeys(found))


def secret_name(source: str, name: str, ending: str = "") -> str:
    """What a secret of a source is called: in upper case, with `_` for whatever is no letter or
    digit, as in `PETSTORE_API_KEY`. No shell sets a variable that begins with a digit.
    """
    found = re.sub(r"[^A-Z0-9]", "_", f"{source}_{name}{ending}".upper())
    return f"_{found}" if found[0].isdigit() else found


class Secrets:
    """Those that one run may use."""

    def __init__(self, look_up: LookUp = lambda name: None) -> None:
        self._look_up = look_up
        self._values: set[str] = set()

    def find(self, name: str) -> str | None:
        """None if there is no such secret."""
        value = self._look_up(name)
        if value:
            self._values.add(value)
        return value or None

    def value(self, name: str) -> str:
        """Raises `SecretMissing`."""
        if (value := self.find(name)) is None:
            raise SecretMissing(
                f"there is no secret {name}",
                f"set the variable {name}, or put it into the keyring: pegboard secret set {name}",
            )
        return value

    def line(self, name: str) -> str:
        """Without the line end that many a key file has. Raises `SecretMissing`."""
        value = self.value(name).strip()
        self.learn(value)
        return value

    def filled(self, text: str) -> str:
        """The text with each reference replaced by its value. Raises `SecretMissing`."""
        return REFERENCE.sub(lambda found: self.value(found[1] or found[2]), text)

    def learn(self, *values: str) -> None:
        """What was made from secrets, such as a token, must not be seen either."""
        self._values.update(values)

    def hide(self, text: str) -> str:
        return redacted(text, self._values)

    def hidden_in(self, value: object) -> object:
        """The same value with every text in it, keys included, without secrets."""
        if not self._values:
            return value
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, Mapping):
            return {self.hide(str(name)): self.hidden_in(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.hidden_in(each) for each in value]
        if isinstance(value, int | float) and str(value) in self._values:
            return self.hide(str(value))  # digits that somebody read as JSON
        return value


def environment_of(config: Json, secrets: Secrets) -> dict[str, str]:
    """What a manifest gives its process as `env`, with references looked up."""
    said = config.get("env")
    pairs = said.items() if isinstance(said, Mapping) else ()
    return {str(name): secrets.filled(str(value)) for name, value in pairs}
