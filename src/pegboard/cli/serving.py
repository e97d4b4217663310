"""Commands that serve a board: mcp, serve, prompt. What serves is loaded only when it is needed."""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import click

from pegboard.app.pegboard import Pegboard, located, located_pytools
from pegboard.cli import render
from pegboard.cli.opening import chosen_gateway
from pegboard.cli.shared import board_option, command_options, json_option
from pegboard.config.gateway import GatewayPlace
from pegboard.errors import UsageError
from pegboard.model.calls import Caller
from pegboard.model.items import Filters
from pegboard.serve.prompt import Profile, Workflow, workflow

PROFILES = click.Choice([each.value for each in Profile])


class Served(NamedTuple):
    """A board to serve, and how."""

    board: Pegboard
    tools_dir: str = ""
    sync: bool = True
    watch: bool = True


@click.command()
@click.option("--profile", type=PROFILES, default=Profile.PEGBOARD.value, show_default=True)
@click.option("--namespace", "namespaces", multiple=True, help="Show only this namespace.")
@click.option("--no-sync", is_flag=True, help="Serve the board as it is.")
@click.option("--no-watch", is_flag=True, help="Do not follow changes of files.")
@board_option
def mcp(
    profile: str, namespaces: tuple[str, ...], no_sync: bool, no_watch: bool, board: str | None
) -> None:
    """Serve the board to an agent, over MCP on standard input and output.

    A client starts this itself: give it the command "pegboard" with the argument "mcp". Sources are
    synced and watched, and what is new is embedded, in the background: searches work at once.

    --profile pytools takes the place of freeact's search server and reads its PYTOOLS_ variables.

    With --gateway, the client speaks with the MCP server of the gateway, as who the token is of.
    """
    if (place := chosen_gateway(board)) is not None:
        if profile != Profile.PEGBOARD or namespaces or no_sync or no_watch:
            raise UsageError(
                "--profile, --namespace, --no-sync and --no-watch are for a board here: "
                "a gateway serves as it is set",
                "leave them out",
            )
        _serve_from(place)
        return
    from pegboard.app.live import kept
    from pegboard.serve.mcp.face import make_face
    from pegboard.serve.mcp.stdio import end_process, run_stdio

    logging.basicConfig(level=logging.WARNING, format="pegboard: %(message)s")
    with _served(profile, board) as served:
        _refuse_circle(served.board)
        served.board.within = Filters(namespaces=namespaces)
        face = make_face(served.board, profile, tools_dir=served.tools_dir)
        with kept(
            served.board,
            sync=served.sync and not no_sync,
            watch=served.watch and not no_watch,
            on_change=face.board_changed,
        ):
            run_stdio(face)
    end_process()


def _serve_from(place: GatewayPlace) -> None:
    from pegboard.remote.board import RemoteBoard
    from pegboard.serve.mcp.bridge import run_bridge
    from pegboard.serve.mcp.stdio import end_process

    logging.basicConfig(level=logging.WARNING, format="pegboard: %(message)s")
    with RemoteBoard(place, located().settings) as there:  # to say at once what is wrong
        if refusal := there.examined().refusal:
            raise refusal
    run_bridge(place)
    end_process()


def _refuse_circle(board: Pegboard) -> None:
    here = board.address
    if here in board.boards_above():
        raise UsageError(
            f"{here} is served by the Pegboard that started this one, and so on without end",
            "remove the server that is Pegboard itself: pegboard remove NAME",
        )


@contextmanager
def _served(profile: str, board: str | None) -> Iterator[Served]:
    from pegboard.app.live import open_pytools

    if profile == Profile.PYTOOLS:
        place = located_pytools()
        for notice in place.notices:
            logging.warning(notice)
        with open_pytools(place) as pegboard:
            yield Served(pegboard, str(place.folder), place.sync, place.watch)
    else:
        # A client that is set up before the board is made should find an empty one, not an error.
        here = located(board=board)
        kind = _tiered() if here.settings.search.tier != "local" else Pegboard
        with kind.at(here, create=board is None) as pegboard:
            yield Served(pegboard)


