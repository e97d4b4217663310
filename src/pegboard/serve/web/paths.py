"""Where things are on the page. Names are written so that no name leads elsewhere."""

from collections.abc import Iterable
from urllib.parse import quote, urlencode

from pegboard.model.items import qualified

HOME = "/ui/"
SIGN_IN = "/ui/sign-in"

Pairs = Iterable[tuple[str, str]]


def item_path(namespace: str, item_id: str) -> str:
    return f"/ui/items/{quoted(qualified(namespace, item_id))}"


CALL = "/call"
"""Behind the path of an item, where it is called: such requests may take longer than others."""


def quoted(name: str) -> str:
    return quote(name, safe=":", errors="replace")


def with_query(path: str, pairs: Pairs) -> str:
    said = urlencode([(name, value) for name, value in pairs if value], errors="replace")
    return f"{path}?{said}" if said else path


def search_path(*pairs: tuple[str, str]) -> str:
    return with_query(HOME, pairs)


def category_path(category: str) -> str:
    return with_query("/ui/categories", [("category", category)]) if category else "/ui/categories"
