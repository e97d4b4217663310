"""The words of Pegboard as values: items, candidates, rejections, tasks, hits.

Everything that passes from one stage to another is defined here and cannot be changed. Named
tuples, because defining one is ten times quicker than a frozen dataclass, and that counts at every
start of the program (docs/decisions/0003-cold-start.md).
"""

import re
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, NewType

from pegboard.model.content import EMPTY, ItemFile, Json, Link, Permission, Signature, Version
from pegboard.model.vectors import Calibration as Calibration
from pegboard.model.vectors import Fingerprint as Fingerprint
from pegboard.model.vectors import KeptVectors as KeptVectors
from pegboard.model.vectors import Model as Model
from pegboard.model.vectors import ModelSpec as ModelSpec
from pegboard.model.vectors import ModelState as ModelState
from pegboard.model.vectors import Vector as Vector

ItemId = NewType("ItemId", str)
"""Where an item hangs: `source:category:name`, unique in its namespace."""

DEFAULT_NAMESPACE = "public"

CREATED = "created"
"""The source of tools that were made here, by agents or by people, and hang on the board alone."""

PUBLISHED = "published"
"""The source of items whose publishers sent them here, each version signed and fixed."""


class Kind(StrEnum):
    TOOL = "tool"
    SKILL = "skill"
    DIRECTIVE = "directive"
    KNOWLEDGE = "knowledge"


class Form(StrEnum):
    """How a candidate says what it is: in fields, or in a document that the gate reads."""

    FIELDS = "fields"
    MANIFEST = "manifest"
    DIRECTIVE = "directive"
    KNOWLEDGE = "knowledge"
    SKILL = "skill"


class ToolType(StrEnum):
    PYTHON = "python"
    BASH = "bash"
    API = "api"
    DOCKER = "docker"
    MCP = "mcp"


class Visibility(StrEnum):
    PUBLIC = "public"
    UNLISTED = "unlisted"
    PRIVATE = "private"


class Drift(StrEnum):
    """How an item stands to its source."""

    NONE = "none"
    CHANGED = "changed"
    MISSING = "missing"


class EmbeddingStatus(StrEnum):
    PENDING = "pending"
    READY = "ready"
    FAILED = "failed"
    DISABLED = "disabled"
    BLANK = "blank"


class Mode(StrEnum):
    HYBRID = "hybrid"
    BM25 = "bm25"
    VECTOR = "vector"
    FUZZY = "fuzzy"


class MatchType(StrEnum):
    KEYWORD = "keyword"
    SEMANTIC = "semantic"
    BOTH = "both"
    FUZZY = "fuzzy"


class Leg(StrEnum):
    """One ranking among those that are fused."""

    BM25 = "bm25"
    FUZZY = "fuzzy"
    VECTOR = "vector"


def qualified(namespace: str, item_id: str) -> str:
    """An id as people and programs give it; only outside the default namespace it says where."""
    return item_id if namespace == DEFAULT_NAMESPACE else f"{namespace}/{item_id}"


