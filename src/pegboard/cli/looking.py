"""Commands that read a board: search, show."""

from typing import NamedTuple

import click

from pegboard.app.pegboard import Pegboard
from pegboard.cli import render
from pegboard.cli.answers import Form, print_answer
from pegboard.cli.opening import tell_if_no_source
from pegboard.cli.reaching import reached, tier_option
from pegboard.cli.shared import command_options, notice
from pegboard.cli.typed import Output, as_code, only_tools, output_option, wanted_output
from pegboard.config.settings import SearchSettings
from pegboard.errors import EXIT_NOTHING_FOUND, UsageError
from pegboard.model.answers import as_score
from pegboard.model.items import Filters, Kind, Mode, ToolType

MODES = click.Choice([mode.value for mode in Mode])
KINDS = click.Choice([kind.value for kind in Kind])
TYPES = click.Choice([each.value for each in ToolType])
STATES: dict[str, bool | None] = {"active": True, "inactive": False, "all": None}


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--mode", type=MODES, help="How to look. Default: hybrid.")
@click.option("--limit", type=click.IntRange(1, 1000), help="How many hits. Default: 5.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    help="Least fit of the best hit, 0 to 1; below it, no tool fits. 0 shows everything.",
)
@click.option("--nearest", is_flag=True, help="If no tool fits, show which come nearest.")
@click.option("--diverse", is_flag=True, help="Show one of several that are much alike.")
@click.option(
    "--executable", is_flag=True, help="Only tools that can be called now; asks their servers."
)
@click.option("--compact", is_flag=True, help="Short, for models.")
@click.option(
    "--budget-tokens",
    "budget",
    type=click.IntRange(min=1),
    metavar="N",
    help="For models: as many hits, and as much of each, as N tokens take.",
)
@click.option("--explain", is_flag=True, help="Show how each item came by its score.")
@click.option(
    "--model",
    metavar="NAME",
    help="Search by the vectors of this model, if the board has some: provider:model.",
)
@click.option(
    "--data-dir",
    metavar="PATH",
    help="Where your own board, keys and caches are. Default: where this system has such things.",
)
@click.option("--source", "sources", multiple=True, help="Only from here: mcptools, gentools, ...")
@click.option("--kind", "kinds", multiple=True, type=KINDS, help="Only this kind.")
@click.option("--category", "categories", multiple=True, help="Only this category.")
@click.option("--tag", "tags", multiple=True, help="Only with this tag.")
@click.option("--type", "tool_types", multiple=True, type=TYPES, help="Only this type.")
@click.option("--namespace", "namespaces", multiple=True, help="Only in this namespace.")
@click.option("--author", "authors", multiple=True, help="Only by this author.")
@click.option("--protocol", "protocols", multiple=True, help="Only read this way: mcp, ...")
@click.option("--domain", "domains", multiple=True, help="Only of this routing domain.")
@click.option(
    "--semantic-namespace",
    "semantic_namespaces",
    multiple=True,
    help="Only of this semantic namespace.",
)
@click.option(
    "--sensitivity", "sensitivity_tiers", multiple=True, help="Only of this sensitivity tier."
)
@click.option("--persona", "personas", multiple=True, help="Only for this persona.")
@click.option("--skill", "skills", multiple=True, help="Only tools of this skill.")
@click.option(
    "--linked", multiple=True, metavar="ID", help="Only what links to this, or is linked from it."
)
@click.option(
    "--state",
    type=click.Choice(list(STATES)),
    default="active",
    help="Inactive: gone from its source, held back or switched off. Default: active.",
)
@tier_option
@output_option
@command_options
def search(
    query: tuple[str, ...],
    mode: str | None,
    limit: int | None,
    threshold: float | None,
    nearest: bool,
    diverse: bool,
    executable: bool,
    compact: bool,
    budget: int | None,
    explain: bool,
    model: str | None,
    data_dir: str | None,
    state: str,
    tier: str | None,
    output: str | None,
    board: str | None,
    as_json: bool,
    **filters: tuple[str, ...],
) -> None:
    """Find tools, skills, directives and knowledge, in your own words.

    Options that filter can be given several times; any of the values will do.
    Exit code 0: found, 1: no tool fits.
    """
    wanted = wanted_output(output, as_json)
    form = Form(as_json, nearest, compact, budget, explain)
    _refuse_both(form)
    chosen = only_tools(wanted, form, Filters(active=STATES[state], **filters))
    with reached(board, tier, data_dir=data_dir) as there:
        _refuse_code(wanted if there.tiers else None)
        pegboard = there.board
        answer = there.search(
            " ".join(query),
            mode=mode,
            limit=limit,
            filters=chosen,
            threshold=threshold,
            diverse=diverse,
            explain=explain,
            executable=executable,
            model=model,
        )
        narrowed = executable or chosen != Filters()
        here = pegboard.settings.search if isinstance(pegboard, Pegboard) else None
        asked = _Asked(here, mode, threshold, narrowed)
        if not answer.hits and here and not there.tiers:
            tell_if_no_source(pegboard)
        code = as_code(pegboard, answer.hits, wanted) if answer.hits and wanted.is_code else ""
    notice(*answer.notices)
    if not answer.hits and not form.as_json:
        asked.tell_why_nothing(form, near=bool(answer.nearest))
    if code:
        click.echo(code)
    else:
        print_answer(answer, form)
    if not answer.hits:
        raise click.exceptions.Exit(EXIT_NOTHING_FOUND)


