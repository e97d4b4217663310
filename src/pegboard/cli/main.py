"""The `pegboard` command: its subcommands, and what becomes of errors."""

import atexit
import errno
import gc
import io
import json
import logging
import os
import signal
import sys
from typing import NoReturn

import click

from pegboard import __version__
from pegboard.cli import (
    connecting,
    creating,
    curating,
    database,
    filling,
    looking,
    measuring,
    models,
    publishing,
    releases,
    running,
    schema,
    services,
    serving,
    signing,
    tiers,
    tokens,
    upkeep,
)
from pegboard.cli.gateways import offer_gateways
from pegboard.errors import EXIT_INTERRUPTED, PegboardError, UsageError, exit_code

log = logging.getLogger(__name__)

UNEXPECTED = 70
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version")
def cli() -> None:
    """Every tool your agents have, found in milliseconds.

    Begin with: pegboard init; pegboard add folder PATH; pegboard search "..."
    """


for command in (
    filling.init,
    filling.add,
    filling.remove,
    filling.sync,
    tiers.rebuild,
    tiers.sync_user,
    looking.search,
    looking.show,
    running.run,
    running.runs,
    running.secret,
    creating.create,
    measuring.eval_,
    connecting.allow,
    connecting.changes,
    connecting.approve,
    curating.description,
    curating.tags,
    curating.deactivate,
    curating.activate,
    curating.delete,
    curating.history,
    curating.links,
    curating.rejections,
    signing.keys,
    signing.sign,
    signing.verify,
    schema.schema,
    publishing.publish,
    publishing.pull,
    releases.versions,
    releases.diff,
    releases.yank,
    releases.unyank,
    releases.deprecate,
    releases.visibility,
    releases.transfer,
    releases.audit,
    serving.mcp,
    serving.serve,
    serving.prompt,
    tokens.token,
    upkeep.status,
    upkeep.worker,
    upkeep.backfill,
    upkeep.retry,
    upkeep.refresh,
    upkeep.doctor,
    database.db,
    models.model,
):
    cli.add_command(command)
filling.add.add_command(connecting.add_mcp)
filling.add.add_command(services.add_openapi)
filling.add.add_command(services.add_lightapi)
offer_gateways(cli)


def tell(error: PegboardError) -> None:
    """To people in words, to programs that asked for JSON as an object."""
    if _asked_for_json():
        facts = {"code": error.code, "message": error.message, "hint": error.hint}
        click.echo(json.dumps({"error": facts}), err=True)
    else:
        click.secho(f"error: {error}", fg="red", err=True)


def tell_usage(error: click.ClickException) -> None:
    """What is wrong with the command line itself: in click's words, or as any other error."""
    if not _asked_for_json():
        error.show()
        return
    context = getattr(error, "ctx", None)
    name = context.command_path if context else cli.name
    tell(UsageError(error.format_message(), f"see what it takes: {name} --help"))


def _asked_for_json() -> bool:
    """What stands after -- is for another program."""
    own = sys.argv[: sys.argv.index("--")] if "--" in sys.argv else sys.argv
    return "--json" in own


def _known_end(error: Exception) -> int | None:
    """The exit code for what went wrong, once it is told; none if nobody foresaw it."""
    if isinstance(error, click.ClickException):
        tell_usage(error)
        return error.exit_code
    if isinstance(error, BrokenPipeError):  # the reader has gone away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        error = PegboardError(
            f"there is no room to write: {error.strerror}",
            "make some, where the answer goes or where the board is; nothing on it was lost",
        )
    if isinstance(error, PegboardError):
        tell(error)
        return exit_code(error)
    return None


def main() -> NoReturn:
    gc.set_threshold(100_000)  # starting makes many objects and hardly any garbage,
    atexit.register(gc.freeze)  # and at the end nobody need look for it
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # whatever the terminal cannot show
    out = sys.stdout
    try:
        code = cli.main(standalone_mode=False, prog_name="pegboard")
        if sys.stdout is not None:  # as when it was closed by whoever started us
            sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is ending already
        click.echo("stopped; nothing is lost, run it again to go on", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except SystemExit:
        if sys.stdout is out:
            raise
        sys.exit(0)  # click has put another there: the reader has gone away, which is no failure
    except Exception as error:
        if (known := _known_end(error)) is None:
            log.exception("pegboard met an error it does not know; please report it")
        sys.exit(UNEXPECTED if known is None else known)
    sys.exit(code if isinstance(code, int) else 0)
