"""Answers to a search: for people, for models, for programs."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import click

from pegboard.app.pegboard import located
from pegboard.cli.explaining import print_explanation
from pegboard.cli.render import clipped, print_json, width
from pegboard.config.places import keyring_folder
from pegboard.errors import PegboardError
from pegboard.gate.characters import visible
from pegboard.model.answers import Answer, Hit, RequestAnswer, as_score
from pegboard.model.items import Kind, qualified
from pegboard.search.budget import Told, compact, fit, grouped, title_of, together, tokens
from pegboard.text import first_sentence

UNNUMBERED = "0.0.0+"
"""So begins what is named after its content, because its source keeps no versions."""
NOT_FITTING = "none of these fits; they come nearest:"
NOTHING_FITS = "    no tool fits this request; --nearest shows the closest"


class Form(NamedTuple):
    """How an answer is wanted."""

    as_json: bool = False
    nearest: bool = False
    compact: bool = False
    budget: int | None = None
    explain: bool = False

    @property
    def for_models(self) -> bool:
        return self.compact or self.budget is not None


def print_answer(answer: Answer, form: Form) -> None:
    if form.as_json:
        print_json(_document(answer, form))
    elif not answer.requests:
        _print_one(answer, form)
    elif form.for_models and answer.hits:
        click.echo(grouped(answer, _within_budget(answer, form.budget)))
    elif form.for_models:
        _print_one(answer, form)
    elif answer.hits or form.nearest or form.explain:
        for number, request in enumerate(answer.requests, start=1):
            _print_request(number, request, form)


def _print_one(answer: Answer, form: Form) -> None:
    """The answer to one request."""
    if form.explain and answer.explanation:
        print_explanation(answer.explanation)
    elif form.for_models:
        _print_told(_told(answer.hits, form.budget))
    else:
        for number, hit in enumerate(answer.hits, start=1):
            _print_hit(f"{number:>2}.", hit)
    if form.nearest and answer.nearest:
        _print_nearest(answer.nearest, form)


def _print_request(number: int, request: RequestAnswer, form: Form) -> None:
    if number > 1:
        click.echo()
    click.secho(clipped(f"Request {number}: {visible(request.text)}", width()), bold=True)
    _print_one(request.answer, form)
    if not request.answer.hits and not form.nearest:
        click.secho(NOTHING_FITS, fg="yellow")


def _document(answer: Answer, form: Form) -> dict[str, object]:
    """The answer as every face has it; for models, with what each hit would cost them."""
    told = answer.as_document()
    if form.for_models:
        told |= {"hits": _short(answer.hits, form), "nearest": _short(answer.nearest, form)}
    if form.for_models and answer.requests:
        told["requests"] = [
            each.listed()._asdict() | {"nearest": _short(each.answer.nearest, form)}
            for each in answer.requests
        ]
    if form.budget is not None:
        told |= {"budget_tokens": form.budget, "tokens": tokens(_text(answer, form.budget))}
    return told


def _text(answer: Answer, budget: int) -> str:
    """What a model gets to read within the budget."""
    if answer.requests and answer.hits:
        return grouped(answer, _within_budget(answer, budget))
    return together(_told(answer.hits or answer.nearest, budget))


def _within_budget(answer: Answer, budget: int | None) -> list[Told]:
    """Hits of several requests, within what their headings leave of the budget."""
    if budget is None:
        return compact(answer.hits)
    every = compact(answer.hits)
    around = tokens(grouped(answer, every)) - tokens(together(every))
    return fit(answer.hits, budget - max(around, tokens(grouped(answer, ()))) - 1)


def _short(hits: Sequence[Hit], form: Form) -> list[dict[str, object]]:
    return [
        {
            "id": told.hit.id,
            "namespace": told.hit.namespace,
            "score": told.hit.score,
            **({"tier": told.hit.tier} if told.hit.tier else {}),
            "like_it": told.hit.like_it,
            "detail": told.detail.name.lower(),
            "tokens": tokens(told.text),
            "text": told.text,
        }
        for told in _told(hits, form.budget)
    ]


def _told(hits: Sequence[Hit], budget: int | None) -> list[Told]:
    return compact(hits) if budget is None else fit(hits, budget)


def _print_told(told: Sequence[Told]) -> None:
    if told:
        click.echo(together(told))


def _print_nearest(hits: Sequence[Hit], form: Form) -> None:
    click.secho(NOT_FITTING, fg=None if form.for_models else "yellow")
    if form.for_models:
        budget = None if form.budget is None else form.budget - tokens(NOT_FITTING) - 1
        _print_told(_told(hits, budget))
        return
    for hit in hits:
        _print_hit("  -", hit)


def _print_hit(mark: str, hit: Hit) -> None:
    room = width() - 4
    click.echo(
        f"{mark} "
        + click.style(qualified(hit.namespace, hit.id), bold=True)
        + click.style(f"  {as_score(hit.score)} {hit.match_type}", fg="green")
        + ("" if hit.kind is Kind.TOOL else f"  {hit.kind}")
        + (f"  {_standing(hit)}" if hit.tier else "")
    )
    if title := title_of(hit):
        click.echo(f"    {clipped(visible(title), room)}")
    if said := first_sentence(hit.description):
        click.echo(f"    {clipped(said, room)}")
    if hit.passage:
        click.echo(f"    {clipped(f'… {visible(hit.passage)}', room)}")
    click.secho(f"    {clipped(visible(hit.reason), room)}", dim=True)
    for note in hit.notes:
        click.secho(f"    {note}", fg="yellow")
    if others := hit.places[1:]:
        also = ", ".join(f"{each.tier} {each.version}".rstrip() for each in others)
        click.secho(f"    {clipped(f'also in: {also}', room)}", dim=True)
    if hit.like_it:
        like_it = f"and {len(hit.like_it)} like it: {', '.join(hit.like_it)}"
        click.secho(f"    {clipped(like_it, room)}", dim=True)


def _standing(hit: Hit) -> str:
    """The tier, the version, and who vouches for it."""
    numbered = hit.version and not hit.version.startswith(UNNUMBERED)
    where = f"{hit.tier} {hit.version}" if numbered else hit.tier
    if not hit.signed:
        return f"{where}, unsigned" + (f", by {visible(hit.author)}" if hit.author else "")
    doubt = "" if hit.signed == "trusted" else f" ({visible(hit.signed)})"
    return f"{where}, signed by {_name_of(hit.signer)}{doubt}"


@cache
def _name_of(signer: str) -> str:
    """What this person calls the key, if he knows it."""
    from pegboard.board.trust.keyring import Keyring  # a search needs none of this

    try:
        known = Keyring(keyring_folder(located().settings)).trusted().get(signer)
    except PegboardError:
        known = None
    return visible(known.name if known else signer)
