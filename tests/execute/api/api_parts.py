"""Tools from documents and manifests, as they come through the gate, and calls of them."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import yaml
from api_service import Asked, Service, heard, operation

from pegboard.execute.api.addresses import Reach
from pegboard.execute.api.executor import ApiExecutor
from pegboard.execute.job import Job, Limits
from pegboard.execute.secrets import Secrets
from pegboard.gate.admission import admit
from pegboard.model.calls import CallResult, Outcome
from pegboard.model.items import Candidate, Form, Item
from pegboard.sources.openapi.source import OpenApiSource

HERE = Reach(loopback=True)
QUICK = {"backoff": 0.001}
LONG = Limits(seconds=20)


def items(location: str, source: str = "echo") -> dict[str, Item]:
    """The tools of an OpenAPI document, by name."""
    found = {}
    for each in OpenApiSource(source, location).scan({}):
        assert isinstance(each, Candidate), each
        item = admit(each)
        assert isinstance(item, Item), item
        found[item.name] = item
    return found


def described(
    folder: Any, service: Service | str, path: str = "/echo", method: str = "get", **parts: Any
) -> Item:
    """The tool of a document with one operation, `call`."""
    components = parts.pop("components", {})
    url = service if isinstance(service, str) else service.url
    written = {
        "openapi": "3.0.3",
        "info": {"title": "One", "version": "1"},
        "servers": [{"url": url}],
        "paths": {path: {method: operation("call", **parts)}},
        "components": components,
    }
    file = folder / "one.json"
    file.write_text(json.dumps(written), "utf-8")
    return items(str(file), "shop")["call"]


def manifest(properties: dict[str, Any] | None = None, **config: Any) -> Item:
    """A hand-written tool, `mine`."""
    told = {
        "tool_id": "mine",
        "tool_type": "api",
        "description": "Asks a service.",
        "input_schema": {"type": "object", "properties": properties or {}},
        "executor_config": config,
    }
    fields = {"id": "tools:mine", "name": "mine", "category": "", "subcategory": ""}
    text = yaml.safe_dump(told, sort_keys=False).encode()
    item = admit(Candidate("tools", "mine", "", fields, form=Form.MANIFEST, document=text))
    assert isinstance(item, Item), item
    return item


def called(
    item: Item,
    arguments: dict[str, Any] | None = None,
    *,
    secrets: dict[str, str] | None = None,
    reach: Reach = HERE,
    limits: Limits = LONG,
    **options: Any,
) -> CallResult:
    async def main() -> CallResult:
        executor = ApiExecutor(reach, **QUICK | options)
        try:
            return await executor.run(job(item, arguments, secrets, limits))
        finally:
            await executor.close()

    return asyncio.run(main())


@contextmanager
def keeping(reach: Reach = HERE, **options: Any) -> Iterator[Callable[[Job], CallResult]]:
    """One executor for many calls, as a process has it."""
    with asyncio.Runner() as runner:
        executor = ApiExecutor(reach, **QUICK | options)
        yield lambda job: runner.run(executor.run(job))
        runner.run(executor.close())


def job(
    item: Item,
    arguments: dict[str, Any] | None = None,
    secrets: dict[str, str] | None = None,
    limits: Limits = LONG,
) -> Job:
    return Job(item, arguments or {}, Secrets((secrets or {}).get), limits)


def arrived(item: Item, arguments: dict[str, Any] | None = None, **options: Any) -> Asked:
    """What the service was asked in a call that went well."""
    result = called(item, arguments, **options)
    assert result.outcome is Outcome.OK, result
    return heard(result.structured)
