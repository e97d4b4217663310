"""Why an answer is as it is, for people."""

from collections.abc import Mapping

import click

from pegboard.cli.render import cells, wrapped
from pegboard.gate.characters import visible
from pegboard.model.answers import Explanation, HitFact, WordFact, as_score
from pegboard.search.boosts import total
from pegboard.text import terms, words

SHOWN = "shown"


def print_explanation(found: Explanation) -> None:
    spelled = _spelled(found)
    click.echo(wrapped(f"query      {visible(found.query)}", ""))
    if found.services:
        only = ", ".join(map(visible, found.services))
        said = f"services   {only}: named in the query; only these sources were searched"
        click.echo(wrapped(said, ""))
    _print_words(found, spelled)
    click.echo(wrapped(f"weights    {_weights(found.weights)}", ""))
    click.echo(f"threshold  {found.threshold:g}")
    for number, fact in enumerate(found.items, start=1):
        click.echo()
        _print_item(number, fact, spelled, by_places="k" in found.weights)


def _spelled(found: Explanation) -> dict[str, str]:
    """Terms are stems; what a reader knows are the words they come from."""
    read = [word for fact in found.words for word in fact.read_as]
    return {term: word for word in reversed((*words(found.query), *read)) for term in terms(word)}


def _print_words(found: Explanation, spelled: Mapping[str, str]) -> None:
    if not any(name.startswith("best ") for name in found.weights):
        click.echo(wrapped("words      not looked up: this search went by meaning alone", ""))
        return
    named = [(spelled.get(fact.term, fact.term), fact) for fact in found.words]
    column = max((cells(word) for word, _ in named), default=0)
    click.echo("words")
    for word, fact in named:
        gap = " " * (column - cells(word))
        click.echo(wrapped(f"{word}{gap}  {_word_state(fact)}".strip(), "  "))


def _word_state(fact: WordFact) -> str:
    read = ", ".join(f"“{word}”" for word in fact.read_as)
    if not fact.known:
        return f"unknown, read as {read}" if read else "unknown"
    parts = ["known"]
    if fact.items:
        parts.append(f"in about {fact.items:,} items")
    if not fact.used:
        parts.append("left out as too common")
    if read:
        parts.append(f"also read as {read}")
    return ", ".join(parts)


def _weights(found: Mapping[str, float]) -> str:
    others = {name: value for name, value in found.items() if name != "alpha"}
    alpha = found.get("alpha", 0.0)
    shown = {"meaning": alpha, "words": 1 - alpha, **others}
    return ", ".join(f"{name} {value:.4g}" for name, value in shown.items())


def _print_item(number: int, fact: HitFact, spelled: Mapping[str, str], *, by_places: bool) -> None:
    click.echo(
        f"{number:>2}. "
        + click.style(fact.id, bold=True)
        + f"  {as_score(fact.score)}  "
        + click.style(fact.fate, fg="green" if fact.fate == SHOWN else "yellow")
    )
    ranked_by = f"ranker: {'; '.join(fact.ranked_by)}" if fact.ranked_by else ""
    for line in (_sum(fact, by_places=by_places), _legs(fact), _fields(fact, spelled), ranked_by):
        if line:
            click.echo(wrapped(line, "    "))


def _sum(fact: HitFact, *, by_places: bool) -> str:
    boost = total(fact.boosts)
    parts = {"places": fact.fused - boost} if by_places else _sides(fact)
    said = " + ".join(f"{name} {value:.3f}" for name, value in (parts | {"boosts": boost}).items())
    which = ", ".join(f"{name} {value:.3f}" for name, value in fact.boosts.items())
    return f"fused {fact.fused:.3f} = {said}" + (f" ({which})" if which else "")


def _sides(fact: HitFact) -> dict[str, float]:
    sides = {"meaning": fact.meaning, "words": fact.words}
    return sides | ({"ranker": fact.ranker} if fact.ranker else {})


def _legs(fact: HitFact) -> str:
    return "; ".join(
        f"{leg} {score:.2f}, " + (f"place {fact.ranks[leg]}" if leg in fact.ranks else "no place")
        for leg, score in fact.raw.items()
    )


def _fields(fact: HitFact, spelled: Mapping[str, str]) -> str:
    return "; ".join(
        f"{name}: " + ", ".join(dict.fromkeys(spelled.get(term, term) for term in held))
        for name, held in fact.fields.items()
    )
