"""What the ranker finds for and against an item, in phrases."""

from collections.abc import Iterator

from pegboard.search.action_fit import effect_fit, fit_action, item_actions, sameness
from pegboard.search.ranker import (
    FEATURES,
    Card,
    Question,
    Signals,
    features,
    is_same_request,
    with_compounds,
)
from pegboard.text import stems

NEARLY = 0.8
"""Share of the stems of a title and a question that both have, from which on they are alike."""


def explain(question: Question, card: Card) -> tuple[str, ...]:
    """What speaks for and against an item, in phrases. The trees weigh these together."""
    (values,) = features(question, [card], [Signals(0.0, 0.0, 0.0)])
    row = dict(zip(FEATURES, values, strict=True))
    if question.own and card.mine is not None:
        card = card.mine
    found = list(_covering(question, card))
    if is_same_request(question, card):
        found.append("name or title says the same as the question")
    elif row["title_overlap"] >= NEARLY:
        found.append("title is nearly the question")
    found += _fitting(question, card)
    for name in ("name", "title"):
        if more := int(row[f"more_in_{name}"]):
            found.append(f"{more} extra {'word' if more == 1 else 'words'} in the {name}")
    if row["own"]:
        found.append("is for the caller's own" + ("" if row["own"] > 0 else ", not asked for"))
    if row["number"]:
        one, many = "about one", "about many"
        asked, other = (many, one) if question.number > 0 else (one, many)
        found.append(f"is {asked}" if row["number"] > 0 else f"is {other}, not {asked}")
    return tuple(found)


def _covering(question: Question, card: Card) -> Iterator[str]:
    """Name the words of the question that each part of an item has and no earlier part had."""
    bits = question.match(with_compounds(question, card.name))[0]
    seen = bits | bits >> len(question.stems)
    if covered := _spell(question, seen):
        yield f"name covers {covered}"
    parts = {
        "title": question.match(card.title)[0],
        "labels": question.find(card.labels),
        "parameters": question.find(card.parameters),
        "description": question.find(card.description),
    }
    for part, bits in parts.items():
        more = bits | bits >> len(question.stems)
        if covered := _spell(question, more & ~seen):
            yield f"{part} {'cover' if part.endswith('s') else 'covers'} {covered}"
        seen |= more
    if fit_action(question.verb, card.acts).fits:
        seen |= question.equal & ~question.subject
    if missing := _spell(question, ~seen):
        yield f"nothing covers {missing}"


def _fitting(question: Question, card: Card) -> Iterator[str]:
    """Name the actions of an item that fit that of the question, and those that do not."""
    for action in dict.fromkeys(item_actions(card.acts)):
        same, effect = sameness(question.verb, (action,)), effect_fit(question.verb, action)
        wanted = "" if action == question.verb else f" {question.verb}"
        if same or effect:
            fits = same > 0 or (same == 0 and effect > 0)
            yield f"action {action} {'fits' if fits else 'does not fit'}{wanted}"


def _spell(question: Question, bits: int) -> str:
    """Return the words of the question that these bits stand for."""
    spelled = {stem: word for word in reversed(question.said) for stem in stems(word)}
    told = [stem for place, stem in enumerate(question.stems) if bits >> place & 1]
    return ", ".join(f"'{spelled.get(stem, stem)}'" for stem in told)
