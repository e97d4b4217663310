"""The first page: a question in words, the hits as they are found while it is typed."""

from collections.abc import Mapping
from typing import NamedTuple

from starlette.responses import Response

from pegboard.board.find.requests import shares
from pegboard.errors import UsageError
from pegboard.model.answers import Answer, Hit, RequestAnswer, as_score
from pegboard.model.calls import Role
from pegboard.model.items import Filters, Kind, qualified
from pegboard.search.budget import title_of
from pegboard.serve.web.breakdown import Breakdown, breakdown_of
from pegboard.serve.web.facets import Asked, facets, tally
from pegboard.serve.web.listing import Line, page_of
from pegboard.serve.web.marking import Pieces, marked, wanted_terms
from pegboard.serve.web.paths import category_path, item_path, search_path
from pegboard.serve.web.visits import Visit, page
from pegboard.text import clipped, prose

LIMIT = 20
MOST_HITS = 100
LONGEST_QUERY = 2_000
LONGEST_SAID = 320
LONGEST_CALL = 200
STATES: Mapping[str, bool | None] = {"": True, "inactive": False, "all": None}


class Found(NamedTuple):
    """A hit as it is shown."""

    path: str
    id: str
    name: Pieces
    title: Pieces
    """Empty if the description begins with it."""
    said: Pieces
    passage: Pieces
    reason: Pieces
    call: str
    score: str
    share: str
    """Of the whole length of a bar."""
    match: str
    kind: str
    category: str
    category_path: str
    notes: tuple[str, ...]
    like_it: tuple[str, ...]
    breakdown: Breakdown


class RequestResults(NamedTuple):
    """The hits of one request of a question that has several."""

    query: str
    found: tuple[Found, ...]
    nearest: tuple[Found, ...]


class Results(NamedTuple):
    asked: Asked
    found: tuple[Found, ...] = ()
    nearest: tuple[Found, ...] = ()
    notices: tuple[str, ...] = ()
    summary: str = ""
    more: str = ""
    """Where more hits are, if there may be more."""
    lines: tuple[Line, ...] = ()
    """What the filters leave, if nothing is asked for."""
    everything: str = ""
    """Where they are whatever they score, if none fits."""
    requests: tuple[RequestResults, ...] = ()
    """If the question has several requests; then `found` and `nearest` are not shown."""


def search(visit: Visit) -> Response:
    asked = read(visit)
    results = _results(visit, asked)
    if visit.part == "results":
        return page(visit, "parts/results.html", "search", results=results, tally=None)
    census = visit.board.census()
    return page(
        visit,
        "search.html",
        "search",
        results=results,
        gone=visit.query.get("gone", ""),
        tally=tally(census),
        facets=facets(census, asked, decides=visit.may(Role.AUTHOR)),
    )


def _results(visit: Visit, asked: Asked) -> Results:
    """Hits of a query; without one, a list of what the filters leave, if there are any."""
    if asked.query:
        return results_of(visit, asked)
    if not asked.narrowing:
        return Results(asked)
    found = page_of(visit, filters_of(asked))
    onwards = search_path(*asked.pairs, ("after", found.next)) if found.next else ""
    return Results(asked, lines=found.lines, more=onwards)


def read(visit: Visit) -> Asked:
    query, values = visit.query, visit.query.getlist
    state = query.get("state", "") if visit.may(Role.AUTHOR) else ""
    if state not in STATES:
        raise UsageError(f"state is {state!r}; it must be inactive or all, or left out")
    text = " ".join(query.get("query", "").split())
    if len(text) > LONGEST_QUERY:
        raise UsageError(
            f"the query has {len(text):,} characters; at most {LONGEST_QUERY:,} are allowed"
        )
    return Asked(
        query=text,
        kinds=tuple(values("kind")),
        types=tuple(values("type")),
        sources=tuple(values("source")),
        categories=tuple(values("category")),
        tags=tuple(each for tag in values("tag") if (each := tag.strip())),
        state=state,
        mode=query.get("mode", ""),
        limit=_limit(query.get("limit", "")),
        everything=query.get("threshold") == "0",
    )


def _limit(text: str) -> int:
    return max(1, min(int(text), MOST_HITS)) if text.isascii() and text.isdigit() else LIMIT


def results_of(visit: Visit, asked: Asked) -> Results:
    answer = visit.board.search(
        asked.query,
        mode=asked.mode or None,
        limit=asked.limit,
        filters=filters_of(asked),
        threshold=0.0 if asked.everything else None,
        explain=True,
    )
    further = _is_full(answer, asked.limit) and asked.limit < MOST_HITS
    return Results(
        asked,
        found=_shown(answer, answer.hits, asked.query),
        nearest=_shown(answer, answer.nearest, asked.query),
        notices=answer.notices,
        summary=_summary(answer, further),
        more=search_path(*asked._replace(limit=min(asked.limit * 2, MOST_HITS)).pairs)
        if further
        else "",
        everything="" if answer.hits else search_path(*asked._replace(everything=True).pairs),
        requests=tuple(_request(each) for each in answer.requests),
    )


def _is_full(answer: Answer, limit: int) -> bool:
    """Whether a request has as many hits as it was given room for."""
    if not answer.requests:
        return len(answer.hits) == limit
    rooms = shares(limit, len(answer.requests))
    found = [len(each.answer.hits) for each in answer.requests]
    return any(count >= room for count, room in zip(found, rooms, strict=True))


def _request(request: RequestAnswer) -> RequestResults:
    own = request.answer
    return RequestResults(
        request.text,
        found=_shown(own, own.hits, request.text),
        nearest=_shown(own, own.nearest, request.text),
    )


def filters_of(asked: Asked) -> Filters:
    return Filters(
        kinds=asked.kinds,
        tool_types=asked.types,
        sources=asked.sources,
        categories=asked.categories,
        tags=asked.tags,
        active=STATES[asked.state],
    )


def _summary(answer: Answer, further: bool) -> str:
    count = len(answer.hits)
    if not count:
        return "No tool fits."
    first = "The first " if further else ""
    if requests := len(answer.requests):
        return f"{first}{count} {'hit' if count == 1 else 'hits'} for {requests} requests."
    return f"{first}{count} {'hit' if count == 1 else 'hits'}, the best one first."


def _shown(answer: Answer, hits: tuple[Hit, ...], query: str) -> tuple[Found, ...]:
    wanted = wanted_terms(query, answer.explanation)
    facts = {(fact.id, fact.score): fact for fact in getattr(answer.explanation, "items", ())}
    return tuple(
        Found(
            path=item_path(hit.namespace, hit.id),
            id=qualified(hit.namespace, hit.id),
            name=marked(hit.name, wanted),
            title=marked(clipped(title_of(hit), LONGEST_SAID), wanted),
            said=marked(clipped(" ".join(prose(hit.description).split()), LONGEST_SAID), wanted),
            passage=marked(hit.passage, wanted),
            reason=marked(hit.reason, wanted),
            call=clipped(" ".join(hit.signature.split()), LONGEST_CALL),
            score=as_score(hit.score),
            share=f"{min(max(hit.score, 0.0), 1.0):.1%}",
            match=hit.match_type.value,
            kind="" if hit.kind is Kind.TOOL else hit.kind.value,
            category=hit.category,
            category_path=category_path(hit.category),
            notes=hit.notes,
            like_it=hit.like_it,
            breakdown=breakdown_of(hit, facts.get((hit.id, hit.score)), query),
        )
        for hit in hits
    )
