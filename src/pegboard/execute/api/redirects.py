"""Redirects, followed by hand: what goes along, and what must not."""

from collections.abc import Mapping
from urllib.parse import unquote_plus

from pegboard.execute.api.faults import Refused, failed
from pegboard.execute.api.headers import ANYWHERE
from pegboard.execute.api.requests import SAFE, Request
from pegboard.execute.api.urls import Target, joined
from pegboard.model.calls import Outcome

MAX_REDIRECTS = 5
FOLLOWED = frozenset({301, 302, 303, 307, 308})


def redirected(
    request: Request,
    target: Target,
    status: int,
    headers: Mapping[str, str],
    keys: frozenset[str],
) -> Request | None:
    """The request to make instead; None if there is none to follow. Raises `Refused`."""
    location = headers.get("location", "")
    if status not in FOLLOWED or not location:
        return None
    following = _led_to(target, location)
    told = f"{target.shown} redirects to {following.shown}"
    if target.scheme == "https" and following.scheme == "http":
        raise failed(f"{told}, which anybody on the way could read; it is not followed")
    method = _method(request.method, status)
    if method != request.method:
        kept = tuple(each for each in request.headers if each[0].lower() != "content-type")
        request = Request(method, request.url, kept)
    if target.is_same_origin(following):
        return request._replace(url=following.url)
    if method not in SAFE or request.body:
        raise failed(f"{told}, another origin, to which a {method} request is not repeated")
    kept = tuple(each for each in request.headers if each[0].lower() in ANYWHERE)
    return Request(method, _without(following, keys).url, kept)


def _led_to(target: Target, location: str) -> Target:
    try:
        return joined(target, location)
    except Refused as refused:
        told = f"{target.shown} redirects to where it cannot be followed: {refused.error}"
        outcome = refused.outcome if refused.outcome is Outcome.DENIED else Outcome.FAILED
        raise Refused(outcome, told) from refused


def _method(method: str, status: int) -> str:
    """As browsers do."""
    if status == 303 and method != "HEAD":
        return "GET"
    return "GET" if status in (301, 302) and method == "POST" else method


def _without(target: Target, keys: frozenset[str]) -> Target:
    """A service may repeat the query it was asked with, and the key in it."""
    path, mark, query = target.path.partition("?")
    if not keys or not mark:
        return target
    pairs = [each for each in query.split("&") if unquote_plus(each.partition("=")[0]) not in keys]
    return target._replace(path=f"{path}?{'&'.join(pairs)}" if pairs else path)
