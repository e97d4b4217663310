"""Every setting with its default, what it means, and the bounds of its value."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs

from pegboard.embed.choose import PROVIDERS
from pegboard.model.items import ModelSpec

SIGNATURES = ("require", "warn", "off")
"""What a board asks of signatures, the strictest first."""

DECISIONS = ("deny", "ask", "allow")
"""What may become of a call, the strictest first."""

TIERS = ("local", "user", "registry", "all")
"""Which boards are searched: the one at hand, a person's own, the one that is shared, or each."""


def setting(default: Any, about: str, **bounds: Any) -> Any:  # noqa: ANN401 (as dataclasses.field)
    """A field with its documentation and the bounds of its value."""
    return field(default=default, metadata={"about": about, **bounds})


def _named(text: str) -> tuple[str, ...]:
    """Names with commas between them."""
    return tuple(filter(None, map(str.strip, text.split(","))))


@dataclass(frozen=True, slots=True)
class EmbedSettings:
    provider: str = setting("local", "who makes vectors", choices=PROVIDERS)
    model: str = setting("", "model name; empty takes the provider's own, if it has one")
    base_url: str = setting(
        "", "where a service is, such as http://localhost:11434/v1", personal=True
    )
    api_key: str = setting(
        "", "where its key is: env:NAME or file:PATH; never the key itself", personal=True
    )
    device: str = setting("auto", "where a local model runs", choices=("auto", "cpu", "gpu"))
    dimension: int = setting(0, "vector length; 0 takes the model's own", least=0, most=16_384)
    threads: int = setting(0, "threads for local models; 0 uses the cores, at most 4", least=0)
    batch_size: int = setting(
        128, "texts that a worker takes, or a service is sent, at once", least=1, most=10_000
    )
    timeout_seconds: float = setting(
        20.0, "how long a service may take to answer", least=0.1, most=600.0
    )
    max_retries: int = setting(
        3, "how often a service that is busy or broken is asked again", least=0, most=10
    )
    cache: str = setting(
        "on", "keep what a service made in the user's cache folder", choices=("on", "off")
    )
    max_attempts: int = setting(5, "tries before a task is given up", least=1, most=100)

    @property
    def spec(self) -> ModelSpec:
        return ModelSpec(self.provider, self.model, self.dimension, self.base_url, self.api_key)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    mode: str = setting("hybrid", "default mode", choices=("hybrid", "bm25", "vector", "fuzzy"))
    limit: int = setting(5, "hits in an answer; over HTTP and on the page 20", least=1, most=1000)
    depth: int = setting(30, "items that each leg puts forward", least=1, most=10_000)
    threshold: float = setting(
        0.2, "if the fit of the best hit is less, no tool fits", least=0.0, most=1.0
    )
    floor: float = setting(
        0.05, "least fit of further hits once one reaches the threshold", least=0.0, most=1.0
    )
    fusion: str = setting("sum", "how legs become one ranking", choices=("sum", "rrf"))
    alpha: float = setting(0.5, "weight of meaning against words in `sum`", least=0.0, most=1.0)
    k: int = setting(60, "the constant of `rrf`", least=1, most=10_000)
    bm25_weight: float = setting(1.0, "weight of words in `rrf`", least=0.0, most=100.0)
    vector_weight: float = setting(1.0, "weight of meaning in `rrf`", least=0.0, most=100.0)
    fuzzy_weight: float = setting(0.5, "weight of guessed words in `rrf`", least=0.0, most=100.0)
    boost_recency: float = setting(
        0.002, "what an item changed today gains; 0 switches it off", least=0.0, most=0.02
    )
    boost_quality: float = setting(
        0.01, "what the best quality gains; 0 switches it off", least=0.0, most=0.02
    )
    boost_usage: float = setting(
        0.01, "what much use gains; 0 switches it off", least=0.0, most=0.02
    )
    boost_semantic_weight: float = setting(
        0.01, "what a semantic weight of 2 gains; 0 switches it off", least=0.0, most=0.02
    )
    tier: str = setting("local", "which tiers are searched", choices=TIERS)
    tier_seconds: float = setting(
        2.0, "how long tiers beside the local one are waited for", least=0.1, most=60.0
    )


