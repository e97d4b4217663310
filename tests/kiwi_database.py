"""A database as Kiwi left it: thousands of ordinary rows, and one of every awkward sort.

The tables have the columns that Kiwi's had and none of their constraints, as a database has them
that was restored, repaired and patched for years.
"""

import hashlib
import json
import random
import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple

import psycopg
from psycopg import sql

DIMENSION = 256
"""Of the embedder that tests use."""

TABLES = """
CREATE TABLE scripts (
  id uuid, name text, category text, subcategory text, description text, is_official boolean,
  download_count integer, quality_score numeric(3, 2), tech_stack text[], tags text[],
  success_rate numeric(3, 2), estimated_cost_usd numeric(10, 2), latest_version text,
  created_at timestamptz, updated_at timestamptz);
CREATE TABLE script_versions (
  id uuid, script_id uuid, version text, content text, content_hash text, changelog text,
  is_latest boolean, created_at timestamptz);
CREATE TABLE directives (LIKE scripts);
CREATE TABLE directive_versions (
  id uuid, directive_id uuid, version text, content text, content_hash text, changelog text,
  is_latest boolean, created_at timestamptz);
CREATE TABLE knowledge_entries (
  id uuid, zettel_id text, title text, content text, entry_type text, category text, tags text[],
  created_at timestamptz, updated_at timestamptz);
CREATE TABLE knowledge_relationships (
  id uuid, from_zettel_id text, to_zettel_id text, relationship_type text, created_at timestamptz);
CREATE TABLE item_embeddings (
  id uuid, item_id text, item_type text, embedding vector, content text, metadata json,
  signature text, validated_at timestamptz, created_at timestamptz);
"""

VERBS = ("create", "list", "read", "update", "delete", "sync", "deploy", "lint", "check", "send")
NOUNS = (
    "issue", "invoice", "branch", "ticket", "server", "bucket", "report", "user", "channel", "row",
)  # fmt: skip
CATEGORIES = ("git", "finance", "ops", "mail", "data", "クラウド")
MOMENT = "2024-03-01 10:00:00.123456+00"
BIG = 5_000_000
"""Characters of the largest script, unless a test can do with less."""
LARGEST = "the largest content"
"""Stands for so many characters."""


class Awkward(NamedTuple):
    """One row that is unlike the others, and what has to become of it."""

    name: str
    row: dict[str, Any]
    versions: tuple[dict[str, Any], ...] = ()
    refused: str = ""
    """The code of the reason why it cannot be moved."""
    remarks: tuple[str, ...] = ()
    refused_versions: tuple[str, ...] = ()


def uid(*parts: object) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "/".join(map(str, parts))))


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def version(number: str | None, content: str | None = "x = 1\n", **other: Any) -> dict[str, Any]:
    said = {
        "version": number,
        "content": content,
        "content_hash": None if content is None else sha256(content),
        "changelog": "",
        "created_at": MOMENT,
    }
    return said | other


