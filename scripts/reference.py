"""Write the tables of docs/reference that are made from the code, between their marks.

    python scripts/reference.py           # or: make reference
    python scripts/reference.py --check   # only say which pages are not as they would be written

Words that code cannot know (what to do about an error, which operation is which) are in the tables
below; whatever they leave out is an error, so that nothing new is forgotten.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import click

from pegboard import Pegboard
from pegboard.board.curate.editing import Curating
from pegboard.cli.gateways import leaves
from pegboard.cli.main import cli
from pegboard.config.settings import Settings
from pegboard.errors import PegboardError, exit_code
from pegboard.model import calls, content, curation, items, releases
from pegboard.model.answers import Answer, Hit
from pegboard.model.items import Entry, Filters, Item
from pegboard.remote.board import ASKED_BY
from pegboard.serve.http.problems import OTHERS, status_of
from pegboard.serve.http.routes import ROUTES
from pegboard.serve.http.searching import SearchQuery
from pegboard.serve.mcp.arguments import allowed
from pegboard.serve.mcp.creating import CODES
from pegboard.serve.mcp.offers import OFFERS
from pegboard.serve.mcp.pytools import pytools_offers
from pegboard.serve.mcp.table import Offer
from pegboard.tiers.searching import Tiers

DOCS = Path(__file__).parent.parent / "docs" / "reference"
NONE = "–"
BOARD = cast(Pegboard, SimpleNamespace(settings=Settings(), census=list))

ADVICE: Mapping[str, str] = {
    "pegboard_error": "read the message; if it does not help, report it",
    "usage_error": "correct the value that the message names",
    "config_error": "correct the setting that the message names; see [settings](settings.md)",
    "key_unusable": "mend or replace the key file; see [signatures](../how-to/signatures.md)",
    "board_error": "do what the message says",
    "board_missing": "make one with `pegboard init`, or name another with `--board`",
    "board_busy": "try again; another process was writing for too long",
    "board_unreachable": "see whether the server runs, and whether the address is right",
    "board_read_only": "give yourself the right to write there, or use another board",
    "board_partly_hidden": "ask as somebody who may see the whole board",
    "board_full": "make room on the disk, and do the last thing again",
    "board_corrupt": "`pegboard rebuild`, or put a backup back",
    "board_too_new": "install the newer Pegboard",
    "source_error": "see that the file, folder or address is there and is what it should be",
    "server_unavailable": "start the command of the server by hand and see what it says",
    "embedding_error": "`pegboard retry ID` when the cause is gone",
    "model_unavailable": "`pegboard doctor`; search goes by words meanwhile",
    "item_not_found": "look for it with `pegboard search` or `search_tools`",
    "item_ambiguous": "use one of the ids that the message lists",
    "call_error": "do what the message says; the tool was not called",
    "invalid_arguments": "correct the arguments; the message has the part of the schema",
    "item_held": "look at it with `pegboard changes`, then `pegboard approve`",
    "secret_missing": "`pegboard secret set NAME`, or set the variable",
    "not_executable": "install or start what the message names",
    "not_trusted": "`pegboard verify`; trust the key with `pegboard keys trust`",
    "not_allowed": "ask with a token of the role or namespace that the message names",
    "not_signed_in": "send a token; see [sign-in](../how-to/sign-in.md)",
    "provider_unavailable": "see whether the identity provider answers the gateway",
    "changed_meanwhile": "get it again, and decide anew",
    "too_large": "send less, or raise the setting that the message names",
    "too_many": "wait as long as `Retry-After` says",
    "took_too_long": "ask again, ask for less, or allow more time",
    "invariant_broken": "`pegboard doctor --fix`, then `pegboard sync --full`",
}

BESIDE: Mapping[str, str] = {
    "malformed": "the request cannot be read at all: see what is said about its form",
    "denied": "the settings forbid this call: see `run` in [settings](settings.md)",
    "wrong_origin": "a page of another site asks; "
    "see [what is checked](../how-to/sign-in.md#what-is-checked-of-every-request)",
    "no_such_path": "the gateway has no such path: see [the routes](http.md)",
    "method_not_allowed": "the path takes other methods: see `Allow`",
    "too_slow": "the body did not arrive in time; see [limits](../how-to/serve.md#limits)",
    "alike": "a tool for the same is there: use it, or send `anyway`",
    "approval_needed": "show `question` to a person; their yes is the same call with `approve`",
    "unavailable": "the server of the tool is down, or nothing here can run it now",
    "version_exists": "a version never changes: publish under another number",
    "uri_too_long": "send it as a body; see [limits](../how-to/serve.md#limits)",
    "unsupported_media_type": "send `Content-Type: application/json`",
    "wrong_host": "the gateway does not know the name it was asked under: "
    "set `serve.public_url` or `serve.hosts`; "
    "see [what is checked](../how-to/sign-in.md#what-is-checked-of-every-request)",
    "refused": "the gate did not let it in: `reason` says why",
    "trial_failed": "trying it failed: `trial` says how",
    "headers_too_large": "send fewer or shorter headers; see [limits](../how-to/serve.md#limits)",
    "unexpected": "an error that Pegboard does not know: its log has it; please report it",
    "busy": "too many requests are in hand: wait as long as `Retry-After` says; "
    "see [limits](../how-to/serve.md#limits)",
    "stopping": "the gateway is about to stop: try again",
}

ONE_FACE: Mapping[str, str] = {
    "compact": "HTTP has whole hits, and MCP short ones always",
    "nearest": "for people: what comes nearest is always told to programs",
    "output": "code is had from `/runtime/tools.ts` and `/runtime/tools.py`",
    "data_dir": "where your own board is, is for a process here to know",
    "patience": "a gateway has `serve.search_seconds`, the others wait",
    "live": "made from `executable`",
}
"""Names that only one face has, and why."""

OTHERWISE: Mapping[str, set[str]] = {
    "type": {"tool_types"},
    "sensitivity": {"sensitivity_tiers"},
    "state": {"active"},
}
"""Filters whose field in Python is named after the field of the item that they look at."""

OPERATIONS: Sequence[tuple[str, str, str, str, str, str]] = (
    # thing, commands, routes, MCP, Python, page
    ("make a board", "init", "", "", "Pegboard.open", ""),
    ("make it anew from its content", "rebuild", "", "", "", ""),
    (
        "add a source",
        "add folder; add lightapi; add mcp; add openapi",
        "POST /sources",
        "",
        "add_folder; add_source; add_servers",
        "sources",
    ),
    (
        "list sources",
        "status",
        "GET /sources; GET /status",
        "",
        "sources; servers; status",
        "sources; status",
    ),
    ("remove a source", "remove", "DELETE /sources/{name}", "", "remove_source", "sources"),
    ("sync", "sync; sync-user", "POST /sources/{name}/sync", "", "sync", "sources"),
    ("search", "search", "GET /search; POST /search", "search_tools", "search; find", "search"),
    ("show", "show", "GET /tools/{id}", "describe_tool", "show", "item"),
    ("list", "", "GET /tools; GET /items", "list_tools", "listed", "search"),
    ("categories", "", "GET /categories", "list_categories", "census", "categories"),
    (
        "code to call tools with",
        "search",
        "GET /runtime/tools.ts; GET /runtime/tools.py",
        "",
        "",
        "",
    ),
    ("run", "run", "POST /tools/{id}/call", "call_tool", "call; prepare_call", "item"),
    ("runs", "runs", "GET /runs; GET /tools/{id}/runs", "", "runs", "item"),
    ("create a tool", "create", "POST /tools", "create_tool", "create", ""),
    (
        "description, tags, on and off",
        "description; tags; activate; deactivate",
        "PATCH /tools/{id}",
        "",
        "curate.edit; curate.describe; curate.tag; curate.activate; curate.deactivate",
        "item",
    ),
    ("remove an item", "delete", "DELETE /tools/{id}", "", "curate.remove", "item"),
    ("history", "history", "GET /tools/{id}/history", "", "curate.history", "item"),
    (
        "links",
        "links",
        "GET /tools/{id}/links; GET /links",
        "",
        "curate.ties; curate.loose_links",
        "item",
    ),
    (
        "rejections",
        "rejections",
        "GET /rejections",
        "",
        "rejections; curate.rejections",
        "rejections",
    ),
    ("changed since approved", "changes", "GET /changes", "", "", "changes"),
    ("approve a change", "approve", "POST /tools/{id}/approve", "", "", "changes"),
    ("allow declared servers and services", "allow; model allow", "", "", "", ""),
    ("publish", "publish", "POST /releases", "", "releases", ""),
    (
        "pull",
        "pull",
        "GET /tools/{id}/versions/{version}; GET /tools/{id}/versions/{version}/bundle; "
        "GET /tools/{id}/versions/{version}/signature",
        "",
        "releases",
        "",
    ),
    ("what is published", "", "GET /registry", "", "offered; releases", "registry"),
    ("versions", "versions", "GET /tools/{id}/versions", "", "versions; releases", "item"),
    ("diff of versions", "diff", "GET /tools/{id}/diff", "", "releases", "compare"),
    (
        "yank, unyank",
        "yank; unyank",
        "POST /tools/{id}/versions/{version}/yank; POST /tools/{id}/versions/{version}/unyank",
        "",
        "releases",
        "item",
    ),
    (
        "visibility, owner, deprecated",
        "visibility; transfer; deprecate",
        "PATCH /tools/{id}/release",
        "",
        "releases",
        "item",
    ),
    ("audit", "audit", "GET /audit", "", "releases", "audit"),
    ("status", "status", "GET /status", "", "status", "status"),
    (
        "embed what lacks a vector",
        "backfill; worker",
        "POST /backfill",
        "",
        "backfill; worker",
        "status",
    ),
    (
        "retry, refresh",
        "retry; refresh",
        "POST /tools/{id}/retry; POST /tools/{id}/refresh; POST /retry; POST /refresh",
        "",
        "retry; refresh",
        "item; status",
    ),
    ("models", "model use; model list; model rollback; model prune", "", "", "", ""),
    ("calibrate the scores of a model", "model calibrate", "", "", "calibrate", ""),
    (
        "is all well",
        "doctor",
        "GET /healthz; GET /readyz; GET /metrics",
        "",
        "check; unused_files",
        "status",
    ),
    ("measure", "eval", "", "", "", ""),
    ("serve", "serve; mcp; prompt", "POST /mcp; GET /mcp; DELETE /mcp", "", "", ""),
    ("who am I, what happens", "", "GET /me; GET /events", "", "", ""),
    ("tokens", "token new; token list; token revoke", "", "", "tokens", ""),
    (
        "keys and signatures",
        "keys new; keys list; keys trust; keys export; keys revoke; sign; verify",
        "",
        "",
        "",
        "",
    ),
    ("secrets", "secret set; secret forget", "", "", "", ""),
    ("the database itself", "db upgrade; db status; db backup; db import-kiwi", "", "", "", ""),
    ("the schema of tool.yaml", "schema", "", "", "", ""),
)

WORDS: Sequence[tuple[str, type[StrEnum], str]] = (
    ("kind of item", items.Kind, "`kind`"),
    ("type of tool", items.ToolType, "`tool_type`; the filter is `type`"),
    ("visibility", items.Visibility, "`visibility`"),
    ("how it stands to its source", items.Drift, "`drift`"),
    ("embedding", items.EmbeddingStatus, "`embedding.status`, counts of `status`"),
    ("mode of a search", items.Mode, "`mode`"),
    ("how a hit matched", items.MatchType, "`match_type`"),
    ("how a call ended", calls.Outcome, "`outcome`, of `run`, `/call`, `runs`"),
    ("what held a process", calls.Confined, "`sandbox`"),
    ("role", calls.Role, "`role`"),
    ("health of a server", calls.Health, "`health`"),
    ("what becomes of a changed tool", calls.OnChange, "`trust.changed`"),
    ("how a server is reached", calls.Transport, "`transport`"),
    ("what became of an item", curation.Event, "`event`, of `history`"),
    ("what the audit log tells of", releases.Action, "`action`, of `audit`"),
    ("order of what is published", releases.Order, "`order`"),
    ("access of a permission", content.Access, "`permissions`"),
    ("resource of a permission", content.Resource, "`permissions`"),
)
INNER = {items.Form, items.Leg, curation.Keep}
"""Words that no face says."""


def main() -> int:
    stale = []
    for page, tables in PAGES.items():
        path = DOCS / page
        was = path.read_text("utf-8")
        now = written(was, tables)
        if now != was:
            stale.append(page)
            if "--check" not in sys.argv:
                path.write_text(now, "utf-8")
    print(f"{', '.join(stale)} written" if stale else "all as it should be")
    return int(bool(stale) and "--check" in sys.argv)


def written(page: str, tables: Mapping[str, Callable[[], Iterable[str]]]) -> str:
    for name, table in tables.items():
        begin, end = f"<!-- generated: {name} -->", f"<!-- end: {name} -->"
        before, found, rest = page.partition(begin)
        _, ended, after = rest.partition(end)
        if not found or not ended:
            raise SystemExit(f"the page has no {begin} ... {end}")
        page = "\n".join([before + begin, "", *table(), "", end + after])
    return page


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield "| " + " | ".join(each.replace("|", "\\|") or NONE for each in row) + " |"


def codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def kinds(kind: type[PegboardError] = PegboardError) -> Iterator[type[PegboardError]]:
    yield kind
    for each in kind.__subclasses__():
        if each.__module__ == kind.__module__:
            yield from kinds(each)


def errors() -> Iterator[str]:
    found = [kind() for kind in kinds()]
    forgotten({each.code for each in found}, ADVICE, "ADVICE")
    rows = [
        (
            f"`{each.code}`",
            f"`{type(each).__name__}`",
            each.message,
            ADVICE[each.code],
            str(exit_code(each)),
            str(status_of(each)),
        )
        for each in found
    ]
    heads = ("code", "in Python", "what it means", "what to do", "exit code", "HTTP status")
    return table(heads, rows)


def beside() -> Iterator[str]:
    forgotten(OTHERS, BESIDE, "BESIDE")
    rows = [
        (f"`{code}`", _faces(code), str(status), BESIDE[code]) for code, status in OTHERS.items()
    ]
    return table(("code", "on which face", "HTTP status", "what it means, and what to do"), rows)


def _faces(code: str) -> str:
    return "HTTP, MCP" if code in CODES.values() else "HTTP"


def tools(offers: Sequence[Offer]) -> Callable[[], Iterator[str]]:
    def told() -> Iterator[str]:
        for number, offer in enumerate(offers):
            if number:
                yield ""
            yield from one_tool(offer)

    return told


def one_tool(offer: Offer) -> Iterator[str]:
    yield f"### {offer.name}"
    yield ""
    yield " ".join(offer.describe(BOARD).partition("\n\n")[0].split())
    yield ""
    hints = {
        "readOnlyHint": offer.hints.read_only_hint,
        "destructiveHint": offer.hints.destructive_hint,
        "idempotentHint": offer.hints.idempotent_hint,
        "openWorldHint": offer.hints.open_world_hint,
    }
    said = ", ".join(f"`{name}` {str(value).lower()}" for name, value in hints.items())
    yield f"Title “{offer.title}”; from the role `{offer.role}` on; {said}."
    yield ""
    schema = offer.input_schema(BOARD)
    if schema["properties"]:
        yield from table(("argument", "it is", "unless said", "meaning"), arguments(schema))
    else:
        yield "It takes no argument."
    if offer.output_schema:
        yield ""
        yield from table(("field of the answer", "it is", "meaning"), answers(offer.output_schema))


def arguments(schema: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    for name, each in schema["properties"].items():
        needed = name in schema.get("required", ())
        default = "needed" if needed else f"`{each['default']}`" if "default" in each else ""
        yield f"`{name}`", allowed(each), default, each.get("description", "")


def answers(schema: Mapping[str, Any], prefix: str = "") -> Iterator[Sequence[str]]:
    parts = schema.get("$defs", {})
    for name, each in schema.get("properties", {}).items():
        yield f"`{prefix}{name}`", form(each), each.get("description", "")
        inner = each.get("items", {})
        inner = parts.get(inner.get("$ref", "").rpartition("/")[2], inner)
        yield from answers(inner, f"{prefix}{name}[].")
    more = schema.get("additionalProperties")
    if isinstance(more, Mapping) and "$ref" in more:
        yield from answers(parts[more["$ref"].rpartition("/")[2]], f"{prefix}*.")


def form(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type", "one of " + ", ".join(schema.get("enum", ())))
    inner = schema.get("items", {})
    return f"{kind} of {inner.get('type', 'object')}" if kind == "array" else str(kind)


def asked() -> dict[str, dict[str, str]]:
    """By the name of what a search takes, what each face calls it."""
    found: dict[str, dict[str, str]] = {}
    search = next(command for name, command in leaves(cli) if name == "search")
    everywhere = {"board", "gateway", "token_file", "as_json"}
    for each in search.params:
        said = each.opts[0].lstrip("-").replace("-", "_")
        if each.name not in everywhere:
            shown = each.opts[0] if isinstance(each, click.Option) else "QUERY"
            found.setdefault(said, {})["CLI"] = shown
    for name in SearchQuery.model_fields:
        found.setdefault(name, {})["HTTP"] = name
    for name in OFFERS[0].input_schema(BOARD)["properties"]:
        found.setdefault(name, {})["MCP"] = name
    for name in inspect.signature(Pegboard.search).parameters:
        if name not in ("self", "filters"):
            found.setdefault(name, {})["Python"] = name
    for name in set(inspect.signature(Tiers.search).parameters) & {"tier"}:
        found.setdefault(name, {})["Python"] = name
    one = {**ASKED_BY, "active": "state"}
    for name in Filters._fields:
        found.setdefault(one.get(name, name), {})["Python"] = f"Filters.{name}"
    for name in page_asks():
        found.setdefault(name, {})["page"] = name
    return found


def page_asks() -> set[str]:
    """What the page's search reads of its address."""
    from pegboard.serve.web import searching

    return set(re.findall(r'(?:get|values)\("([a-z_]+)"', inspect.getsource(searching.read)))