@dataclass(frozen=True, slots=True)
class SyncSettings:
    max_file_bytes: int = setting(1 << 20, "larger files are refused", least=1)
    keep_missing_days: float = setting(
        30.0, "days before an item that left its source is removed", least=0.0
    )


@dataclass(frozen=True, slots=True)
class TrustSettings:
    changed: str = setting(
        "warn",
        "what becomes of a tool of an MCP server that is no longer what was approved",
        choices=("hold", "warn", "allow"),
    )
    signatures_project: str = setting(
        "off",
        "whether items must be signed on a project's board",
        choices=SIGNATURES,
        personal=True,
    )
    signatures_user: str = setting(
        "off",
        "whether they must on a board of your own",
        choices=SIGNATURES,
        personal=True,
    )
    signatures_registry: str = setting(
        "require",
        "whether they must on a board in PostgreSQL, and what is published and pulled",
        choices=SIGNATURES,
        personal=True,
    )


@dataclass(frozen=True, slots=True)
class RunSettings:
    sandbox: str = setting(
        "prefer",
        "whether python and bash tools must have a sandbox",
        choices=("require", "prefer", "off"),
        personal=True,
    )
    timeout_seconds: float = setting(
        60.0, "how long a tool may run that says nothing else", least=0.1, most=86_400.0
    )
    memory_mb: int = setting(1024, "memory of a run", least=16, personal=True)
    processes: int = setting(64, "processes and threads of a run", least=1, personal=True)
    cpus: float = setting(1.0, "cores of a run, where the system can hold it to them", least=0.01)
    output_mb: int = setting(
        64, "a run that writes or answers more is stopped", least=1, most=4096, personal=True
    )
    parallel: int = setting(8, "runs at the same time; others wait", least=1, most=1000)
    unsigned_project: str = setting(
        "allow",
        "unsigned python, bash and docker tools on a project's board",
        choices=DECISIONS,
        personal=True,
    )
    unsigned_user: str = setting(
        "allow", "the same on a board of your own", choices=DECISIONS, personal=True
    )
    unsigned_registry: str = setting(
        "ask",
        "the same on a board in PostgreSQL, and on the registry",
        choices=DECISIONS,
        personal=True,
    )
    created: str = setting(
        "allow",
        "tools that agents made, which always need a sandbox",
        choices=DECISIONS,
        personal=True,
    )
    destructive: str = setting(
        "ask", "tools that can destroy something", choices=DECISIONS, personal=True
    )
    permissions: str = setting(
        "ask",
        "tools without a trusted signature that ask for more than to read the project",
        choices=DECISIONS,
        personal=True,
    )
    agents: str = setting(
        "allow", "any tool, when an agent calls it", choices=DECISIONS, personal=True
    )
    loopback: str = setting(
        "off", "whether api tools may call this machine", choices=("off", "on"), personal=True
    )
    private: str = setting(
        "",
        "hosts and networks that api tools may call although their addresses are private, "
        "with commas: 10.0.0.0/8, wiki.example.com",
        personal=True,
    )
    environment: str = setting(
        "", "which environment of a LightAPI description is called, where it has several"
    )
    engine: str = setting(
        "auto",
        "what runs docker tools",
        choices=("auto", "docker", "podman"),
        personal=True,
    )

    @property
    def private_hosts(self) -> tuple[str, ...]:
        """The hosts and networks in `private`."""
        return _named(self.private)


