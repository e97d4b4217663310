"""What the ranker finds for and against an item, in phrases."""

from collections.abc import Iterator

from pegboard.search.ranker import (
    FEATURES,
    Card,
    Question,
    Signals,
    features,
    is_same_request,
    with_compounds,
)
from pegboard.search.verb_fit import HINTS, telling_verbs
from pegboard.text import stems
from pegboard.verbs import verb_form

TOLD_FIT = 0.3
"""Association of two verbs, as a logarithm of odds, from which on it is mentioned."""
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
    if question.actions[card.acts].verb > 0:
        seen |= _verb_bits(question)
    if missing := _spell(question, ~seen):
        yield f"nothing covers {missing}"


def _fitting(question: Question, card: Card) -> Iterator[str]:
    """Name the actions of an item that fit that of the question, and those that do not."""
    effect = card.acts[1].split()[:1]
    actions = [each for action in effect for each in action.split("|")]
    for action in dict.fromkeys((*telling_verbs(card.acts), *actions)):
        fit = max(question.fits[each] for each in HINTS.get(action, (action,)))
        wanted = "" if action == question.verb else f" {question.verb}"
        if abs(fit) >= TOLD_FIT:
            yield f"action {action} {'fits' if fit > 0 else 'does not fit'}{wanted}"


def _spell(question: Question, bits: int) -> str:
    """Return the words of the question that these bits stand for."""
    spelled = {stem: word for word in reversed(question.said) for stem in stems(word)}
    told = [stem for place, stem in enumerate(question.stems) if bits >> place & 1]
    return ", ".join(f"'{spelled.get(stem, stem)}'" for stem in told)


def _verb_bits(question: Question) -> int:
    """Return the bits of the question's verb."""
    verbs = [word for word in question.said if verb_form(word) == question.verb]
    forms = {stem for word in verbs for stem in stems(word)}
    return sum(1 << place for place, stem in enumerate(question.stems) if stem in forms)
