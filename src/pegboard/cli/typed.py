"""Answers to a search as code: how sure each hit is, a module to call them with, and an example."""

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

import click

from pegboard.cli.answers import Form
from pegboard.cli.opening import Board
from pegboard.config.settings import ServeSettings
from pegboard.errors import UsageError
from pegboard.model.answers import Hit, as_score
from pegboard.model.items import Filters, Item, Kind, qualified
from pegboard.text import harmless


class Output(StrEnum):
    TABLE = "table"
    TYPES = "types"
    PYTHON = "python"

    @property
    def is_code(self) -> bool:
        return self in (Output.TYPES, Output.PYTHON)


class Language(NamedTuple):
    name: str
    module: Callable[[Sequence[Item], str], str]
    usage: Callable[[Sequence[Item]], str]


output_option = click.option(
    "--output",
    type=click.Choice([each.value for each in Output]),
    help="For people, or as a module to call the tools with: types is TypeScript. Default: table.",
)


def wanted_output(said: str | None, as_json: bool) -> Output:
    """Raises `UsageError` for two that exclude one another."""
    if as_json and said is not None:
        raise UsageError(f"--json and --output {said} do not go together", "leave one of them out")
    return Output(said or Output.TABLE)


def only_tools(output: Output, form: Form, filters: Filters) -> Filters:
    """What may be found if it is to be called from code. Raises `UsageError`."""
    if not output.is_code:
        return filters
    other = [each for each in filters.kinds if each != Kind.TOOL]
    beside = {
        f"--kind {''.join(other[:1])}": bool(other),
        "--compact": form.compact,
        "--budget-tokens": form.budget is not None,
        "--explain": form.explain,
        "--nearest": form.nearest,
    }
    for option in (option for option, given in beside.items() if given):
        raise UsageError(
            f"{option} and --output {output} do not go together: that is code to call tools with",
            f"leave out {option}",
        )
    return filters._replace(kinds=(Kind.TOOL.value,))


def as_code(board: Board, hits: Sequence[Hit], output: Output) -> str:
    """Markdown: a table, the module for these tools, and how it is used."""
    items = [board.curate.chosen(f"{hit.namespace}/{hit.id}").item for hit in hits]
    address = gateway_address(board.settings.serve)
    language = _language(output)
    return "\n".join(
        [
            *_table(hits),
            "",
            _block(language, language.module(items, address)),
            "",
            f"Save it as `tools.{'ts' if output is Output.TYPES else 'py'}`, and use it:",
            "",
            _block(language, language.usage(items)),
        ]
    )


def gateway_address(settings: ServeSettings) -> str:
    """Where `pegboard serve` is reached with these settings, from this machine if from nowhere."""
    if settings.public_url:
        return settings.public_url.rstrip("/")
    everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 (not bound)
    host = everywhere.get(settings.host, settings.host)
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.port}"


def _language(output: Output) -> Language:
    """Loaded when it is needed: a search for people does without."""
    if output is Output.TYPES:
        from pegboard.serve.typed.typescript import typescript_module, typescript_usage

        return Language("typescript", typescript_module, typescript_usage)
    from pegboard.serve.typed.python import python_module, python_usage

    return Language("python", python_module, python_usage)


def _table(hits: Sequence[Hit]) -> list[str]:
    rows = [
        f"| {_cell(qualified(hit.namespace, hit.id))} | {as_score(hit.score)} "
        f"| {_cell('; '.join([hit.reason, *hit.notes]))} |"
        for hit in hits
    ]
    return ["| tool | score | reason |", "|---|---|---|", *rows]


def _cell(text: str) -> str:
    return re.sub(r"([\\|`])", r"\\\1", harmless(text))


def _block(language: Language, code: str) -> str:
    """A fence that nothing in the code ends, whatever descriptions have in them."""
    longest = max(map(len, re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language.name}\n{code.rstrip()}\n{fence}"
