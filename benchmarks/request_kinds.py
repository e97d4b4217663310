"""Random requests to a gateway: proper ones, nearly proper ones, and hostile ones."""

import json
import random
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import quote, urlencode

WORDS = (
    *("send", "find", "count", "paper", "mail", "chat", "refund", "pin"),
    *("draw", "message", "channel", "money", "back", "text", "word"),
)
ODD = (
    *(
        "\0",
        "\u202e",
        "\ud7ff",
        "金",
        "é" * 50,
        "'; DROP TABLE items; --",
        "<script>",
        "%s%n",
        "../..",
    ),
    *("a" * 5_000, "*", '"', "\\", "${HOME}", "\r\nX: y", "NaN", "-1", "1e999", "null", "[]"),
)
PATHS = ("/search", "/tools", "/items", "/status", "/sources", "/changes", "/runs", "/rejections")
PARTS = ("", "/call", "/versions", "/runs", "/history", "/links", "/refresh", "/retry", "/approve")
METHODS = ("GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS", "TRACE")
ROLES = ("owner", "admin", "author", "reader", "nobody")


class Request(NamedTuple):
    method: str
    path: str
    body: bytes | None = None
    headers: Mapping[str, str] = {}
    role: str = "owner"
    kind: str = ""
    item: str = ""
    """The item of this client alone that it is about."""
    said: Mapping[str, object] = {}
    """What the item is to be, if the answer is that it was done."""


