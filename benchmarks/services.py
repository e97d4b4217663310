"""Does the right operation come first on boards of services that nothing was fitted to?

Ten boards of three to eleven services each, and realistic questions to them
(benchmarks/sets/services). The ranker is trained on the questions of nine boards
(`training/ranker.py`); this benchmark asks those of the tenth, `held_out`, which no training and
no tuning has seen. OpenAPI services of the corpora are put on the board as documents, MCP servers
as catalogues.
"""

import gzip
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from boards import board_file, folder_for
from lookalikes import items_of
from pegboard import Pegboard
from pegboard.app.measure import evaluation_board
from pegboard.app.pegboard import located
from pegboard.board.measure.evaluating import EvalQuery, ndcg, places
from pegboard.model.items import Item
from replay import configs, replaying
from report import at_least, mean, options, save

SET = Path(__file__).parent / "sets" / "services"
HELD_OUT = "held_out"
DOCUMENTS = ("docker", "notion", "telegram", "openai")
SERVERS = (
    *("okta-mcp-server", "kubectl-mcp-server", "vectra-ai-rux-mcp-server", "zerodha-kite"),
    *("sqlite-mcp-server", "simplechecklist", "github-mcp-server"),
)
NO_DESCRIPTION = "Description not available"
KINDS = ("plain", "detailed", "lookalike", "paraphrase")
SUMMARY_WORDS = 12
"""A first sentence of at most so many words is the summary of an operation."""
SLACK = 1.15
"""How far above its bound a service may go for the sake of whole categories."""


class Service(NamedTuple):
    """A service of one of the corpora in DATA/scale."""

    corpus: str
    category: str
    """The pattern of its categories."""
    most: int
    """Bound of its tools; whole categories are taken, the largest first."""


GROUPS: dict[str, dict[str, Service]] = {
    "code": {
        "jira": Service("openapi", "JIRA 7.6.1*", 110),
        "gitea": Service("openapi", "Gitea API.*", 150),
        "bitbucket": Service("openapi", "Bitbucket API*", 110),
    },
    "hosting": {
        "asana": Service("openapi", "Asana*", 150),
        "linode": Service("openapi", "Linode API*", 140),
        "digitalocean": Service("openapi", "DigitalOcean API*", 140),
    },
    "business": {
        "xero": Service("openapi", "Xero Accounting*", 120),
        "plaid": Service("openapi", "The Plaid API*", 100),
        "mandrill": Service("openapi", "Mandrill*", 90),
        "twitter": Service("openapi", "Twitter API v2*", 80),
    },
    "workspace": {
        "google-calendar": Service("google", "Calendar API", 60),
        "gmail": Service("google", "Gmail API", 80),
        "google-drive": Service("google", "Google Drive API", 64),
        "google-tasks": Service("google", "Google Tasks API", 20),
        "youtube": Service("google", "YouTube Data API v3", 83),
        "classroom": Service("google", "Google Classroom API", 100),
    },
    "cloud": {
        "gke": Service("google", "Kubernetes Engine API", 71),
        "cloud-run": Service("google", "Cloud Run Admin API", 59),
        "pubsub": Service("google", "Cloud Pub/Sub API", 46),
        "cloud-storage": Service("google", "Cloud Storage JSON API", 87),
        "bigquery": Service("google", "BigQuery API", 47),
        "secret-manager": Service("google", "Secret Manager API", 36),
    },
    "planning": {
        "linear": Service("mcp", "Linear", 73),
        "clickup": Service("mcp", "ClickUp MCP Server", 58),
        "atlassian": Service("mcp", "Atlassian Integration Server", 65),
        "notion-mcp": Service("mcp", "Notion", 54),
        "todoist": Service("mcp", "Todoist MCP Server", 55),
    },
    "customers": {
        "hubspot": Service("mcp", "HubSpot MCP", 112),
        "freshdesk": Service("mcp", "Freshdesk Integration Server", 56),
        "mailgun": Service("mcp", "Mailgun MCP Server", 40),
        "discord": Service("mcp", "Discord", 33),
        "shopify": Service("mcp", "Shopify", 21),
        "paypal": Service("mcp", "PayPal*", 26),
    },
    "local": {
        "redis": Service("mcp", "Redis", 44),
        "mongodb": Service("mcp", "MongoDB Lens", 43),
        "grafana": Service("mcp", "Grafana Server", 35),
        "home-assistant": Service("mcp", "Home Assistant Automations & Dashboards", 44),
        "spotify-mcp": Service("mcp", "Spotify Server", 28),
        "playwright": Service("mcp", "playwright", 33),
        "desktop-commander": Service("mcp", "Desktop Commander", 31),
        "figma": Service("mcp", "Figma MCP Server", 59),
    },
    HELD_OUT: {
        "discourse": Service("openapi", "Discourse*", 110),
        "clubhouse": Service("openapi", "Clubhouse API*", 60),
        "hetzner": Service("openapi", "Hetzner*", 110),
        "azure-devops": Service("mcp", "Azure DevOps Integration", 106),
        "servicenow": Service("mcp", "ServiceNow", 66),
        "ynab": Service("mcp", "YNAB*", 23),
        "gmail-mcp": Service("mcp", "Gmail MCP", 64),
        "cloud-sql": Service("google", "Cloud SQL Admin API", 85),
    },
}


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--keep", type=Path, help="folder where boards are kept for the next run")
    args = parser.parse_args()
    with folder_for(args.keep) as folder, service_board(args.data, folder, HELD_OUT) as board:
        called = names(board)
        found = {way: measured(board, called, way) for way in ("query", "named")}
    save(
        args,
        "services",
        {
            "checks": {
                "first hit right, service named": at_least(found["named"]["all"]["first"], 0.55)
            },
            "questions": len(questions(HELD_OUT)),
            "service not named": found["query"],
            "service named": found["named"],
        },
    )


