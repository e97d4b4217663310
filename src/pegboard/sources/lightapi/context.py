"""What operations refer to by name: sources, authentications and environments of a document."""

import json
import re
from collections.abc import Callable, Mapping

from pegboard.model.content import Json
from pegboard.sources.lightapi.document import Document
from pegboard.sources.lightapi.parts import Part, Refused, shown_key
from pegboard.sources.secret_looks import is_secret

SOURCE_TYPES = ("openapi", "openrpc", "protobuf", "grpc-reflection", "mcp", "http", "lightapi")
TRANSPORTS = ("http", "https", "grpc", "websocket", "stdio", "sse", "streamable-http")
CLIENT_PROOFS = (
    *("client_secret_basic", "client_secret_post", "client_secret_jwt"),
    *("private_key_jwt", "none"),
)
AUTHENTICATIONS = ("none", "basic", "bearer", "apiKey", "oauth2", "mtls", "custom")
MAX_SHARED = 16_000
"""Characters, as JSON, of what is copied into every operation that refers to it."""

_VARIABLE = re.compile(r"\$\{\s*env\.([^}\s]+)\s*\}")
_PROOFS = (
    *("type", "authority", "grant", "client", "username", "password", "token", "name", "in"),
    *("value", "scopes", "certificate", "privateKey", "headers"),
)


class Context:
    """Each part is read once, however many operations refer to it."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._read: dict[tuple[str, str], dict[str, object] | Refused] = {}

    def source(self, name: str) -> dict[str, object]:
        return self._once("sources", name, _source)

    def authentication(self, operation: Part) -> dict[str, object]:
        """How a caller proves who it is, with references for what is secret."""
        said = operation.value.get("authentication")
        if said is None:
            return {}
        if isinstance(said, str):
            return self._once("authentications", said, _authentication)
        return _bounded(operation.part("authentication"), _authentication)

    def environments(self, used_in: object) -> dict[str, dict[str, object]]:
        """By environment, the variables that an object has expressions for."""
        text = json.dumps(used_in)
        found: dict[str, dict[str, object]] = {}
        section = self.document.root.part("environments")
        for name in section.value if _VARIABLE.search(text) else ():
            variables = self._once("environments", name, self._variables)
            if wanted := _wanted(text, variables):
                found[name] = {key: variables[key] for key in variables if key in wanted}
                refuse_secrets(Part(found[name], (*section.path, name, "variables")))
        return found

    def _variables(self, environment: Part) -> dict[str, object]:
        """Those of an environment over those of the ones that it extends."""
        chain = [environment]
        while name := chain[-1].text("extends"):
            if name in (each.path[-1] for each in chain):
                reason = f"{environment.place()} extends itself"
                raise Refused("bad_environment", reason, environment.path)
            following = self._named("environments", name)
            if following is None:
                break
            chain.append(following)
        merged: dict[str, object] = {}
        for each in reversed(chain):
            variables = each.part("variables")
            for key, value in variables.value.items():
                if isinstance(value, Mapping | list):
                    raise variables.misfit(key, "text, a number, true, false or null")
            merged |= variables.value
        return merged

    def _once(
        self, section: str, name: str, make: Callable[[Part], dict[str, object]]
    ) -> dict[str, object]:
        key = (section, name)
        if key not in self._read:
            try:
                part = self._named(section, name)
                self._read[key] = (
                    _bounded(part, make)
                    if part is not None
                    else {"name": name, "catalog": self.document.catalog}
                )
            except Refused as refused:
                self._read[key] = refused
        found = self._read[key]
        if isinstance(found, Refused):
            raise found.with_traceback(None)
        return found

    def _named(self, section: str, name: str) -> Part | None:
        """None if it is left to the catalog, from which the document takes the section."""
        found = self.document.root.part(section)
        if name in found.value:
            return found.part(name)
        if section in self.document.inherits:
            return None
        reason = f"{shown_key(name)} is not among the {section} of the document"
        raise Refused(f"unknown_{section.removesuffix('s')}", reason, found.path)


def _bounded(part: Part, make: Callable[[Part], dict[str, object]]) -> dict[str, object]:
    made = make(part)
    if len(json.dumps(made)) > MAX_SHARED:
        reason = f"{part.place()} has more than {MAX_SHARED:,} characters as JSON"
        raise Refused("too_long", reason, part.path)
    return made


def _source(part: Part) -> dict[str, object]:
    """What is needed to reach it; a document that is embedded in it is not."""
    transport = part.text("transport", TRANSPORTS)
    if part.required("type", SOURCE_TYPES) == "mcp" and not transport:
        raise part.lacks("transport")
    servers = {key: server(each) for key, each in part.part("servers").parts()}
    embedded = isinstance(part.value.get("document"), Mapping)
    return {
        "name": part.path[-1],
        "type": part.required("type"),
        "version": part.required("version"),
        **({"transport": transport} if transport else {}),
        **({"document": part.text("document")} if not embedded and part.has("document") else {}),
        **({"servers": servers} if servers else {}),
    }


def server(part: Part) -> dict[str, object]:
    refuse_secrets(part)
    refuse_secrets(part.part("variables"))
    return {"endpoint": part.required("endpoint"), **part.kept("variables")}


def _authentication(part: Part) -> dict[str, object]:
    part.required("type", AUTHENTICATIONS)
    part.part("client").text("authentication", CLIENT_PROOFS)
    for key in ("client", "headers"):
        refuse_secrets(part.part(key))
    for name, value in part.value.items():
        # What an apiKey has for a value is the key itself, whatever it looks like.
        _refuse_secret(value, "key" if name == "value" else name, (*part.path, name))
    return part.kept(*_PROOFS)


def refuse_secret(part: Part, name: str) -> None:
    _refuse_secret(part.value.get(name), name, (*part.path, name))


def refuse_secrets(part: Part) -> None:
    for name in part.value:
        refuse_secret(part, name)


def refuse_secrets_within(part: Part) -> None:
    """Also in what it holds; a plain `key` is there more often a word than a secret."""
    ahead: list[tuple[object, tuple[str, ...]]] = [(part.value, part.path)]
    while ahead:
        value, path = ahead.pop()
        if isinstance(value, Mapping):
            ahead += [(each, (*path, key)) for key, each in value.items()]
        elif isinstance(value, list):
            ahead += [(each, path) for each in value]
        else:
            _refuse_secret(value, "" if path[-1] == "key" else path[-1], path)


def _refuse_secret(value: object, name: str, path: tuple[str, ...]) -> None:
    if isinstance(value, str) and value not in CLIENT_PROOFS and is_secret(value, name):
        place = ".".join(map(shown_key, path))
        reason = f"{place} looks like a secret; write ${{secrets.NAME}} there, and set that instead"
        raise Refused("inline_secret", reason, path)


def _wanted(text: str, variables: Json) -> set[str]:
    """Variables that the text names, and those that their own values name."""
    wanted: set[str] = set()
    new = set(_VARIABLE.findall(text)) & variables.keys()
    while new:
        wanted |= new
        named = " ".join(str(variables[key]) for key in new)
        new = (set(_VARIABLE.findall(named)) & variables.keys()) - wanted
    return wanted
