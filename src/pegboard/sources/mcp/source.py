"""The tools of an MCP server, as its `tools/list` tells of them."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from pegboard.formats.shapes import text
from pegboard.model.calls import Listing, ServerConfig
from pegboard.model.content import Json
from pegboard.model.items import Candidate, Finding, Kind, LeftOut, Rejection, ToolType, Unchanged
from pegboard.sources.unfit import Unfit, is_writable

PROTOCOL = "mcp"
MAX_NAME = 200
"""A longer name is no name to list a tool by, and the gate would refuse it."""

MAX_TITLE = 300
"""Characters. The gate would refuse a longer title, but accepts it as an alias."""

_NOT_THE_DEFINITION = ("_meta", "icons")


class McpSource:
    """Asks for the list at each scan; a server that cannot give one raises what `listing` does."""

    def __init__(self, config: ServerConfig, listing: Callable[[], Listing]) -> None:
        self._config = config
        self._listing = listing

    def scan(self, known: Mapping[str, str], under: Sequence[str] = ()) -> Iterator[Finding]:
        tools: tuple[object, ...] = self._listing().tools
        taken = {_name(tool) for tool in tools}
        times: Counter[str] = Counter()
        for number, tool in enumerate(tools, 1):
            name = _name(tool)
            if name and (reason := self._why_left_out(name)):
                yield LeftOut(name, reason)
                continue
            times[name] += 1
            origin = name
            if not name:
                origin = _free(f"tool {number}", taken)
            elif times[name] > 1:
                origin = _free(f"{name} ({times[name]})", taken)
            finding = self._finding(tool, origin, repeated=bool(name) and times[name] > 1)
            unchanged = finding.origin_hash and known.get(origin) == finding.origin_hash
            yield Unchanged(origin) if unchanged else finding

    def _why_left_out(self, name: str) -> str:
        if any(fnmatchcase(name, pattern) for pattern in self._config.exclude_tools):
            return "named by excludeTools"
        included = self._config.include_tools
        if included and not any(fnmatchcase(name, pattern) for pattern in included):
            return "not named by includeTools"
        return ""

    def _finding(self, tool: object, origin: str, *, repeated: bool) -> Candidate | Rejection:
        digest = ""
        try:
            digest = self._hash(tool)
            if repeated:
                reason = "the server lists a tool of this name before it; it has to rename one"
                raise Unfit("duplicate_id", reason)
            return Candidate(self._config.name, origin, digest, self._fields(_checked(tool)))
        except Unfit as unfit:
            return Rejection(self._config.name, origin, digest, unfit.code, unfit.reason)

    def _hash(self, tool: object) -> str:
        """Of the definition and of what else an item is made from, whatever the order of keys."""
        if isinstance(tool, Mapping):
            tool = {key: tool[key] for key in tool if key not in _NOT_THE_DEFINITION}
        made_from = [self._config.name, self._config.namespace, tool]
        try:
            text = json.dumps(made_from, sort_keys=True, default=_as_dict)
        except (TypeError, ValueError, RecursionError) as error:
            reason = "the tool is no JSON or nested too deeply; its server has to mend it"
            raise Unfit("not_json", reason) from error
        return hashlib.sha256(text.encode()).hexdigest()

    def _fields(self, tool: Json) -> dict[str, object]:
        server, name = self._config.name, tool["name"]
        annotations = tool.get("annotations")
        annotations = annotations if isinstance(annotations, Mapping) else {}
        titles = [text(tool.get("title")), text(annotations.get("title"))]
        aliases = [title for title in dict.fromkeys(titles) if title and title != name]
        description = tool.get("description")
        if not description or (isinstance(description, str) and not description.strip()):
            description = next(iter(aliases), "")
        title = aliases.pop(0) if aliases and len(aliases[0]) <= MAX_TITLE else ""
        return {
            "id": f"{PROTOCOL}:{server}:{name}",
            "kind": Kind.TOOL.value,
            "namespace": self._config.namespace,
            "name": name,
            "title": title,
            "category": server,
            "description": description,
            "aliases": aliases,
            "tool_type": ToolType.MCP.value,
            "source_protocol": PROTOCOL,
            "input_schema": tool.get("inputSchema"),
            "output_schema": tool.get("outputSchema"),
            # Hints such as `readOnlyHint` are no tags: tags are indexed and embedded, and a word
            # that half of all tools share would pull them together.
            "executor": {"server": server, "tool": name, "annotations": annotations},
        }


def _checked(tool: object) -> Json:
    if not isinstance(tool, Mapping):
        raise Unfit("bad_tool", "the entry is no object; its server has to mend it")
    if not _name(tool):
        raise Unfit(
            "bad_name",
            f"the tool's name is missing, no text, or longer than {MAX_NAME} characters;"
            " its server has to give it one",
        )
    schema = tool.get("inputSchema")
    if schema is not None and not isinstance(schema, Mapping):
        raise Unfit("bad_schema", "inputSchema is no object; its server has to mend it")
    return tool


def _name(tool: object) -> str:
    """The name, or nothing if it has none that it could be listed by."""
    name = text(tool.get("name")) if isinstance(tool, Mapping) else ""
    usable = name.strip() and len(name) <= MAX_NAME and is_writable(name)
    return name if usable else ""


def _free(origin: str, taken: set[str]) -> str:
    """The origin, marked if a tool is really called so."""
    while origin in taken:
        origin += "'"
    return origin


def _as_dict(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