FACES = ("CLI", "HTTP", "MCP", "Python", "page")


def searches() -> Iterator[str]:
    found = asked()
    alone = {name for name, faces in found.items() if len(faces) == 1}
    forgotten(alone, ONE_FACE, "ONE_FACE")
    rows = [
        (
            f"`{name}`",
            *(codes(filter(None, [faces.get(face)])) for face in FACES),
            ONE_FACE.get(name, ""),
        )
        for name, faces in found.items()
    ]
    return table(("search", *FACES, "if only one has it"), rows)


def hits() -> Iterator[str]:
    short = OFFERS[0].output_schema or {}
    agents = short["properties"]["hits"]["items"]["properties"]
    forgotten(agents, dict.fromkeys(Hit._fields, ""), "Hit")
    return table(
        ("field of a hit", "CLI `--json`, HTTP, Python", "MCP"),
        ((f"`{n}`", f"`{n}`", f"`{n}`" if n in agents else "") for n in Hit._fields),
    )


def answer_fields() -> Iterator[str]:
    agents = (OFFERS[0].output_schema or {})["properties"]
    forgotten(agents, dict.fromkeys(Answer._fields, ""), "Answer")
    return table(
        ("field of an answer to a search", "CLI `--json`, HTTP, Python", "MCP"),
        ((f"`{n}`", f"`{n}`", f"`{n}`" if n in agents else "") for n in Answer._fields),
    )


