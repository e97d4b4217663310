"""Commands about services as sources: add openapi, add lightapi."""

from collections.abc import Callable
from typing import Any

import click

from pegboard.cli.filling import no_sync_option, tell_added
from pegboard.cli.opening import open_board
from pegboard.cli.shared import command_options
from pegboard.sources.documents.location import with_headers


def document_options(command: Callable[..., None]) -> Callable[..., None]:
    """Where the document is, and what every command that adds one takes."""
    for option in (
        command_options,
        no_sync_option,
        click.option(
            "--header", "headers", multiple=True, metavar="'NAME: VALUE'", help="Sent to the URL."
        ),
        click.option(
            "--namespace", default="public", show_default=True, help="Where its tools hang."
        ),
        click.option("--name", help="What to call the source. Default: the host or file."),
        click.argument("location", metavar="FILE_OR_URL"),
    ):
        command = option(command)
    return command


@click.command("openapi")
@document_options
def add_openapi(**given: Any) -> None:  # noqa: ANN401 (as the options say)
    """Add the operations of a service that OpenAPI 3 or Swagger 2.0 describes, and read them.

    \b
    pegboard add openapi petstore.yaml
    pegboard add openapi https://example.com/openapi.json --header 'Authorization: Bearer ${TOKEN}'

    JSON or YAML, also gzipped. Secrets are written as ${NAME} and read from the environment
    whenever the document is fetched; they are never stored.
    """
    _add_document("openapi", **given)


@click.command("lightapi")
@document_options
def add_lightapi(**given: Any) -> None:  # noqa: ANN401 (as the options say)
    """Add the operations of a LightAPI description, as light-portal has them, and read them.

    \b
    pegboard add lightapi courier.lightapi.yaml
    pegboard add lightapi https://example.com/courier.yaml --header 'Authorization: Bearer ${TOKEN}'

    JSON or YAML, version 0.1.0 of the specification.
    """
    _add_document("lightapi", **given)


def _add_document(
    kind: str,
    location: str,
    name: str | None,
    namespace: str,
    headers: tuple[str, ...],
    no_sync: bool,
    board: str | None,
    as_json: bool,
) -> None:
    place = with_headers(location, headers)
    with open_board(board) as pegboard:
        record = pegboard.add_source(kind, place, name=name, namespace=namespace)
        tell_added(pegboard, record, sync=not no_sync, as_json=as_json)
