"""Commands that run tools: run, runs, secret."""

import base64
import json
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from types import FrameType

import click

from pegboard.cli import render
from pegboard.cli.opening import Board, open_board
from pegboard.cli.reaching import reached, tier_option
from pegboard.cli.shared import NumberRange, command_options, notice
from pegboard.errors import EXIT_CODES, EXIT_INTERRUPTED, CallError, UsageError
from pegboard.execute import keyring
from pegboard.gate.characters import visible
from pegboard.model.calls import Artifact, Asker, CallProgress, CallResult, Confined, Outcome
from pegboard.model.content import Json

LARGEST_INPUT = 32_000_000
PERSON = Asker("cli")
STDIN = "-"


@click.command()
@click.argument("tool", metavar="ID[@VERSION]")
@click.argument("strays", nargs=-1, metavar="")
@click.option(
    "--arg",
    "-a",
    "pairs",
    multiple=True,
    metavar="NAME=VALUE",
    help="One argument; can be repeated.",
)
@click.option(
    "--arguments",
    "text",
    metavar="OBJECT",
    help="All arguments as a JSON object; - reads it from standard input.",
)
@click.option(
    "--timeout-seconds",
    type=NumberRange(0.1, 86_400),
    metavar="SECONDS",
    help="Give up after so long.",
)
@click.option(
    "--approve", is_flag=True, help="Run it without asking, whatever there is to consider."
)
@click.option(
    "--save",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Keep the files that it makes in this folder.",
)
@tier_option
@command_options
def run(
    tool: str,
    strays: tuple[str, ...],
    pairs: tuple[str, ...],
    text: str | None,
    timeout_seconds: float | None,
    approve: bool,
    save: Path | None,
    tier: str | None,
    board: str | None,
    as_json: bool,
) -> None:
    """Run a tool, and print what it brings back; with --json, all about the call.

    What it prints on its way goes to standard error. Of a directive, skill or knowledge entry,
    the text is printed, with the inputs checked.
    Exit code 0: it went well, 11: it did not.

    \b
    pegboard run count_words --arg text="to be or not to be"
    pegboard run petstore:pets:list_pets --arguments '{"limit": 5, "tags": ["cat"]}'
    """
    if strays:
        raise UsageError(
            f"{strays[0]!r} belongs to nothing before it",
            'write --arg name=value for each argument, with quotes around spaces: --arg text="a b"',
        )
    with _interruptible(), reached(board, tier, one=True) as there:
        pegboard = there.holding(_without_version(tool), to_run=True)
        arguments = _arguments(pegboard, tool, pairs, _object(text))
        call = pegboard.prepare_call(
            tool,
            arguments,
            timeout_seconds=timeout_seconds,
            on_progress=_progress,
            asker=PERSON,
        )
        asks = text != STDIN and sys.stdin is not None and sys.stdin.isatty()
        ask = (lambda question: True) if approve else _confirmed if asks else None
        if call.question and ask is None:
            notice("somebody has to approve this, and nobody is here; --approve does")
        result = call.result(ask)
    kept = _kept(result.artifacts, save) if save else {}
    if as_json:
        files = [_file(each, kept) for each in result.artifacts]
        render.print_json(result.told(call.item.id, files))
    else:
        _tell(result, kept)
    if result.outcome is not Outcome.OK:
        raise click.exceptions.Exit(EXIT_CODES[CallError])


