"""Which items are meant: the same words as `pegboard search` has for it."""

from typing import Annotated, Literal

from pydantic import Field

from pegboard.model.items import Filters, Kind
from pegboard.serve.http.table import Wanted

LONGEST_VALUE = 200
LONGEST_ID = 600
MOST_VALUES = 50
"""Of one field; all of them have to fit into the line that a request begins with."""
STATES: dict[str, bool | None] = {"active": True, "inactive": False, "all": None}

Value = Annotated[str, Field(max_length=LONGEST_VALUE)]
Name = Annotated[str, Field(max_length=LONGEST_ID)]
Kinds = Literal["tool", "skill", "directive", "knowledge"]
Types = Literal["python", "bash", "api", "docker", "mcp"]
State = Annotated[
    Literal["active", "inactive", "all"],
    Field(description="Inactive: gone from its source, held back or switched off."),
]


def only(what: str) -> object:
    return Field(max_length=MOST_VALUES, description=f"Only {what}; any of several will do.")


class ToolFilters(Wanted):
    """Values of one field widen the choice, further fields narrow it."""

    category: Annotated[tuple[Value, ...], only("in this category")] = ()
    tag: Annotated[tuple[Value, ...], only("with this tag")] = ()
    type: Annotated[tuple[Types, ...], only("of this type")] = ()
    source: Annotated[tuple[Value, ...], only("from here: mcptools, gentools, ...")] = ()
    namespace: Annotated[tuple[Value, ...], only("in this namespace")] = ()
    author: Annotated[tuple[Value, ...], only("by this author")] = ()
    protocol: Annotated[tuple[Value, ...], only("read this way: mcp, ...")] = ()
    domain: Annotated[tuple[Value, ...], only("of this routing domain")] = ()
    semantic_namespace: Annotated[tuple[Value, ...], only("of this semantic namespace")] = ()
    sensitivity: Annotated[tuple[Value, ...], only("of this sensitivity tier")] = ()
    persona: Annotated[tuple[Value, ...], only("for this persona")] = ()
    skill: Annotated[tuple[Value, ...], only("tools of this skill")] = ()
    linked: Annotated[tuple[Name, ...], only("what links to this, or is linked from it")] = ()
    state: State = "active"

    def filters(self) -> Filters:
        return Filters(
            kinds=self.kinds(),
            sources=self.source,
            categories=self.category,
            tags=self.tag,
            tool_types=self.type,
            namespaces=self.namespace,
            authors=self.author,
            protocols=self.protocol,
            domains=self.domain,
            semantic_namespaces=self.semantic_namespace,
            sensitivity_tiers=self.sensitivity,
            personas=self.persona,
            skills=self.skill,
            linked=self.linked,
            active=STATES[self.state],
        )

    def kinds(self) -> tuple[str, ...]:
        return (Kind.TOOL.value,)


class ItemFilters(ToolFilters):
    kind: Annotated[tuple[Kinds, ...], only("of this kind")] = ()

    def kinds(self) -> tuple[str, ...]:
        return self.kind