class Item(NamedTuple):
    """What the gate admits: everything about an item that its source or publisher says."""

    id: ItemId
    name: str
    title: str = ""
    """One line that says what the item does or is called in full; empty if it has none."""
    kind: Kind = Kind.TOOL
    namespace: str = DEFAULT_NAMESPACE
    description: str = ""
    category: str = ""
    subcategory: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    tech_stack: tuple[str, ...] = ()
    tool_type: ToolType | None = None
    input_schema: Json = EMPTY
    output_schema: Json = EMPTY
    executor: Json = EMPTY
    examples: tuple[str, ...] = ()
    body: str = ""
    visibility: Visibility = Visibility.PUBLIC
    author: str = ""
    official: bool = False
    source: str = ""
    origin: str = ""
    origin_hash: str = ""
    source_protocol: str = ""
    endpoint: str = ""
    keywords: tuple[str, ...] = ()
    routing_domain: str = ""
    semantic_namespace: str = ""
    sensitivity_tier: str = ""
    target_personas: tuple[str, ...] = ()
    semantic_weight: float = 1.0
    skills: tuple[str, ...] = ()
    """Names of the skills that it is assigned to."""
    links: tuple[Link, ...] = ()
    permissions: tuple[Permission, ...] = ()
    deprecated: bool = False
    replacement: str = ""
    """What to use instead of what is deprecated: an id, `namespace/id` or name."""
    version: Version | None = None
    signature: Signature | None = None

    @property
    def scope(self) -> str:
        """The first part of the id, such as `mcptools`: what a reader calls the item's source."""
        return self.id.partition(":")[0]

    @property
    def reference(self) -> str:
        """`namespace/id`, which names it on any board, whatever else has its id."""
        return f"{self.namespace}/{self.id}"

    @property
    def short_name(self) -> str:
        """`category__name`, legal as a tool name in MCP and OpenAI calls."""
        return re.sub(r"[^A-Za-z0-9_-]+", "_", f"{self.category}__{self.name}")

    @property
    def deprecation(self) -> str:
        """What to know of an item that should no longer be used; nothing of any other."""
        if not self.deprecated:
            return ""
        return f"deprecated; use {self.replacement} instead" if self.replacement else "deprecated"

    @property
    def document(self) -> str:
        """What is there to be read or followed, as its author wrote it; a tool is called."""
        if self.kind is Kind.TOOL:
            return ""
        return (self.version and self.version.manifest_text) or self.body


class EmbeddingState(NamedTuple):
    status: EmbeddingStatus
    source_hash: str
    model: str = ""
    dimension: int | None = None
    embedded_at: float | None = None
    error: str = ""


class Entry(NamedTuple):
    """An item as it hangs on a board, with what only the board knows."""

    key: int
    item: Item
    embedding: EmbeddingState
    active: bool
    drift: Drift
    drift_at: float | None
    approved_hash: str
    content_hash: str
    text_version: int
    imported_description: str
    description_source: str
    manual_override: bool
    override_at: float | None
    override_by: str
    download_count: int
    quality_score: float | None
    success_rate: float | None
    estimated_cost_usd: float | None
    created_at: float
    updated_at: float
    off_at: float | None = None
    """When a person switched it off, if one did."""
    off_by: str = ""
    off_reason: str = ""
    imported_tags: tuple[str, ...] = ()
    """Those of the source, whatever tags of their own people gave the item."""
    rating: float | None = None
    """The quality that somebody gave it: what `quality_score` is then."""
    counted_runs: int = 0
    """How many runs `success_rate` is made of; 0 for one that somebody brought along."""
    tags_override: bool = False
    tags_override_at: float | None = None
    tags_override_by: str = ""
    version: str = ""
    """The number of the version that hangs here; empty if its source keeps none."""
    version_hash: str = ""
    """Of that version's manifest and files, where a search has looked it up."""


class Candidate(NamedTuple):
    """What a source found. Nothing in it is trusted before the gate has seen it."""

    source: str
    origin: str
    origin_hash: str
    fields: Json
    files: tuple[ItemFile, ...] = ()
    form: Form = Form.FIELDS
    document: bytes = b""
    """What the gate is to read, if it is more than fields: a manifest, or a Markdown file."""
    signature: bytes = b""
    """The side file beside it, as it is written."""


class Unchanged(NamedTuple):
    """The source saw this origin again with the content it had last time."""

    origin: str


class LeftOut(NamedTuple):
    """Something a source passes over by its own rules, such as a private file."""

    origin: str
    reason: str


class Rejection(NamedTuple):
    source: str
    origin: str
    origin_hash: str
    code: str
    reason: str
    rejected_at: float | None = None


Finding = Candidate | Unchanged | LeftOut | Rejection