@contextmanager
def _interruptible() -> Iterator[None]:
    """SIGTERM ends a run as Ctrl-C does: with all that it started."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is ending already
        click.echo("stopped; the tool was ended, with all that it started", err=True)
        raise click.exceptions.Exit(EXIT_INTERRUPTED) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def _progress(progress: CallProgress) -> None:
    """From whichever thread it comes; only for a person who waits."""
    if progress.message and sys.stderr is not None and sys.stderr.isatty():
        click.secho(visible(progress.message), err=True, dim=True)


def _confirmed(question: str) -> bool:
    return click.confirm(visible(question), err=True)


def _object(text: str | None) -> dict[str, object]:
    if text == STDIN:
        text = sys.stdin.read(LARGEST_INPUT)
    if text is None:
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the arguments are no JSON: {error}", 'write {"name": ...}') from error
    if not isinstance(found, dict):
        raise UsageError(f"the arguments are {text[:60]!r}", "they must be a JSON object")
    return found


def _arguments(
    board: Board, tool: str, pairs: Sequence[str], found: dict[str, object]
) -> dict[str, object]:
    if not pairs:
        return found
    properties = board.show(_without_version(tool)).item.input_schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            lacks = "value" if name else "name"
            raise UsageError(f"--arg {pair!r} has no {lacks}", "write --arg name=value")
        if name in found:
            raise UsageError(f"the argument {name!r} is given twice", "give it once")
        found[name] = _value(value, known.get(name))
    return found


def _without_version(tool: str) -> str:
    if "@" not in tool:
        return tool
    from pegboard.board.describe.versions import split  # with it comes what reads manifests

    return split(tool)[0]


def _value(text: str, schema: object) -> object:
    """A text where the tool takes one, else what it is as JSON."""
    if "string" in _types(schema):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _types(schema: object) -> set[str]:
    if not isinstance(schema, Mapping):
        return set()
    said = schema.get("type", ())
    found = {said} if isinstance(said, str) else set(said)
    for key in ("anyOf", "oneOf"):
        parts = schema.get(key)
        for part in parts if isinstance(parts, list) else ():
            found |= _types(part)
    choices = schema.get("enum")
    texts = isinstance(choices, list) and any(isinstance(each, str) for each in choices)
    return found | ({"string"} if texts else set())


def _kept(artifacts: Sequence[Artifact], folder: Path) -> dict[str, str]:
    """Each under its own name in the folder: nothing hidden, and nothing by way of a link."""
    kept = {}
    for each in artifacts:
        parts = PurePosixPath(each.name).parts
        path = folder.joinpath(*parts)
        hidden = any(part.startswith(".") or part == "/" for part in parts)
        try:
            inside = path.resolve().is_relative_to(folder.resolve()) and not path.is_symlink()
            if hidden or not inside:
                notice(
                    f"{visible(each.name)} is not kept: its name begins with a dot or leads away"
                )
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(each.content)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from error
        kept[each.name] = str(path)
    return kept


def _tell(result: CallResult, kept: Mapping[str, str]) -> None:
    if result.logs:
        click.secho(visible(result.logs.rstrip()), err=True, dim=True)
    for block in result.content:
        text = _shown(block)
        # A terminal would do what a tool writes; a file or pipe gets it as it is.
        text = visible(text) if sys.stdout.isatty() else text
        click.echo(text, nl=not text.endswith("\n"))
    for each in result.artifacts:
        where = visible(kept.get(each.name) or "--save DIR keeps it")
        notice(f"it made {visible(each.name)}, {len(each.content):,} bytes: {where}")
    if result.sandbox is Confined.NOTHING:
        notice("it ran without a sandbox; install bubblewrap to have one")
    if result.outcome is not Outcome.OK:
        said = visible(result.error) or "see above"
        click.secho(f"{result.outcome}: {said}", fg="red", err=True)


def _shown(block: Json) -> str:
    if block.get("type") == "text":
        return str(block.get("text"))
    return json.dumps(dict(block), ensure_ascii=False, default=dict)


def _file(artifact: Artifact, kept: Mapping[str, str]) -> dict[str, object]:
    path = kept.get(artifact.name)
    return {
        "name": artifact.name,
        "media_type": artifact.media_type,
        "bytes": len(artifact.content),
        **({"path": path} if path else {"base64": base64.b64encode(artifact.content).decode()}),
    }


@click.command()
@click.argument("item", metavar="[ID]", required=False)
@click.option("--limit", type=click.IntRange(1, 1000), default=20, help="How many. Default: 20.")
@command_options
def runs(item: str | None, limit: int, board: str | None, as_json: bool) -> None:
    """Show how runs ended, the newest first, of one tool or of all.

    What was given to a tool and what it gave back is not kept.
    """
    with open_board(board) as pegboard:
        found = pegboard.runs(item, limit)
    if as_json:
        render.print_json({"runs": found})
        return
    if not found:
        click.echo("nothing was run here yet", err=True)
    for each in found:
        name = f"{each.id}@{each.version}" if each.version else each.id
        click.echo(
            f"{render.ago(each.at):<16} {each.outcome:<18} {each.seconds:>8.2f} s  {name}"
            + (f"  by {each.caller}" if each.caller else "")
        )


@click.group()
def secret() -> None:
    """Keep secrets of tools in the system's keyring.

    A variable of the same name in the environment goes before the keyring.
    """


@secret.command("set")
@click.argument("name")
def set_secret(name: str) -> None:
    """Put a secret into the keyring; it is asked for, or read from standard input."""
    if sys.stdin.isatty():
        value = click.prompt(name, hide_input=True, err=True)
    else:
        value = sys.stdin.read(LARGEST_INPUT).rstrip("\n")
    if not value:
        raise UsageError(f"{name} is empty", "give a value")
    keyring.keep(name, value)
    click.echo(f"{name} is in the keyring", err=True)


@secret.command("forget")
@click.argument("name")
def forget_secret(name: str) -> None:
    """Remove a secret from the keyring."""
    if not keyring.forget(name):
        raise UsageError(f"there is no secret {name} in the keyring")
    click.echo(f"{name} is gone from the keyring", err=True)