def _refuse_both(form: Form) -> None:
    if form.explain and form.for_models:
        short = "--compact" if form.compact else "--budget-tokens"
        raise UsageError(
            f"{short} and --explain do not go together: one shortens the hits for a model, "
            "the other tells a person all about them",
            f"leave out {short} or --explain",
        )


def _refuse_code(wanted: Output | None) -> None:
    """Of what is asked of several tiers."""
    if wanted is not None and wanted.is_code:
        raise UsageError(
            f"--output {wanted} is for one board: such code asks one gateway",
            "name one with --tier local, user or registry",
        )


class _Asked(NamedTuple):
    """What decided that nothing was found."""

    settings: SearchSettings | None
    """None if it is set elsewhere."""
    mode: str | None
    threshold: float | None
    filtered: bool

    def tell_why_nothing(self, form: Form, *, near: bool) -> None:
        lines = self._below(form) if near else self._empty()
        click.echo("\n  ".join(lines), err=True)

    def _below(self, form: Form) -> list[str]:
        closest = "" if form.nearest or form.explain else "--nearest shows the closest, "
        return [
            f"no tool fits: the best fit is below {self._least()}",
            f"{closest}--threshold 0 shows everything",
        ]

    def _least(self) -> str:
        least = self.threshold
        if least is None and self.settings is None:
            return "what the gateway asks for"
        if least is None and self.settings is not None:
            least = self.settings.threshold
        exact = float(as_score(least or 0.0)) == least
        return as_score(least or 0.0) if exact else f"{least:g}"

    def _empty(self) -> list[str]:
        lines = ["nothing found"]
        if (self.mode or (self.settings and self.settings.mode)) in (Mode.BM25, Mode.FUZZY):
            lines.append("this went by words alone; --mode hybrid goes by meaning as well")
        if self.filtered:
            lines.append("perhaps the filters leave nothing; try it without them")
        return lines


@click.command()
@click.argument("item", metavar="ID")
@tier_option
@command_options
def show(item: str, tier: str | None, board: str | None, as_json: bool) -> None:
    """Show everything about one item.

    ID is the whole id (mcptools:chat:post_message), category__name, or the bare name where only
    one item has it. Directives, knowledge and skills are shown as they are written.
    With --tier all, it is the one of the nearest tier that has it: project, user, registry.
    """
    with reached(board, tier, one=True) as there:
        found, ties, ran = there.holding(item).curate.about(item)
    if as_json:
        said = {name: value for name, value in found._asdict().items() if name != "key"}
        render.print_json(said | {"ties": ties, "runs": ran})
    else:
        render.entry(found, ties, ran)