class SourceRecord(NamedTuple):
    """A source that was added to a board."""

    name: str
    kind: str
    location: str
    namespace: str = DEFAULT_NAMESPACE
    synced_at: float | None = None


class Task(NamedTuple):
    """One text to embed, claimed by a worker until its lease ends."""

    id: int
    item_key: int
    source_hash: str
    text: str
    attempts: int


class PutReport(NamedTuple):
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    refused: tuple[Rejection, ...] = ()
    displaced: tuple[Rejection, ...] = ()
    """Items of other sources whose place was taken."""


class EmbeddingCounts(NamedTuple):
    total: int = 0
    ready: int = 0
    pending: int = 0
    failed: int = 0
    disabled: int = 0
    blank: int = 0


class SourceCounts:
    """Numbers of items that can be found, by source and namespace. Compared by identity."""

    def __init__(self, rows: Iterable[tuple[str, str, int]] = ()) -> None:
        self.items: dict[str, dict[str, int]] = {}
        """By source and namespace."""
        for source, namespace, items in rows:
            self.items.setdefault(source, {})[namespace] = items

    def of(self, source: str, namespaces: Collection[str] = ()) -> int:
        """Items of a source in these namespaces, or in all if none are given."""
        own = self.items.get(source, {})
        return sum(own.get(each, 0) for each in namespaces) if namespaces else sum(own.values())

    def within(self, filters: "Filters") -> int:
        """Items that the filters by source and namespace leave; others are not counted here."""
        sources = [each for each in filters.sources if each in self.items] or list(self.items)
        return sum(self.of(each, filters.namespaces) for each in sources)


class Filters(NamedTuple):
    """Which items a search may see: those that every field lets through.

    A tuple lets through what has any of its values, exactly as they are written; an empty one sets
    no bound.
    """

    kinds: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    tool_types: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    semantic_namespaces: tuple[str, ...] = ()
    sensitivity_tiers: tuple[str, ...] = ()
    personas: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    """Tools that name these skills, or that these skills use."""
    linked: tuple[str, ...] = ()
    """Items that link to those with these ids, or are linked from them."""
    active: bool | None = True
    """False for what is gone from its source, held back or switched off; None for all."""
    live: tuple[str, ...] | None = None
    """Only tools that can run now: of MCP, those of these servers. Here only None sets no bound."""


class LegHit(NamedTuple):
    """An item's place in one leg. A higher score is better."""

    key: int
    id: ItemId
    rank: int
    score: float


class FirstLook(NamedTuple):
    """What the board knows of a query's terms, and the items that it names."""

    frequencies: dict[str, int]
    """About how many items have each term; 0 for a rare one, nothing for an unknown one."""
    named: list[LegHit]
    """Items whose whole name the query is, but for case and separators."""


class Spellings(NamedTuple):
    """Words of names, labels, titles and descriptions that a misspelled word may stand for."""

    near: list[str]
    """Those that one letter less makes one of what was asked for."""
    longer: Mapping[str, list[str]]
    """By its beginning, those that begin like it, in alphabetical order."""


class WordQuery(NamedTuple):
    """Terms for a leg over words."""

    terms: tuple[str, ...] = ()
    """Those that items are scored by."""
    lead: tuple[str, ...] = ()
    """Those that items are looked for by: all of them, or the most telling on a large board."""
    every: bool = False
    """Whether an item must have every term of the lead: when each leads to too many."""


class WordHits(NamedTuple):
    """What a leg over words found."""

    hits: tuple[LegHit, ...] = ()
    """Items that the filters let through, by their score over all terms or over the lead."""
    first: tuple[int, ...] = ()
    """The best on the whole board by the same score, whatever the filters."""
    scores: Mapping[int, float] = MappingProxyType({})
    """The scores over all terms that are known already."""
    by_all: bool = False
    """Whether `first` is by the score over all terms: no item with a lead term scores higher."""
    whole: bool = True
    """Whether an item that is not in `scores` has none of the terms."""