@dataclass(frozen=True, slots=True)
class ServeSettings:
    host: str = setting("127.0.0.1", "address that `pegboard serve` listens on", personal=True)
    port: int = setting(8420, "its port; 0 takes a free one", least=0, most=65_535)
    loopback: str = setting(
        "off",
        "what programs of this machine may do without a token",
        choices=("off", "reader", "author", "admin"),
        personal=True,
    )
    public_url: str = setting(
        "",
        "where clients reach it, if not at host and port: https://tools.example.com",
        personal=True,
    )
    hosts: str = setting(
        "", "further names that it is reached by, with commas: tools.internal:8420", personal=True
    )
    issuer: str = setting("", "identity provider whose tokens are believed", personal=True)
    audience: str = setting("", "what such tokens must be meant for", personal=True)
    jwks_url: str = setting("", "where its keys are; empty asks the issuer", personal=True)
    role_claim: str = setting(
        "pegboard_role", "claim that says the role; without it, a reader", personal=True
    )
    namespaces_claim: str = setting(
        "pegboard_namespaces", "claim that lists the namespaces", personal=True
    )
    author_secrets: str = setting(
        "",
        "secrets and variables that tools may name which authors make, with commas: JIRA_TOKEN",
        personal=True,
    )
    search_seconds: float = setting(10.0, "how long a search may take", least=0.1, most=600.0)
    request_bytes: int = setting(4 << 20, "larger requests are refused", least=1_000)
    bundle_bytes: int = setting(
        30 << 20, "the same for bundles that are published, in base64", least=1_000
    )
    requests_per_minute: int = setting(
        600, "requests of one caller in a minute; 0 sets no bound", least=0
    )
    parallel: int = setting(64, "requests that are worked on at the same time", least=1)
    searchers: int = setting(
        -1,
        "processes that search beside it when many ask; -1 takes one for each core, 0 none",
        least=-1,
        most=64,
    )
    stop_seconds: float = setting(
        10.0, "how long requests in hand may take when it is to stop", least=0.0, most=3600.0
    )

    @property
    def lent(self) -> frozenset[str]:
        """The names in `author_secrets`."""
        return frozenset(_named(self.author_secrets))


@dataclass(frozen=True, slots=True)
class RegistrySettings:
    url: str = setting(
        "",
        "the board that is shared: postgresql://..., the address of a gateway, or a board's file",
        personal=True,
    )
    token_file: str = setting("", "file with the token that its gateway asks for", personal=True)
    namespace: str = setting("", "where items are published; empty means their own namespace")


@dataclass(frozen=True, slots=True)
class PublishSettings:
    eval: str = setting(
        "",
        "folder with a queries.jsonl, to see whose queries a new item would take",
    )


@dataclass(frozen=True, slots=True)
class BlobSettings:
    place: str = setting("", "where files of 64 KB and more go: a folder, or s3://bucket/prefix")
    endpoint: str = setting("", "address of a bucket that is not at AWS")
    region: str = setting("", "region of the bucket; empty takes AWS_REGION or us-east-1")
    access_key: str = setting(
        "", "where its key is: env:NAME; empty takes AWS_ACCESS_KEY_ID", personal=True
    )
    secret_key: str = setting(
        "", "where its key is: env:NAME; empty takes AWS_SECRET_ACCESS_KEY", personal=True
    )


@dataclass(frozen=True, slots=True)
class Settings:
    board: str = setting(
        "", "the board's file, or postgresql://...; empty means .pegboard/board.db of the project"
    )
    data_dir: str = setting(
        "",
        "folder of your own board, keys and caches; empty means where this system has such things",
        personal=True,
    )
    embed: EmbedSettings = field(default_factory=EmbedSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    sync: SyncSettings = field(default_factory=SyncSettings)
    trust: TrustSettings = field(default_factory=TrustSettings)
    run: RunSettings = field(default_factory=RunSettings)
    serve: ServeSettings = field(default_factory=ServeSettings)
    registry: RegistrySettings = field(default_factory=RegistrySettings)
    publish: PublishSettings = field(default_factory=PublishSettings)
    blobs: BlobSettings = field(default_factory=BlobSettings)

    @property
    def data_folder(self) -> Path:
        """Where a person's own board is, the keys, and what that person has allowed."""
        return Path(self.data_dir) if self.data_dir else platformdirs.user_data_path("pegboard")

    @property
    def cache_folder(self) -> Path:
        """What is there can be made again."""
        own = self.data_dir
        return Path(own) / "cache" if own else platformdirs.user_cache_path("pegboard")

    @property
    def vectors_folder(self) -> Path | None:
        """Where vectors are kept that a service made, if they are."""
        return self.cache_folder / "vectors" if self.embed.cache == "on" else None