AWKWARD = (
    Awkward("nothing_but_a_name", {}),
    Awkward(
        "nothing_in_its_version",
        {"latest_version": "1.0.0"},
        (version("1.0.0", None, changelog=None, created_at=None),),
    ),
    Awkward("Case_Matters", {"category": "git"}),
    Awkward("case_matters", {"category": "git"}),
    Awkward("CASE_MATTERS", {"category": "git"}),
    Awkward("in_two_categories", {"category": "git"}),
    Awkward("in_two_categories", {"category": "ops"}),
    Awkward("written_twice", {"category": "git", "id": uid("written_twice", 1)}),
    Awkward(
        "written_twice", {"category": "git", "id": "ffffffff-0000-4000-8000-000000000001"},
        refused="duplicate_id",
    ),
    Awkward("no version at all", {"category": "ops"}),
    Awkward("latest_is_not_there", {"latest_version": "9.9.9"},
            (version("1.0.0"), version("1.2.0")), remarks=("latest_version",)),
    Awkward("latest_is_not_said", {}, (version("1.0.0"), version("1.1.0", is_latest=True),
            version("2.0.0-rc.1")), remarks=("latest_version",)),
    Awkward("latest_of_nothing", {"latest_version": "1.0.0"}, remarks=("latest_version",)),
    Awkward("twice_the_same_version", {"latest_version": "1.0.0"},
            (version("1.0.0"), version("1.0.0", "y = 2\n")), remarks=("version",)),
    Awkward("twice_the_same_row", {"id": uid("same"), "latest_version": "1.0.0"},
            (version("1.0.0"), version("1.0.0", id=uid(uid("same"), 0))),
            refused_versions=("duplicate_version",)),
    Awkward("versions_of_old", {"latest_version": "2.0.0"},
            (version("1.0"), version(None), version("2.0.0"), version("v3"), version("")),
            remarks=("version",) * 4),
    Awkward("only_one_and_old", {"latest_version": "1.0"}, (version("1.0"),), remarks=("version",)),
    Awkward("old_and_new", {"latest_version": "1.0"},
            (version("1.0", "old = 1\n"), version("1.0.0", "new = 1\n")), remarks=("version",)),
    Awkward("new_and_old", {"latest_version": "1.0.0"},
            (version("1.0", "old = 1\n"), version("1.0.0", "new = 1\n")), remarks=("version",)),
    Awkward("latest", {"latest_version": "latest"}, (version("latest"),), remarks=("version",)),
    Awkward("dated", {"latest_version": "2024-01-05"},
            (version("2024-01-05"), version("2023-12-24"), version("最新"), version("v" * 300)),
            remarks=("version",) * 4),
    Awkward("number_is_missing", {}, (version(None),), remarks=("version",)),
    Awkward("youngest_of_old", {}, (version("v9"), version("v10"), version("v1")),
            remarks=("latest_version", "version", "version", "version")),
    Awkward("escapes", {"description": r"Prints \xff, \u0000 and \ud800 as they are.",
                        "latest_version": "1.0.0"},
            (version("1.0.0", "print(b'\\xff', '\\u0000', '\\ud800')\n"),)),
    Awkward("empty_content", {"latest_version": "1.0.0"}, (version("1.0.0", ""),)),
    Awkward("five_megabytes", {"latest_version": "1.0.0"},
            (version("1.0.0", LARGEST),)),
    Awkward("wrong_hash", {"latest_version": "1.0.0"},
            (version("1.0.0", content_hash=sha256("something else")),), remarks=("wrong_hash",)),
    Awkward("other_hash", {"latest_version": "1.0.0"}, (version("1.0.0", content_hash="md5:1"),)),
    Awkward("no_hash", {"latest_version": "1.0.0"}, (version("1.0.0", content_hash=None),)),
    Awkward("noël_Ⅷ_🧰", {"description": "Zażółć gęślą jaźń, 工具を探す", "tags": ["ünï", "工具"]}),
    Awkward("e\u0301clair", {"description": "A name that is not in its composed form."}),
    Awkward("hidden", {"description": "Looks harmless\u202e but is not."},
            (version("1.0.0"),), refused="hidden_characters"),
    Awkward("two\nlines", {}, refused="line_break"),
    Awkward("n" * 201, {}, refused="too_long"),
    Awkward("", {}, refused="no_name"),
    Awkward("no name", {"name": None}, refused="no_name"),
    Awkward("less_than_nothing", {"download_count": -5, "quality_score": "-0.50",
            "estimated_cost_usd": "-1.00"},
            remarks=("download_count", "quality_score", "estimated_cost_usd")),
    Awkward("no_number", {"quality_score": "NaN", "success_rate": "NaN"},
            remarks=("quality_score", "success_rate")),
    Awkward("for_ever", {"created_at": "-infinity", "updated_at": "infinity"},
            remarks=("created_at", "updated_at")),
    Awkward("ides_of_march", {"created_at": "0044-03-15 12:00:00+00 BC", "updated_at": MOMENT},
            (version("1.0.0", created_at="infinity"),),
            remarks=("latest_version", "created_at", "created_at")),
    Awkward("far_future", {"created_at": MOMENT, "updated_at": "20000-01-01 00:00:00+00"},
            remarks=("updated_at",)),
    Awkward("holes_in_lists", {"tags": ["a", None, "b"], "tech_stack": []},
            remarks=("null_in_list",)),
    Awkward("too_many_tags", {"tags": [f"t{i}" for i in range(200)]}, refused="too_many"),
    Awkward("no id", {"id": None}, refused="bad_id"),
)  # fmt: skip


