"""Who may run what: by where the board is, who vouches for the tool, what it wants, who asks.

Pure: nothing is looked up here, and nobody is asked. `docs/how-to/running.md` has the rules in a
table.
"""

import json
import re
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import NamedTuple

from pegboard.errors import NotExecutable
from pegboard.execute.job import Sandboxing
from pegboard.execute.python.needs import entry_path, needs_of
from pegboard.execute.secrets import names_in
from pegboard.model.content import Access, Permission, Resource
from pegboard.model.items import CREATED, Item, ToolType

PROCESSES = (ToolType.PYTHON, ToolType.BASH, ToolType.DOCKER)
"""Types whose code comes with the tool."""

_PLAIN = re.compile(r"[\w./*?~:-]+")


class Decision(IntEnum):
    """The strictest first, so that the least of several holds."""

    DENY = 0
    ASK = 1
    ALLOW = 2

    @classmethod
    def of(cls, word: str) -> "Decision":
        return cls[word.upper()]


class Rules(NamedTuple):
    """What a person has decided for all tools of a board."""

    unsigned: Decision = Decision.ALLOW
    unsigned_setting: str = "run.unsigned_project"
    created: Decision = Decision.ALLOW
    destructive: Decision = Decision.ASK
    permissions: Decision = Decision.ASK
    agents: Decision = Decision.ALLOW
    sandboxing: Sandboxing = Sandboxing.PREFER
    in_project: bool = True
    """Else relative paths begin wherever Pegboard was started, such as in the home folder."""


class Reason(NamedTuple):
    decision: Decision
    why: str
    setting: str
    """Where it can be decided otherwise."""


class Verdict(NamedTuple):
    reasons: tuple[Reason, ...]
    """What speaks against running it just so; none where it may be."""
    sandboxing: Sandboxing

    @property
    def decision(self) -> Decision:
        return min((each.decision for each in self.reasons), default=Decision.ALLOW)

    @property
    def denial(self) -> str:
        return _sentences(each for each in self.reasons if each.decision is Decision.DENY)

    @property
    def doubts(self) -> str:
        """What a person is asked about."""
        return _sentences(self.reasons)

    @property
    def settings(self) -> str:
        return ", ".join(dict.fromkeys(each.setting for each in self.reasons))


def judge(
    item: Item, rules: Rules, *, signed: bool, agent: bool, granted: bool | None = None
) -> Verdict:
    """`signed` says that the item has a signature which was found good just now.

    Whoever signed it vouches for what it wishes as well, unless `granted` says otherwise.
    """
    created = item.source == CREATED and not signed
    sandboxing = Sandboxing.REQUIRE if created else rules.sandboxing
    granted = signed if granted is None else granted
    found = _reasons(item, rules, (signed, granted), created=created, agent=agent)
    against = tuple(each for each in found if each.decision is not Decision.ALLOW)
    return Verdict(against, sandboxing)


def _reasons(
    item: Item, rules: Rules, vouched: tuple[bool, bool], *, created: bool, agent: bool
) -> Iterator[Reason]:
    signed, granted = vouched
    if created:
        yield Reason(rules.created, "an agent made it, and nobody signed it", "run.created")
    elif not signed and item.tool_type in PROCESSES:
        yield Reason(rules.unsigned, "nobody signed it", rules.unsigned_setting)
    if is_destructive(item):
        yield Reason(rules.destructive, "it can destroy something", "run.destructive")
    elif _said_of_safety(item, "requiresConfirmation"):
        why = "its description wants every call confirmed"
        yield Reason(rules.destructive, why, "run.destructive")
    if not granted:
        for wish in wishes(item, created=created, in_project=rules.in_project):
            yield Reason(rules.permissions, f"it wants {wish}", "run.permissions")
    if agent:
        yield Reason(rules.agents, "an agent calls it", "run.agents")


