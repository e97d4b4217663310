"""Embedders that ask a service, made from what the settings or a board say of it."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pegboard.embed.cache import VectorCache
from pegboard.embed.http import Address, HttpService, checked_url
from pegboard.embed.keys import check_reference, look_up
from pegboard.embed.known import known_model
from pegboard.embed.named import Named, NamedService
from pegboard.embed.service import Manner, Service, ServiceEmbedder
from pegboard.errors import ConfigError
from pegboard.model.items import ModelSpec

OWN_PROMPTS = "sentence-transformers"
"""Of pydantic-ai's providers, the one that puts the prefixes before the texts itself."""


class Effort(NamedTuple):
    """How much is asked at once, how long an answer is waited for, how often it is asked again."""

    batch_size: int
    timeout_seconds: float
    max_retries: int


def make_service(
    spec: ModelSpec, effort: Effort, environ: Mapping[str, str], cache: Path | None
) -> ServiceEmbedder:
    known = _manner(spec)
    manner = known._replace(batch_size=effort.batch_size, max_retries=effort.max_retries)
    service = _service(spec, effort.timeout_seconds, environ)
    kept = VectorCache(cache, _scope(spec)) if cache else None
    return ServiceEmbedder(service, manner, kept)


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


def _service(spec: ModelSpec, timeout_seconds: float, environ: Mapping[str, str]) -> Service:
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