OLD_DIRECTIVES = (
    Awkward("only_one_and_old", {"latest_version": "1.0"}, (version("1.0", "Do it.\n"),)),
    Awkward("old_and_new", {"latest_version": "1.0"},
            (version("1.0", "Do this.\n"), version("1.0.0", "Do that.\n"))),
    Awkward("latest", {"latest_version": "latest"}, (version("latest", "Do the rest.\n"),)),
)  # fmt: skip
"""Their numbers are not semantic, and nothing else is wrong with them."""


class Kiwi(NamedTuple):
    scripts: int
    directives: int
    entries: int


def make_kiwi(
    url: str,
    *,
    scripts: int,
    directives: int = 5,
    entries: int = 5,
    schema: str = "public",
    largest: int = BIG,
) -> None:
    """Make the old tables in this database, with so many ordinary rows and all awkward ones."""
    chance = random.Random(7)
    with psycopg.connect(url) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        if schema != "public":
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
        path = sql.SQL("SET search_path TO {}, public").format(sql.Identifier(schema))
        connection.execute(path)
        connection.execute(TABLES)
        ordinary = [_ordinary("script", n, chance) for n in range(scripts)]
        _fill(
            connection,
            "script",
            ordinary + [_awkward(n, a, largest) for n, a in enumerate(AWKWARD)],
        )
        orphan = version("1.0.0") | {"id": uid("orphan"), "script_id": uid("nobody")}
        lost = version("1.0.0") | {"id": uid("lost"), "script_id": None}
        _copy(connection, "script_versions", [orphan, lost])
        plain = [_ordinary("directive", n, chance) for n in range(directives)]
        _fill(connection, "directive", plain)
        old = [
            ({"id": uid("old directive", n), "name": each.name} | each.row, list(each.versions))
            for n, each in enumerate(OLD_DIRECTIVES)
        ]
        _fill(connection, "directive", old)
        _knowledge(connection, entries)
        _embeddings(connection, scripts)
    return Kiwi(scripts, directives, entries)


