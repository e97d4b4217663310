"""One ranking out of the answers of several tiers. Pure.

A score means the same on every board, so hits are merged by it, and each tier's own order is kept.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pegboard.model.answers import Answer, Hit, Place
from pegboard.search.look_alikes import ALIKE, likeness
from pegboard.tiers.pulled import Pulled

NEAREST = 3


class Wanted(NamedTuple):
    """What of the union is shown."""

    limit: int
    diverse: bool = False
    pulled: Pulled = Pulled()


class _Merged(NamedTuple):
    key: float
    hit: Hit


def fused(answers: Sequence[tuple[str, Answer]], wanted: Wanted) -> Answer:
    """The tiers' answers as one; the nearest tier comes first."""
    found = [(tier, each.hits or each.nearest) for tier, each in answers]
    fits = any(each.hits for _, each in answers)
    merged = [
        each
        for tier, hits in found
        for each in _in_order(tier, hits)
        if not fits or _is_fit(each.hit, answers)
    ]
    merged.sort(key=lambda each: -each.key)  # of equals, the nearer tier's stays first
    hits = [_shown(group) for group in _same([each.hit for each in merged], wanted.pulled)]
    if wanted.diverse:
        hits = _unlike(hits)
    return Answer(
        hits=tuple(hits[: wanted.limit]) if fits else (),
        nearest=() if fits else tuple(hits[:NEAREST]),
        embed_seconds=max((each.embed_seconds for _, each in answers), default=0.0),
        search_seconds=max((each.search_seconds for _, each in answers), default=0.0),
        late=tuple(dict.fromkeys(leg for _, each in answers for leg in each.late)),
    )


def _is_fit(hit: Hit, answers: Sequence[tuple[str, Answer]]) -> bool:
    """Whether its own tier has judged that it fits."""
    return any(tier == hit.tier and each.hits for tier, each in answers)


def _in_order(tier: str, hits: Sequence[Hit]) -> Iterator[_Merged]:
    """With a key that never grows: a hit that scores more than one before it stays behind it."""
    hits = [hit._replace(score=_bounded(hit.score)) for hit in hits]
    best = [hit.score for hit in hits]
    for place in range(len(best) - 2, -1, -1):
        best[place] = max(best[place], best[place + 1])
    for key, hit in zip(best, hits, strict=True):
        yield _Merged(key, hit._replace(tier=tier))


def _bounded(score: float) -> float:
    """A registry may say what it likes."""
    return min(max(score, 0.0), 1.0) if score == score else 0.0


def _same(hits: Sequence[Hit], pulled: Pulled) -> list[list[Hit]]:
    """The hits of one item together, in the order of the best of each."""
    groups: list[list[Hit]] = []
    by_id: dict[tuple[str, str], list[list[Hit]]] = {}
    for hit in hits:
        known = by_id.setdefault((hit.kind, hit.id), [])
        for group in known:
            if all(each.tier != hit.tier for each in group) and any(
                _is_one(hit, each, pulled) for each in group
            ):
                group.append(hit)
                break
        else:
            known.append([hit])
            groups.append(known[-1])
    return groups


def _is_one(one: Hit, other: Hit, pulled: Pulled) -> bool:
    """Whether two hits with the same id, of two tiers, are one item."""
    return (
        one.namespace == other.namespace
        or (bool(one.version_hash) and one.version_hash == other.version_hash)
        or any(
            each.tier == "registry" and pulled.has(each.namespace, each.id) for each in (one, other)
        )
    )


ORDER = ("local", "project", "user", "registry")


def _shown(group: Sequence[Hit]) -> Hit:
    """The nearest one, with the best score, all its places, and how they differ."""
    nearest, *others = sorted(group, key=lambda each: ORDER.index(each.tier))
    places = [_place(each, nearest) for each in (nearest, *others)]
    differ = [
        f"differs from the {each.tier}'s {each.version}".rstrip() for each in places if each.differs
    ]
    return nearest._replace(
        score=max(each.score for each in group),
        places=tuple(places),
        notes=(*nearest.notes, *differ),
    )


def _place(hit: Hit, nearest: Hit) -> Place:
    hashes = {hit.version_hash, nearest.version_hash}
    differs = len(hashes) > 1 and "" not in hashes
    return Place(hit.tier, hit.namespace, hit.id, hit.version, hit.signed, differs)


def _unlike(hits: Sequence[Hit]) -> list[Hit]:
    """One of several that are much alike, with the names of the others."""
    found: list[Hit] = []
    for hit in hits:
        own = (hit.name, hit.description)
        for place, leader in enumerate(found):
            if likeness(own, (leader.name, leader.description)) >= ALIKE:
                found[place] = leader._replace(like_it=(*leader.like_it, hit.id, *hit.like_it))
                break
        else:
            found.append(hit)
    return found
