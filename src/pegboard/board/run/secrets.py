"""Secrets of a call: handed over to the tool as variables, and hidden in all that comes back."""

from collections.abc import Mapping

from pegboard.execute.policy import PROCESSES
from pegboard.execute.secrets import Secrets
from pegboard.model.calls import CallResult
from pegboard.model.content import Access, Resource
from pegboard.model.items import Item


def with_secrets(item: Item) -> Item:
    """A secret that the permissions name is handed over as a variable of that name."""
    named = [
        each.scope
        for each in item.permissions
        if each.resource is Resource.SECRET and each.access is Access.READ
        if each.scope.replace("_", "a").isalnum()
    ]
    if not named or item.tool_type not in PROCESSES:
        return item
    said = item.executor.get("env")
    env = {name: f"secret://{name}" for name in named}
    env |= {str(k): str(v) for k, v in said.items()} if isinstance(said, Mapping) else {}
    return item._replace(executor={**item.executor, "env": env})


def hidden(result: CallResult, secrets: Secrets) -> CallResult:
    """No secret comes back, whoever said it."""
    structured = secrets.hidden_in(result.structured)
    meta = secrets.hidden_in(result.meta)
    content = [secrets.hidden_in(each) for each in result.content]
    return result._replace(
        content=tuple(each for each in content if isinstance(each, Mapping)),
        structured=structured if isinstance(structured, Mapping) else None,
        meta=meta if isinstance(meta, Mapping) else None,
        error=secrets.hide(result.error),
        logs=secrets.hide(result.logs),
        artifacts=tuple(
            each._replace(
                name=secrets.hide(each.name), content=_hidden_bytes(each.content, secrets)
            )
            for each in result.artifacts
        ),
    )


def _hidden_bytes(content: bytes, secrets: Secrets) -> bytes:
    """Bytes that are no text pass through this unharmed."""
    return secrets.hide(content.decode("utf-8", "surrogateescape")).encode(
        "utf-8", "surrogateescape"
    )
