"""Commands about services as sources: add openapi, add lightapi."""

import click

from pegboard.app import Pegboard
from pegboard.cli import render
from pegboard.cli.filling import finish_adding, no_sync_option, read_now
from pegboard.cli.shared import command_options
from pegboard.sources.openapi.location import with_headers

header_option = click.option(
    "--header", "headers", multiple=True, metavar="'NAME: VALUE'", help="Sent to the URL."
)
name_option = click.option("--name", help="What to call the source. Default: the host or file.")
namespace_option = click.option(
    "--namespace", default="public", show_default=True, help="Where its tools hang."
)


@click.command("openapi")
@click.argument("location", metavar="FILE_OR_URL")
@name_option
@namespace_option
@header_option
@no_sync_option
@command_options
def add_openapi(
    location: str,
    name: str | None,
    namespace: str,
    headers: tuple[str, ...],
    no_sync: bool,
    board: str | None,
    as_json: bool,
) -> None:
    """Add the operations of a service that OpenAPI 3 or Swagger 2.0 describes, and read them.

    \b
    pegboard add openapi petstore.yaml
    pegboard add openapi https://example.com/openapi.json --header 'Authorization: Bearer ${TOKEN}'

    JSON or YAML, also gzipped. Secrets are written as ${NAME} and read from the environment
    whenever the document is fetched; they are never stored.
    """
    _add_document(
        "openapi", with_headers(location, headers), name, namespace, no_sync, board, as_json
    )


@click.command("lightapi")
@click.argument("location", metavar="FILE_OR_URL")
@name_option
@namespace_option
@header_option
@no_sync_option
@command_options
def add_lightapi(
    location: str,
    name: str | None,
    namespace: str,
    headers: tuple[str, ...],
    no_sync: bool,
    board: str | None,
    as_json: bool,
) -> None:
    """Add the operations of a LightAPI description, as light-portal has them, and read them.

    \b
    pegboard add lightapi courier.lightapi.yaml
    pegboard add lightapi https://example.com/courier.yaml --header 'Authorization: Bearer ${TOKEN}'

    JSON or YAML, version 0.1.0 of the specification.
    """
    _add_document(
        "lightapi", with_headers(location, headers), name, namespace, no_sync, board, as_json
    )


def _add_document(
    kind: str,
    location: str,
    name: str | None,
    namespace: str,
    no_sync: bool,
    board: str | None,
    as_json: bool,
) -> None:
    with Pegboard.open(board) as pegboard:
        record = pegboard.add_source(kind, location, name=name, namespace=namespace)
        if not as_json:
            click.echo(f"added {record.name}: {record.location}")
        reading = None if no_sync else read_now(pegboard, [record.name], as_json=as_json)
    if as_json:
        sync = reading.report(record.name) if reading else None
        render.print_json(record._asdict() | {"sync": sync})
    finish_adding(reading, as_json=as_json)