def is_destructive(item: Item) -> bool:
    """By what it says of itself, else by the hints of an MCP server or the method of a request."""
    said = item.executor.get("destructive")
    if isinstance(said, bool):
        return said
    if _said_of_safety(item, "destructive"):
        return True
    hints = item.executor.get("annotations")
    if isinstance(hints, Mapping):
        return hints.get("destructiveHint") is True and hints.get("readOnlyHint") is not True
    method = item.executor.get("method")
    return item.tool_type is ToolType.API and str(method).lower() == "delete"


def _said_of_safety(item: Item, what: str) -> bool:
    """By a LightAPI description."""
    safety = item.executor.get("safety")
    return isinstance(safety, Mapping) and safety.get(what) is True


def is_service(item: Item) -> bool:
    """Whether it runs where a person said that it does, and not where its manifest says."""
    if item.tool_type is ToolType.API:
        return "url" not in item.executor
    return item.tool_type is ToolType.MCP


def secrets_of(item: Item) -> list[str]:
    """Names of the secrets that a tool asks for by itself; of a service nobody asks that."""
    if is_service(item):
        return []
    named = [each.scope for each in item.permissions if each.resource is Resource.SECRET]
    return list(dict.fromkeys([*named, *names_in(dict(item.executor))]))


def wishes(item: Item, *, created: bool, in_project: bool = True) -> list[str]:
    """What it asks for that somebody has to vouch for, in words."""
    may_read = in_project and not created
    found = [_in_words(each) for each in item.permissions if not _is_harmless(each, may_read)]
    told = {each.scope for each in item.permissions if each.resource is Resource.SECRET}
    found += [f"the secret {name}" for name in secrets_of(item) if name not in told]
    if created and item.tool_type is ToolType.API and not is_service(item):
        found.append(f"to call {item.executor.get('url')}")
    if created and item.tool_type is ToolType.DOCKER:
        found.append(f"to run the image {item.executor.get('image')}")
    server = item.executor.get("server") if item.tool_type is ToolType.MCP else None
    if server and server != item.source:
        # What is known of that tool, its hints and whether it is held back, is not known of this.
        found.append(
            f"to call {_quoted(item.executor.get('tool'))} of the server {_quoted(server)}"
        )
    if created and (packages := _packages(item)):
        found.append(f"packages: {packages}")
    return list(dict.fromkeys(found))


def _packages(item: Item) -> str:
    """As they will be installed; nothing for needs that keep it from being run at all."""
    if item.tool_type is not ToolType.PYTHON:
        return ""
    try:
        needs = needs_of(item, entry_path(item))
    except NotExecutable:
        return ""
    return ", ".join(each.partition(" --hash")[0] for each in needs.requirements)


def _is_harmless(permission: Permission, may_read: bool) -> bool:
    """Reading the project, for whoever may; what a sandbox has anyway."""
    match permission.resource:
        case Resource.SHELL | Resource.TOOL:
            return True  # programs of the system are there, and no tool can call another
        case Resource.FILESYSTEM:
            inside = not permission.scope.startswith(("/", "~"))
            return permission.access is Access.READ and inside and may_read
        case _:
            return False


def _in_words(permission: Permission) -> str:
    scope = _quoted(permission.scope)
    match permission.resource:
        case Resource.FILESYSTEM:
            return f"to {permission.access} {scope}"
        case Resource.NETWORK:
            return "the network" if scope == "*" else f"the network, for {scope}"
        case Resource.ENVIRONMENT:
            return "every variable" if scope == "*" else f"the variable {scope}"
        case Resource.SECRET:
            return f"the secret {scope}"
        case _:
            return f"to {permission.access} {scope}"


def _quoted(said: object) -> str:
    """A path may have spaces in it: what it says must not be taken for our own words."""
    text = str(said)
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _sentences(reasons: Iterator[Reason] | tuple[Reason, ...]) -> str:
    return "; ".join(dict.fromkeys(each.why for each in reasons))