def questions(group: str) -> list[dict[str, Any]]:
    lines = (SET / f"{group}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def eval_query(row: dict[str, Any]) -> EvalQuery:
    gold = tuple(f"{row['service']} {each}" for each in row["gold"])
    return EvalQuery(row["id"], row["query"], gold)


@contextmanager
def service_board(data: Path, folder: Path, group: str) -> Iterator[Pegboard]:
    """The board of a group, built once."""
    with (
        evaluation_board(board_file(folder, f"services-{group}"), located().settings) as board,
        TemporaryDirectory(prefix="pegboard-bench-") as scratch,
    ):
        if not board.sources():
            if group == "documents":
                add_documents(board, data, Path(scratch))
            else:
                add_services(board, data / "scale", Path(scratch), GROUPS[group])
        yield board


def names(board: Pegboard) -> dict[str, str]:
    """The items of the board by id, as the questions name them."""
    return {item.id: name_of(item) for item in items_of(board)}


def name_of(item: Item) -> str:
    return f"{item.source} {item.endpoint.rstrip('/') if item.endpoint else item.name}"


def measured(board: Pegboard, called: dict[str, str], way: str) -> dict[str, dict[str, float]]:
    """By kind of question: the share of right first hits, of those among five, and nDCG@10."""
    rows = []
    for row in questions(HELD_OUT):
        hits = board.search(row[way], limit=10, threshold=0.0).hits
        found = places(eval_query(row), [called[hit.id] for hit in hits])[:1]
        first = found[0] if found else 0
        values = (float(first == 1), float(0 < first <= 5), ndcg(found, 1, 10))
        rows.append((row["kind"], values))
    return {
        kind: {
            name: round(mean([values[place] for each, values in rows if kind in ("all", each)]), 4)
            for place, name in enumerate(("first", "among five", "ndcg@10"))
        }
        for kind in ("all", *KINDS)
    }


def add_documents(board: Pegboard, data: Path, scratch: Path) -> None:
    """OpenAPI documents and MCP servers that `lookalikes.py` does not use."""
    for name in DOCUMENTS:
        file = next((data / "openapi" / "real").glob(f"{name}.*gz"))
        board.add_source("openapi", str(file), name=name)
    for name in SERVERS:
        shutil.copy(next((data / "mcp").glob(f"*/{name}.json")), scratch)
    with replaying(scratch) as urls:
        board.add_servers(configs(urls))
        board.sync()


def add_services(board: Pegboard, scale: Path, scratch: Path, group: dict[str, Service]) -> None:
    for name, service in group.items():
        tools = tools_of(scale, service)
        path = scratch / (f"{name}.jsonl" if service.corpus == "mcp" else f"{name}.json")
        if service.corpus == "mcp":
            lines = {tool["name"]: {**tool, "id": tool["name"], "category": ""} for tool in tools}
            path.write_text("".join(f"{json.dumps(each)}\n" for each in lines.values()), "utf-8")
        else:
            path.write_text(json.dumps(document(name, tools)), "utf-8")
        board.add_source("jsonl" if service.corpus == "mcp" else "openapi", str(path), name=name)
    board.sync()


def tools_of(scale: Path, service: Service) -> list[dict[str, Any]]:
    """The tools of a service, without descriptions that only name the catalogue they came from."""
    found: dict[str, dict[str, Any]] = {}
    with gzip.open(scale / f"{service.corpus}_corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        for tool in map(json.loads, file):
            if fnmatchcase(tool["category"], service.category):
                found[tool["id"]] = tool
    for tool in found.values():
        if tool["description"].startswith("Deploy Server") or tool["description"] == NO_DESCRIPTION:
            tool["description"] = ""
    tools = list(found.values())
    if len(tools) <= service.most:
        return tools
    categories: dict[str, list[dict[str, Any]]] = {}
    for tool in tools:
        categories.setdefault(tool["category"], []).append(tool)
    if len(categories) == 1:
        return tools[: service.most]
    chosen: list[dict[str, Any]] = []
    for _, some in sorted(categories.items(), key=lambda each: -len(each[1])):
        if len(chosen) + len(some) <= service.most * SLACK:
            chosen += some
    return chosen


def document(name: str, tools: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The OpenAPI document that these operations came from, as far as the corpus tells."""
    paths: dict[str, dict[str, Any]] = {}
    for tool in tools:
        path = re.sub(r"\{\+?(\w+)\}", r"{\1}", "/" + tool["path"].lstrip("/"))
        method = tool["method"].lower()
        while method in paths.get(path, {}):
            path += "/"
        paths.setdefault(path, {})[method] = operation(tool, path)
    return {
        "openapi": "3.0.3",
        "info": {"title": name, "version": "1"},
        "servers": [{"url": "https://api.example.com"}],
        "paths": paths,
    }


def operation(tool: dict[str, Any], path: str) -> dict[str, Any]:
    variables = list(dict.fromkeys(re.findall(r"\{(\w+)\}", path)))
    text = {"type": "string"}
    parameters = [
        {"name": each, "in": "path", "required": True, "schema": text} for each in variables
    ]
    others = {each["name"]: each for each in reversed(tool["parameters"])}
    parameters += [
        {"name": each, "in": "query", "description": other.get("description") or "", "schema": text}
        for each, other in reversed(others.items())
        if each not in variables
    ]
    found = {"parameters": parameters, "responses": {"200": {"description": "ok"}}}
    if not re.match(r"[A-Z]+ /", tool["name"]):
        found["operationId"] = tool["name"]
    return found | described(tool["description"].strip())


def described(text: str) -> dict[str, str]:
    """A summary and a description: the corpus has both in one text."""
    first, more, rest = text.partition(". ")
    if more and len(first.split()) <= SUMMARY_WORDS:
        return {"summary": first, "description": rest}
    return {"summary" if len(text.split()) <= SUMMARY_WORDS else "description": text}


if __name__ == "__main__":
    main()
