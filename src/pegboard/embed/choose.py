"""Which embedder a specification asks for."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from pegboard.embed.cache import VectorCache
from pegboard.embed.device import check_device
from pegboard.embed.hashed import HashedEmbedder
from pegboard.embed.http import Address, HttpService, checked_url
from pegboard.embed.keys import check_reference, look_up
from pegboard.embed.known import known_model
from pegboard.embed.local import LocalEmbedder
from pegboard.embed.named import Named, NamedService
from pegboard.embed.parts import PartsEmbedder
from pegboard.embed.service import Manner, Service, ServiceEmbedder
from pegboard.errors import ConfigError
from pegboard.model import ModelSpec
from pegboard.ports import Embedder

PROVIDERS = ("local", "test", "disabled", "openai-compatible", "local-http", "pydantic-ai")
PACKAGED_MODEL = "all-MiniLM-L6-v2"
PACKAGED_DIMENSION = 384
TEST_DIMENSION = 256
OWN_PROMPTS = "sentence-transformers"
"""Of pydantic-ai's providers, the one that puts the prefixes before the texts itself."""


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
            return PartsEmbedder(_local(spec, device, threads))
        case "test":
            return PartsEmbedder(HashedEmbedder(spec.dimension or TEST_DIMENSION))
        case "disabled":
            return None
        case "openai-compatible" | "local-http" | "pydantic-ai":
            manner = _manner(spec)._replace(batch_size=batch_size, max_retries=max_retries)
            service = _service(spec, manner, timeout_seconds, environ)
            kept = VectorCache(cache, _scope(spec)) if cache else None
            return PartsEmbedder(ServiceEmbedder(service, manner, kept))
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


def _manner(spec: ModelSpec) -> Manner:
    if not spec.model:
        raise ConfigError(f"the provider {spec.provider} needs embed.model")
    plain = Manner(spec.provider, spec.model, spec.dimension)
    if spec.provider != "pydantic-ai":
        return plain.knowing(known_model(spec.model))
    maker, colon, name = spec.model.partition(":")
    if not (maker and colon and name):
        raise ConfigError(
            f"embed.model is {spec.model!r}; with pydantic-ai it must be provider:model",
            "for instance openai:text-embedding-3-small",
        )
    known = plain.knowing(known_model(name))
    return known._replace(query="", document="") if maker == OWN_PROMPTS else known


def _service(
    spec: ModelSpec, manner: Manner, timeout_seconds: float, environ: Mapping[str, str]
) -> Service:
    check_reference(spec.api_key)
    key = partial(look_up, spec.api_key, environ)
    # Many services refuse even the dimension that a model has anyway, if they are asked for it.
    asked = spec.dimension if spec.dimension != _own_dimension(spec) else 0
    if spec.provider == "pydantic-ai":
        return NamedService(Named(spec.model, spec.base_url, asked, timeout_seconds), key)
    own_network = spec.provider == "local-http"
    return HttpService(
        Address(
            checked_url(spec.base_url, provider=spec.provider, plain=own_network),
            spec.model,
            asked,
            timeout_seconds,
            direct=own_network,
        ),
        key,
    )


def _own_dimension(spec: ModelSpec) -> int:
    name = spec.model.partition(":")[2] if spec.provider == "pydantic-ai" else spec.model
    known = known_model(name)
    return known.dimension if known else 0


def _scope(spec: ModelSpec) -> str:
    """The place too: two services may call different models by the same name."""
    return "\0".join((spec.provider, spec.base_url, spec.model, str(spec.dimension)))