def _ordinary(kind: str, n: int, chance: random.Random) -> tuple[dict[str, Any], list[Any]]:
    verb, noun = VERBS[n % 10], NOUNS[n // 10 % 10]
    numbers = [f"1.{minor}.0" for minor in range(chance.randint(1, 4))]
    row = {
        "id": uid(kind, n),
        "name": f"{verb}_{noun}_{n}",
        "category": CATEGORIES[n % len(CATEGORIES)],
        "subcategory": None if n % 5 == 0 else "daily",
        "description": None if n % 11 == 0 else f"{verb.title()} one {noun} of project {n}.",
        "is_official": None if n % 13 == 0 else n % 4 == 0,
        "download_count": None if n % 17 == 0 else chance.randint(0, 9999),
        "quality_score": None if n % 3 == 0 else f"{chance.random():.2f}",
        "success_rate": None if n % 3 == 1 else f"{chance.random():.2f}",
        "estimated_cost_usd": None if n % 3 == 2 else f"{chance.random() * 9:.2f}",
        "tech_stack": None if n % 7 == 0 else ["python", noun],
        "tags": None if n % 6 == 0 else [verb, noun],
        "latest_version": numbers[-1],
        "created_at": f"2023-0{n % 9 + 1}-01 08:00:00.5+02",
        "updated_at": None if n % 19 == 0 else f"2024-0{n % 9 + 1}-01 08:00:00.{n:06d}+00",
    }
    contents = [f"def run():\n    return {n}, {number!r}\n" for number in numbers]
    versions = [
        version(number, content, changelog=None if n % 2 else f"Made {number}.")
        for number, content in zip(numbers, contents, strict=True)
    ]
    return row, versions


def _awkward(n: int, said: Awkward, largest: int) -> tuple[dict[str, Any], list[Any]]:
    versions = [
        version(each["version"], "# x\n" * (largest // 4)) if each["content"] == LARGEST else each
        for each in said.versions
    ]
    return {"id": uid("awkward", n), "name": said.name} | said.row, versions


def _fill(
    connection: psycopg.Connection[Any], kind: str, rows: Sequence[tuple[dict[str, Any], list[Any]]]
) -> None:
    _copy(connection, f"{kind}s", [row for row, _ in rows])
    _copy(
        connection,
        f"{kind}_versions",
        [
            {"id": uid(row["id"], place)} | each | {f"{kind}_id": row["id"]}
            for row, versions in rows
            for place, each in enumerate(versions)
        ],
    )


def _knowledge(connection: psycopg.Connection[Any], entries: int) -> None:
    rows: list[dict[str, Any]] = [
        {
            "id": uid("zettel", n),
            "zettel_id": f"z-{n:04d}",
            "title": None if n % 10 == 9 else f"What we learnt about {NOUNS[n % 10]} {n}",
            "content": f"# Lesson {n}\n\nAlways check the {NOUNS[n % 10]} twice.\n" * 3,
            "entry_type": ("pattern", "concept", "learning")[n % 3],
            "category": None if n % 4 == 0 else CATEGORIES[n % 6],
            "tags": None if n % 3 == 0 else [NOUNS[n % 10]],
            "created_at": MOMENT,
            "updated_at": MOMENT,
        }
        for n in range(entries)
    ]
    rows.append({"id": uid("long"), "zettel_id": "z-long", "content": "word " * 400_000})
    _copy(connection, "knowledge_entries", rows)
    links = [(n, n + 1, "extends") for n in range(entries - 1)] + [(0, 2, None)]
    related = [
        {"from_zettel_id": f"z-{a:04d}", "to_zettel_id": f"z-{b:04d}", "relationship_type": kind}
        for a, b, kind in links
    ]
    related.append({"from_zettel_id": "z-0000", "to_zettel_id": "z-none"})
    related.append({"from_zettel_id": "z-0000", "to_zettel_id": "z-0001",
                    "relationship_type": "extends"})  # fmt: skip
    _copy(connection, "knowledge_relationships", related)


def _embeddings(connection: psycopg.Connection[Any], scripts: int) -> None:
    """By id for most; by name, of the wrong length, of nothing and with odd metadata for some."""
    model = {"model": "hashed-ngrams"}

    def row(item_id: str, said: object, numbers: Sequence[float], **other: Any) -> dict[str, Any]:
        fields = {"item_id": item_id, "item_type": "script", "content": "Script: something"}
        return fields | {"metadata": json.dumps(said), "embedding": str(list(numbers))} | other

    def pointing(n: int) -> list[float]:
        return [1.0 if place == n % DIMENSION else 0.0 for place in range(DIMENSION)]

    rows = [row(uid("script", n), model, pointing(n)) for n in range(0, scripts, 2)]
    rows += [
        row("Case_Matters", model, pointing(1)),
        row(uid("script", 1), model, pointing(1)[:100]),
        row(uid("script", 3), {"model": "text-embedding-3-small"}, pointing(1)),
        row(uid("script", 5), {}, pointing(1)),
        row(uid("script", 7), model, [0.0] * DIMENSION),
        row(uid("script", 9), model, pointing(1), embedding=None),
        row(uid("nobody"), model, pointing(1)),
        row("nobody at all", model, pointing(1), metadata=r'{"said": "\u0000 \ud800"}'),
        row(uid("script", 11), model, pointing(1), item_type="directive"),
        row("z-0001", model, pointing(1), item_type="knowledge"),
    ]
    _copy(connection, "item_embeddings", rows)


def _copy(connection: psycopg.Connection[Any], table: str, rows: Sequence[dict[str, Any]]) -> None:
    names = sorted({name for row in rows for name in row})
    columns = sql.SQL(", ").join(map(sql.Identifier, names))
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), columns)
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row([row.get(name) for name in names])
