"""Which embedder a specification asks for."""

from collections.abc import Mapping
from pathlib import Path

from pegboard.embed.device import check_device
from pegboard.embed.hashed import HashedEmbedder
from pegboard.embed.local import LocalEmbedder
from pegboard.embed.parts import PartsEmbedder
from pegboard.errors import ConfigError
from pegboard.model.items import ModelSpec
from pegboard.ports.stages import Embedder

SERVICES = ("openai-compatible", "local-http", "pydantic-ai")
PROVIDERS = ("local", "test", "disabled", *SERVICES)
PACKAGED_MODEL = "all-MiniLM-L6-v2"
PACKAGED_DIMENSION = 384
TEST_DIMENSION = 256


def named_model(name: str) -> tuple[str, str]:
    """The provider and the model in `provider:model`, a provider or the packaged model.

    What begins with no provider of ours is left to pydantic-ai. A model alone has no provider.
    """
    provider, colon, model = name.partition(":")
    if name == PACKAGED_MODEL:
        return "local", ""
    if provider in PROVIDERS:
        return provider, model
    return ("pydantic-ai", name) if colon and model else ("", name)


def make_embedder(
    spec: ModelSpec,
    *,
    device: str = "auto",
    threads: int = 0,
    batch_size: int = 128,
    timeout_seconds: float = 20.0,
    max_retries: int = 3,
    environ: Mapping[str, str],
    cache: Path | None = None,
) -> Embedder | None:
    """None stands for no embedding; a dimension or `threads` of 0 leaves the choice open.

    Nothing is loaded and nobody is asked yet. With `cache`, what services make is kept there.
    """
    match spec.provider:
        case "local":
            local = _local(spec, device, threads)
            return PartsEmbedder(local, local.readable)
        case "test":
            return PartsEmbedder(HashedEmbedder(spec.dimension or TEST_DIMENSION))
        case "disabled":
            return None
        case "openai-compatible" | "local-http" | "pydantic-ai":
            from pegboard.embed.services import Effort, make_service  # most boards need none

            effort = Effort(batch_size, timeout_seconds, max_retries)
            return PartsEmbedder(make_service(spec, effort, environ, cache))
    raise ConfigError(
        f"there is no embedding provider {spec.provider!r}", f"use one of: {', '.join(PROVIDERS)}"
    )


def _local(spec: ModelSpec, device: str, threads: int) -> LocalEmbedder:
    if spec.model not in ("", PACKAGED_MODEL):
        raise ConfigError(
            f"the local provider has no model {spec.model!r}",
            f"the packaged one is {PACKAGED_MODEL}; leave the model empty to use it",
        )
    if spec.dimension not in (0, PACKAGED_DIMENSION):
        raise ConfigError(
            f"{PACKAGED_MODEL} makes vectors of {PACKAGED_DIMENSION} numbers, not {spec.dimension}",
            "leave the dimension at 0",
        )
    check_device(device)
    return LocalEmbedder(threads=threads, device=device)
