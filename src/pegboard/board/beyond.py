"""What a tool of a shared board asks for that its author cannot give it."""

from pegboard.content import Resource
from pegboard.execute.policy import secrets_of
from pegboard.model import Item


def beyond_of(item: Item, allowed: frozenset[str]) -> str:
    """Something of whoever runs the board that it asks for, in words; empty if there is nothing.

    Those are secrets and variables but for those that are allowed, and files outside of the
    project.
    """
    asked = {f"the secret {name}": name for name in secrets_of(item)}
    for each in item.permissions:
        if each.resource is Resource.ENVIRONMENT:
            asked[f"the variable {each.scope}"] = each.scope
        elif each.resource is Resource.FILESYSTEM and each.scope.startswith(("/", "~")):
            asked[f"{each.scope}, which is outside of the project"] = ""
    return min((said for said, name in asked.items() if name not in allowed), default="")