def item_fields() -> Iterator[str]:
    described = (OFFERS[1].output_schema or {})["properties"]["tools"]["items"]["properties"]
    known = {**dict.fromkeys(Item._fields, ""), "text": "", "files": "", "notes": ""}
    forgotten(described, known, "Item")
    entry = [each for each in Entry._fields if each not in ("key", "item")]
    rows = [(f"`item.{n}`", f"`{n}`" if n in described else "") for n in Item._fields]
    rows += [(f"`{name}`", "") for name in entry]
    return table(("field of an item: `show --json`, `GET /tools/{id}`, Python", "MCP"), rows)


def statuses() -> Iterator[str]:
    there = {
        each
        for module in (items, calls, content, curation, releases)
        for each in vars(cast(ModuleType, module)).values()
        if inspect.isclass(each) and issubclass(each, StrEnum) and each is not StrEnum
    }
    told = {each for _, each, _ in WORDS}
    if missing := there - told - INNER:
        raise SystemExit(f"WORDS has nothing of {missing}")
    rows = [(name, codes(each.value for each in words), where) for name, words, where in WORDS]
    return table(("what", "words", "where they stand"), rows)


def operations() -> Iterator[str]:
    taken: list[set[str]] = [set(), set(), set(), set(), set()]
    for _, *columns in OPERATIONS:
        for names, column in zip(taken, columns, strict=True):
            names.update(filter(None, column.split("; ")))
    commands, routes, tools_, python, pages = taken
    there = [
        (commands, {name for name, _ in leaves(cli)}),
        (routes, {f"{r.method} {r.path}" for r in ROUTES if not r.path.startswith("/items/")}),
        (tools_, {offer.name for offer in OFFERS}),
        (pages, page_names()),
    ]
    for told, known in there:
        if told != known:
            raise SystemExit(f"OPERATIONS: {sorted(told ^ known)} are not in both")
    for name in python:
        owner, _, method = name.rpartition(".")
        if not hasattr({"": Pegboard, "Pegboard": Pegboard, "curate": Curating}[owner], method):
            raise SystemExit(f"OPERATIONS: there is no {name} in Python")
    public = {name for name in dir(Pegboard) if not name.startswith("_")}
    own = {name for name in python if name in public}
    inside = {
        *("at", "boards_above", "close", "embedder", "open", "running", "seen_by", "target"),
        *("address", "behind", "filtered", "findable", "knock", "now", "requests"),
    }
    if missing := public - own - inside:
        raise SystemExit(f"OPERATIONS has no {sorted(missing)} of Pegboard")
    rows = [
        (thing, *(codes(filter(None, each.split("; "))) for each in columns))
        for thing, *columns in OPERATIONS
    ]
    return table(("operation", "`pegboard ...`", "HTTP", "MCP", "Python", "page"), rows)


def page_names() -> set[str]:
    """The pages by the words in their paths; the one that begins is the search."""
    from pegboard.serve.web import routes

    found = re.findall(r'served\(gateway, "/ui/([a-z]*)[^"]*", get=(?!nothing)', source(routes))
    return {{"": "search", "items": "item"}.get(name, name) for name in found}


def source(module: ModuleType) -> str:
    return inspect.getsource(module)


def forgotten(there: Iterable[str], told: Mapping[str, str], where: str) -> None:
    """Raises unless both have the same names, or the code has a part of what is told."""
    if missing := set(there) - set(told):
        raise SystemExit(f"{where} has nothing of {', '.join(sorted(missing))}")


PAGES: Mapping[str, Mapping[str, Callable[[], Iterable[str]]]] = {
    "errors.md": {"errors": errors, "beside": beside},
    "mcp-tools.md": {"pegboard": tools(OFFERS), "pytools": tools(pytools_offers("."))},
    "names.md": {
        "operations": operations,
        "search": searches,
        "answer": answer_fields,
        "hit": hits,
        "item": item_fields,
        "words": statuses,
    },
}

if __name__ == "__main__":
    sys.exit(main())