def _tiered() -> type[Pegboard]:
    from pegboard.tiers.serving import TieredBoard  # with it comes an HTTP client

    return TieredBoard


@click.command()
@click.option("--host", help="Address to listen on. Default: 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65_535), help="Default: 8420; 0 takes a free one.")
@click.option(
    "--open", "opened", is_flag=True, help="Programs of this machine need no token, as admins."
)
@click.option(
    "--print-link",
    is_flag=True,
    help="Print a link that signs in a browser once, as on a terminal.",
)
@click.option("--log", "logged", is_flag=True, help="A line for each request, on standard error.")
@click.option("--no-sync", is_flag=True, help="Serve the board as it is.")
@click.option("--no-watch", is_flag=True, help="Do not follow changes of files.")
@command_options
def serve(
    host: str | None,
    port: int | None,
    opened: bool,
    print_link: bool,
    logged: bool,
    no_sync: bool,
    no_watch: bool,
    board: str | None,
    as_json: bool,
) -> None:
    """Serve the board over HTTP: to programs, to agents, and to people in a browser.

    Says where as soon as it can be asked. Ctrl-C or SIGTERM ends it, once requests in hand are
    answered; a second one ends it at once.
    """
    from pegboard.app.live import kept
    from pegboard.serve.http.gateway import Gateway
    from pegboard.serve.http.rates import RatedSignIn
    from pegboard.serve.http.signin import BoardSignIn
    from pegboard.serve.http.starting import refuse_open_doors, welcome
    from pegboard.serve.mcp.stdio import end_process
    from pegboard.serve.process.running import listening, run_http, url_of
    from pegboard.serve.searchers import searchers_for

    logging.basicConfig(level=logging.WARNING, format="pegboard: %(message)s")
    logging.getLogger("pegboard.requests").setLevel(logging.INFO if logged else logging.WARNING)
    # Of what it warns, the gateway's answers tell; of clients that left, nobody wants to know.
    logging.getLogger("mcp").setLevel(logging.ERROR)
    logging.getLogger("mcp.client").setLevel(logging.CRITICAL)
    said = {"serve__host": host, "serve__port": port, "serve__loopback": "admin" * opened}
    flags = {name: value for name, value in said.items() if value not in (None, "")}
    with Pegboard.open(board, create=board is None, **flags) as pegboard:
        _refuse_circle(pegboard)
        found = pegboard.settings.serve
        refuse_open_doors(pegboard, found)
        if found.loopback == "off":
            # So that a database which does not let it act for others says so at once.
            pegboard.seen_by(Caller())
        sign_in = BoardSignIn(pegboard, found)
        gateway = Gateway(pegboard, RatedSignIn(sign_in, found.requests_per_minute))
        gateway.note_trust()
        sock = listening(found.host, found.port)
        said_so = welcome(sign_in, sock.getsockname()[1], link=print_link or sys.stderr.isatty())

        def tell() -> None:
            if as_json:
                click.echo(json.dumps({"url": url_of(sock, found.host)}))
            for line in (*said_so, f"the board is {pegboard.address}"):
                click.echo(f"pegboard: {line}", err=True)

        with (
            sock,
            searchers_for(pegboard),
            kept(pegboard, sync=not no_sync, watch=not no_watch, on_change=gateway.board_changed),
        ):
            run_http(gateway, sock, tell, logged=logged)
    end_process()


@click.command()
@click.option(
    "--mode",
    type=click.Choice([each.value for each in Workflow]),
    default=Workflow.HYBRID.value,
    show_default=True,
    help="By searching, or by browsing categories.",
)
@click.option("--prefix", default="", help="What the client puts before tool names.")
@click.option("--profile", type=PROFILES, default=Profile.PEGBOARD.value, show_default=True)
@json_option
def prompt(mode: str, prefix: str, profile: str, as_json: bool) -> None:
    """Print how to find tools, for an agent's system prompt."""
    text = workflow(mode, prefix=prefix, profile=profile)
    if as_json:
        render.print_json({"mode": mode, "prompt": text})
    else:
        click.echo(text)
