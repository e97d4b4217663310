"""The profile `pytools`: the tools that clients of freeact's search servers expect.

Names, parameters and the shape of every answer are theirs, down to the wire. Extra arguments are
passed over and numbers may come as text, as with the library that those servers are made with.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Annotated, Any, Literal

import pydantic_core
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, RootModel, ValidationError

from pegboard.app.pegboard import Pegboard
from pegboard.errors import UsageError
from pegboard.model.answers import Hit
from pegboard.model.content import Json
from pegboard.model.items import Entry, Filters, Kind
from pegboard.serve.mcp.replies import text_block
from pegboard.serve.mcp.table import Offer, Schema, always, in_thread

Scope = Literal["gentools", "mcptools"]
SCOPES: tuple[Scope, ...] = ("gentools", "mcptools")
PAGE = 500
MOST_PAGES = 200


class ToolResult(BaseModel):
    """A tool that was found."""

    name: str = Field(description="Name of the tool, as in 'create_issue'")
    category: str = Field(description="Its category or server, as in 'github'")
    source: Scope = Field(description="Where it comes from")
    description: str = Field(description="The whole docstring")
    path: str = Field(description="Path of its source file")
    score: float = Field(description="How well it fits, from 0 to 1")


class Categories(BaseModel):
    """Categories of the tools folder."""

    gentools: list[str] = Field(description="Categories in gentools/")
    mcptools: list[str] = Field(description="Categories in mcptools/")


class Tools(BaseModel):
    """Tools of one category."""

    gentools: list[str] = Field(description="Tools in gentools/<category>/<tool>/api.py")
    mcptools: list[str] = Field(description="Tools in mcptools/<category>/<tool>.py")


class Found(BaseModel):
    model_config = ConfigDict(title="search_toolsOutput")
    result: list[ToolResult]


class Listed(RootModel[dict[str, Tools]]):
    model_config = ConfigDict(title="list_toolsDictOutput")


class SearchArguments(BaseModel):
    model_config = ConfigDict(title="search_toolsArguments")
    query: str = Field(
        description="What the tool should do: in natural language for 'hybrid' and 'vector', "
        "in keywords for 'bm25'."
    )
    mode: Literal["bm25", "vector", "hybrid"] = Field(
        default="hybrid",
        description="'hybrid' goes by words and meaning, 'bm25' by words, 'vector' by meaning.",
    )
    scope: Literal["all", "gentools", "mcptools"] = Field(
        default="all", description="Where to look."
    )
    limit: int = Field(default=5, ge=1, le=50, description="How many tools to return.")


def _list_in_text(value: object) -> object:
    """Some clients write a list as text."""
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value
    return found if isinstance(found, list) else value


class ListToolsArguments(BaseModel):
    model_config = ConfigDict(title="list_toolsArguments")
    categories: Annotated[str | list[str], BeforeValidator(_list_in_text)] = Field(
        description="A category or several, as in 'github' or ['github', 'slack']"
    )


class NoArguments(BaseModel):
    model_config = ConfigDict(title="list_categoriesArguments")


def search_tools(tools_dir: str, board: Pegboard, arguments: dict[str, Any]) -> CallToolResult:
    scope = arguments["scope"]
    answer = board.search(
        arguments["query"],
        mode=arguments["mode"],
        limit=arguments["limit"],
        filters=Filters(kinds=(Kind.TOOL.value,), sources=SCOPES if scope == "all" else (scope,)),
        threshold=0.0,
    )
    # A query with more requests than the limit has a hit for each; these clients expect no more.
    found = [_result(tools_dir, hit) for hit in answer.hits[: arguments["limit"]]]
    return _sent(found, Found(result=found))


def _result(tools_dir: str, hit: Hit) -> ToolResult:
    return ToolResult.model_validate(
        {
            "name": hit.name,
            "category": hit.category,
            "source": hit.source,
            "description": hit.description,
            "path": f"{tools_dir}/{_origin(hit)}",
            "score": hit.score,
        }
    )


def _origin(hit: Hit) -> str:
    file = "/api.py" if hit.source == "gentools" else ".py"
    return f"{hit.source}/{hit.category}/{hit.name}{file}"


def list_categories(board: Pegboard, arguments: dict[str, Any]) -> CallToolResult:
    lines = board.census()
    found = Categories.model_validate(
        {scope: sorted(line.category for line in lines if line.source == scope) for scope in SCOPES}
    )
    return _sent([found], found)


def list_tools(board: Pegboard, arguments: dict[str, Any]) -> CallToolResult:
    asked = arguments["categories"]
    categories = [asked] if isinstance(asked, str) else asked
    found = {category: Tools(gentools=[], mcptools=[]) for category in categories}
    for item in (entry.item for entry in _entries(board, categories)):
        if item.scope in SCOPES and item.category in found:
            getattr(found[item.category], item.scope).append(item.name)
    return _sent([found], Listed(found))


def _entries(board: Pegboard, categories: Sequence[str]) -> Iterator[Entry]:
    last: Entry | None = None
    for _ in range(MOST_PAGES if categories else 0):
        page = board.listed(categories, limit=PAGE, after=last)
        yield from page
        if len(page) < PAGE:
            return
        last = page[-1]


def _sent(parts: Sequence[object], whole: BaseModel) -> CallToolResult:
    """One text for each part of a list, and the whole as structure."""
    texts = [pydantic_core.to_json(part, indent=2).decode() for part in parts]
    return CallToolResult(
        content=[text_block(text) for text in texts],
        structured_content=whole.model_dump(mode="json"),
    )


def _check(model: type[BaseModel], tool: str, schema: Schema, arguments: Json) -> dict[str, Any]:
    try:
        return dict(model.model_validate(arguments))
    except ValidationError as error:
        wrong = [
            f"{'.'.join(map(str, each['loc']))}: {each['msg']}"
            for each in error.errors(include_url=False, include_input=False)
        ]
        takes = ", ".join(schema["properties"]) or "no parameters"
        raise UsageError("; ".join(wrong[:10]), f"{tool} takes: {takes}") from error


def _offer(
    name: str,
    title: str,
    description: str,
    models: tuple[type[BaseModel], type[BaseModel]],
    answer: Callable[[Pegboard, dict[str, Any]], CallToolResult],
) -> Offer:
    asks, gives = models
    return Offer(
        name=name,
        title=title,
        describe=always(description),
        input_schema=always(asks.model_json_schema()),
        respond=in_thread(answer),
        output_schema=gives.model_json_schema(),
        hints=ToolAnnotations(
            title=title,
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        ),
        check=partial(_check, asks),
    )


def pytools_offers(tools_dir: str) -> tuple[Offer, ...]:
    """Found tools have paths below `tools_dir`, in whatever way that is written."""
    return (
        _offer(
            "search_tools",
            "Search Tools",
            "Find tools by what they do. The best come first, each with name, category, source, "
            "description, path of its source file, and score.",
            (SearchArguments, Found),
            partial(search_tools, tools_dir),
        ),
        _offer(
            "list_categories",
            "List Tool Categories",
            "List the categories of tools in `gentools/` and `mcptools/`.",
            (NoArguments, Categories),
            list_categories,
        ),
        _offer(
            "list_tools",
            "List Tools in Categories",
            "List the tools of one or more categories in `gentools/` and `mcptools/`.",
            (ListToolsArguments, Listed),
            list_tools,
        ),
    )
