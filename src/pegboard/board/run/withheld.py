"""What a tool of a shared board asks for that its author cannot give it."""

from pegboard.execute.policy import secrets_of
from pegboard.model.content import Resource
from pegboard.model.items import Item
from pegboard.ports.store import Store


def beyond_of(item: Item, allowed: frozenset[str], *, in_project: bool = True) -> str:
    """Something of whoever runs the board that it asks for, in words; empty if there is nothing.

    Those are secrets and variables but for those that are allowed, and files outside of the
    project; where there is none, all files.
    """
    asked = {f"the secret {name}": name for name in secrets_of(item)}
    for each in item.permissions:
        if each.resource is Resource.ENVIRONMENT:
            asked[f"the variable {each.scope}"] = each.scope
        elif each.resource is Resource.FILESYSTEM and (
            not in_project or each.scope.startswith(("/", "~"))
        ):
            asked[f"{each.scope}, which is outside of the project"] = ""
    return min((said for said, name in asked.items() if name not in allowed), default="")


def withheld(item: Item, allowed: frozenset[str], *, in_project: bool) -> str:
    """Who signed a tool vouches for it, and not for what others would let it have."""
    beyond = beyond_of(item, allowed, in_project=in_project)
    hint = "pull it and run it in your own project; or allow a name: serve.author_secrets"
    return f"where many call, no published tool is given {beyond}\n  {hint}" if beyond else ""


def taken_back(store: Store, item: Item) -> str:
    """What to know of a version that somebody asked for by its number."""
    number = item.version.version if item.version else ""
    lines = store.items.versions(item.id, item.namespace)
    back = next((each for each in lines if each.number == number and each.yanked_at), None)
    why = f": {back.yank_reason}" if back and back.yank_reason else ""
    return f"version {number} was taken back{why}" if back else ""
