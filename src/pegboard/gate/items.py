"""An item from the fields of a candidate."""

from pegboard.gate.fields import Fields
from pegboard.gate.limits import Limits
from pegboard.gate.permissions import parse_permissions
from pegboard.gate.versions import read_version
from pegboard.model.content import Json
from pegboard.model.items import Candidate, Item, ItemId, Kind, ToolType, Visibility


def read_item(candidate: Candidate, said: Json, limits: Limits) -> Item:
    """Raises `Refused`. `said` are the fields, or what was read from the document."""
    fields = Fields(said, limits)
    return Item(
        id=ItemId(fields.required("id", limits.id)),
        name=fields.required("name", limits.name),
        title=fields.line("title", limits.title),
        kind=fields.choice("kind", Kind) or Kind.TOOL,
        namespace=fields.namespace(),
        description=fields.text("description", limits.description),
        category=fields.line("category"),
        subcategory=fields.line("subcategory"),
        tags=fields.lines("tags"),
        aliases=fields.lines("aliases"),
        tech_stack=fields.lines("tech_stack"),
        tool_type=fields.choice("tool_type", ToolType),
        input_schema=fields.schema("input_schema", arguments=True),
        output_schema=fields.schema("output_schema"),
        executor=fields.json("executor"),
        examples=fields.texts("examples"),
        body=fields.text("body", limits.body),
        visibility=fields.choice("visibility", Visibility) or Visibility.PUBLIC,
        author=fields.line("author"),
        official=said.get("official") is True,
        source=candidate.source,
        origin=candidate.origin,
        origin_hash=candidate.origin_hash,
        source_protocol=fields.line("source_protocol"),
        endpoint=fields.line("endpoint", limits.id),
        keywords=fields.lines("keywords"),
        routing_domain=fields.line("routing_domain"),
        semantic_namespace=fields.line("semantic_namespace"),
        sensitivity_tier=fields.line("sensitivity_tier"),
        target_personas=fields.lines("target_personas"),
        semantic_weight=fields.weight(),
        skills=fields.lines("skills"),
        links=fields.links(),
        permissions=parse_permissions(said.get("permissions")),
        deprecated=said.get("deprecated") is True,
        replacement=fields.line("replacement", limits.id),
        version=read_version(fields, candidate.files),
    )