class Client:
    """Has items of its own, whose ETags it remembers, and makes and removes tools with others."""

    def __init__(self, number: int, seed: int, own: list[str], shared: list[str]) -> None:
        self.number = number
        self.random = random.Random(f"{seed} {number}")
        self.own = own
        self.shared = shared
        self.known: dict[str, str] = {}
        """ETags that were seen."""

    def next(self) -> Request:
        kinds: list[tuple[int, Callable[[], Request]]] = [
            (25, self.search),
            (10, self.page),
            (12, self.look),
            (14, self.edit),
            (8, self.create),
            (6, self.remove),
            (4, self.upkeep),
            (1, self.call),
            (8, self.nearly),
            (12, self.hostile),
        ]
        (make,) = self.random.choices([m for _, m in kinds], [weight for weight, _ in kinds])
        made = make()
        return made._replace(kind=made.kind or make.__name__)

    def words(self) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randint(1, 6)))

    def any_item(self) -> str:
        return quote(self.random.choice([*self.own, *self.shared]), safe="")

    def search(self) -> Request:
        said: dict[str, object] = {"query": self.words(), "limit": self.random.randint(1, 50)}
        chance = self.random.random()
        if chance < 0.2:
            said["mode"] = self.random.choice(["hybrid", "bm25", "vector", "fuzzy"])
        elif chance < 0.4:
            said |= {"kind": "tool", "category": self.random.choice(WORDS)}
        elif chance < 0.5:
            said["explain"] = "true"
        return Request("GET", f"/search?{urlencode(said)}", role=self.random.choice(ROLES[:4]))

    def page(self) -> Request:
        limit = self.random.randint(1, 40)
        state = self.random.choice(["active", "inactive", "all"])
        return Request("GET", f"/items?limit={limit}&state={state}")

    def look(self) -> Request:
        rest = self.random.choice(["", "", "/versions", "/runs", "/history", "/links"])
        name = self.random.choice(self.own)
        headers = {}
        if self.random.random() < 0.3 and name in self.known:
            headers = {"If-None-Match": self.known[name]}
        return Request("GET", f"/items/{quote(name, safe='')}{rest}", headers=headers, item=name)

    def edit(self) -> Request:
        """Of an item that nobody else edits, so that its last edit is what it must be."""
        name = self.random.choice(self.own)
        said: dict[str, object] = {}
        if self.random.random() < 0.6:
            said["description"] = None if self.random.random() < 0.2 else f"{self.words()}."
        if self.random.random() < 0.4:
            tags = self.random.sample(WORDS, self.random.randint(0, 3))
            said["tags"] = None if self.random.random() < 0.2 else tags
        if not said or self.random.random() < 0.2:
            said["active"] = self.random.random() < 0.7
        headers = (
            {"If-Match": self.known[name]}
            if self.random.random() < 0.4 and name in self.known
            else {}
        )
        path = f"/items/{quote(name, safe='')}"
        return Request("PATCH", path, _json(said), headers, item=name, said=said)

    def create(self) -> Request:
        name = self.random.choice(self.shared).rpartition(":")[2]
        manifest = {
            "tool_id": name,
            "tool_type": "python",
            "category": "made",
            "description": f"{self.words()} {name}.",
        }
        code = f"def run():\n    return {self.random.randint(0, 3)}\n"
        body = {"manifest": manifest, "files": {"main.py": code}, "anyway": True}
        return Request("POST", "/tools", _json(body))

    def remove(self) -> Request:
        return Request("DELETE", f"/tools/{quote(self.random.choice(self.shared), safe='')}")

    def upkeep(self) -> Request:
        item = f"/items/{quote(self.random.choice(self.own), safe='')}"
        paths = [f"{item}/refresh", f"{item}/retry", "/retry", "/backfill"]
        return Request("POST", self.random.choice(paths))

    def call(self) -> Request:
        body = {"arguments": self.random.choice([{}, {"text": "a"}, {"text": 5}])}
        name = quote(self.random.choice(self.own), safe="")
        return Request("POST", f"/items/{name}/call", _json(body))

    def nearly(self) -> Request:
        """Right but for one thing."""
        name = f"/items/{quote(self.random.choice(self.own), safe='')}"
        odd = self.random.choice(ODD)
        return self.random.choice(
            [
                Request("GET", f"/search?{urlencode({'query': self.words(), 'limit': odd})}"),
                Request("GET", f"/search?{urlencode({'query': odd, 'sort': 1})}"),
                Request("GET", f"/tools?{urlencode({'after': odd})}"),
                Request("PATCH", name, _json({"description": odd, "tags": 5})),
                Request("PATCH", name, _json({"tags": ["x"]}), {"If-Match": '"old"'}),
                Request("PATCH", name, _json({"tags": ["x"]}), role="reader"),
                Request("PATCH", name, _json({"tags": ["x"]}), role="nobody"),
                Request("PATCH", name, _json({"active": 1})),
                Request("DELETE", name),
                Request("POST", "/tools", _json({"manifest": {"tool_id": odd}})),
                Request("POST", "/tools", _json({"manifest": odd, "files": {odd: odd}})),
                Request("POST", "/sources", _json({"kind": "folder", "url": "/"})),
                Request("POST", "/refresh", role="admin"),
                Request("POST", f"{name}/call", _json({"arguments": {odd: odd}, "approve": odd})),
                Request("POST", f"{name}/approve"),
            ]
        )

    def hostile(self) -> Request:
        """Whatever somebody might send who means no good."""
        odd = quote(self.random.choice(ODD), safe="")
        bytes_ = self.random.randbytes(self.random.randint(0, 200))
        path = self.random.choice([*PATHS, f"/tools/{odd}{self.random.choice(PARTS)}", f"/{odd}"])
        role = self.random.choice(ROLES)
        hurt = [
            Request(self.random.choice(METHODS), path, bytes_),
            Request("POST", "/search", _broken(self.random, _json({"query": self.words()}))),
            Request("POST", "/tools", b'{"manifest":' * self.random.choice([10, 100, 10_000])),
            Request("POST", "/tools", b'{"manifest": {"n": %s}}' % (b"9" * 5_000)),
            Request("POST", "/search", rb'{"query": "\ud800"}'),
            Request("POST", "/search", b'{"query": "a", "query": "b"}'),
            Request("POST", "/search", b'{"query": "a", "threshold": NaN}'),
            Request("GET", f"/search?query=%ff%fe&tag={odd}"),
            Request("GET", f"/tools/%ff{self.random.choice(PARTS)}"),
            Request("GET", f"/items?{'tag=a&' * 2_000}"),
            Request(
                "GET",
                f"/items/{odd}",
                None,
                {"If-None-Match": self.random.choice(["x", "../..", "W/*"])},
            ),
            Request("POST", "/search", _json({"query": "a"}), {"Content-Type": "text/plain"}),
        ]
        return self.random.choice(hurt)._replace(role=role)


def _json(said: object) -> bytes:
    return json.dumps(said).encode()


def _broken(chance: random.Random, body: bytes) -> bytes:
    """With one byte that is another, or missing."""
    at = chance.randrange(len(body))
    return body[:at] + chance.choice([b"", chance.randbytes(1)]) + body[at + 1 :]
