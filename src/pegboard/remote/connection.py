"""One gateway over HTTP. It may be slow, gone, something else, or hostile: each is said in words.

The token goes to the gateway's own address and nowhere else: redirects are not followed.
"""

import contextlib
import json
import math
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from ipaddress import ip_address
from typing import Any, NamedTuple, TypedDict
from urllib.parse import urljoin, urlsplit

import httpx2

from pegboard.config.aliases import INSECURE
from pegboard.config.gateway import GatewayPlace
from pegboard.errors import (
    BoardUnreachable,
    ConfigError,
    PegboardError,
    TookTooLong,
    TooLarge,
    TooMany,
)
from pegboard.gate.characters import visible
from pegboard.remote.faults import error_of, no_gateway, other_gateway, refusal
from pegboard.sources.documents.deadline import CONNECTED, Deadline

CONNECT_SECONDS = 10.0
SECONDS = 60.0
"""For an answer that needs no long work."""
LARGEST = 128 << 20
"""Bytes of an answer: a call may bring files."""
LONGEST_WAIT = 15.0
"""Seconds that a gateway may ask to be left alone for before it is asked once more."""
ALIVE_SECONDS = 30
"""After so long without a word, and then three times, it is found out whether the gateway lives."""
JSON_MEDIA = ("application/json", "application/problem+json")

Query = Sequence[tuple[str, str]]


NO_SUCH_PATH = "no_such_path"
"""The code of a gateway that is not at this path, but above it."""


class Request(NamedTuple):
    method: str
    path: str
    query: Query = ()
    body: Mapping[str, object] | None = None
    headers: Query = ()
    seconds: float = SECONDS
    """By which the whole answer must be there."""
    taken: tuple[str, ...] = ()
    """Codes of problems that are no errors to whoever asks."""
    accepted: tuple[int, ...] = ()
    """Statuses that are no errors, although they look like it."""
    raw: bool = False
    """Whether texts are left as they are: what a tool brings back is for whoever called it."""
    media: str = ""
    """What is to come instead of JSON; its bytes are the value then."""


class Answered(NamedTuple):
    value: Any
    code: str = ""
    """Of a problem that was taken."""
    etag: str = ""
    """As it stands in the header."""


class _Received(NamedTuple):
    status: int
    media: str
    content: bytes
    wait: float | None
    """Seconds after which it may be asked again."""
    etag: str = ""


class Connection:
    def __init__(
        self,
        place: GatewayPlace,
        *,
        largest: int = LARGEST,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self.address = place.address
        self._largest = largest
        self._wait = wait
        self._sockets: list[socket.socket] = []
        self._client = httpx2.Client(**client_options(place), headers=_headers(place.token))

    def close(self) -> None:
        self._client.close()

    def ask(self, request: Request) -> Answered:
        """What the gateway answers. Its problems are raised, but for those that are taken."""
        received = self._send(request)
        if received.wait is not None and received.wait <= LONGEST_WAIT:
            self._wait(received.wait)
            received = self._send(request)
        return self._judged(request, received)

    def _send(self, request: Request) -> _Received:
        body = None if request.body is None else _as_json(request.body)
        media = {"Content-Type": "application/json"} if body is not None else {}
        media |= {"Accept": f"{request.media}, {JSON_MEDIA[1]}"} if request.media else {}
        with (
            Deadline(request.seconds, self._sockets) as deadline,
            self._in_words(request, deadline),
            self._client.stream(
                request.method,
                self.address + request.path,
                params=list(request.query) or None,
                content=body,
                headers={**media, **dict(request.headers)},
                timeout=httpx2.Timeout(
                    request.seconds, connect=min(request.seconds, CONNECT_SECONDS)
                ),
                extensions={"trace": _kept_alive(deadline)},
            ) as response,
        ):
            self._refuse_redirect(response)
            content = self._content(response)
            if deadline.passed:  # which shut the connection, as if the answer had ended there
                raise httpx2.ReadTimeout("")
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            wait = _seconds_to_wait(response)
            etag = response.headers.get("etag", "")
            return _Received(response.status_code, kind, content, wait, etag)

    @contextlib.contextmanager
    def _in_words(self, request: Request, deadline: Deadline) -> Iterator[None]:
        slow = TookTooLong(
            f"{self.address} did not answer within {request.seconds:.3g} seconds",
            "try it again, or look how the gateway is: pegboard doctor --gateway",
        )
        try:
            yield
        except httpx2.ConnectTimeout as error:
            raise self._unreachable("it does not answer") from error
        except httpx2.TimeoutException as error:
            raise slow from error
        except httpx2.ConnectError as error:
            raise self._unreachable(_reason(error)) from error
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            if deadline.passed:
                raise slow from error
            raise self._unreachable(f"the connection broke: {_reason(error)}") from error
        except httpx2.InvalidURL as error:
            raise no_gateway(self.address, str(error)) from error

    def _unreachable(self, why: str) -> BoardUnreachable:
        certificate = "certificate" in why.lower()
        return BoardUnreachable(
            f"{self.address} cannot be reached: {visible(why)}",
            "if its certificate is of an authority of your own, name that file in SSL_CERT_FILE"
            if certificate
            else "check the address, and that `pegboard serve` runs there",
        )

    def _refuse_redirect(self, response: httpx2.Response) -> None:
        if response.has_redirect_location:
            target = urljoin(self.address + "/", response.headers["location"])
            shown = visible(target.partition("?")[0])[:200]
            raise BoardUnreachable(
                f"{self.address} sends on to {shown}, and a token is shown to nobody else",
                "if that is the gateway, give its address",
            )

    def _content(self, response: httpx2.Response) -> bytes:
        """As much as is allowed, and never more than that in memory."""
        if response.headers.get("content-encoding", "identity") != "identity":
            raise no_gateway(self.address, "it compresses what was not asked to be compressed")
        found = bytearray()
        for chunk in response.iter_raw():
            found += chunk
            if len(found) > self._largest:
                raise TooLarge(
                    f"{self.address} answers with more than {self._largest >> 20} MB",
                    "ask for less, or use the board where it is",
                )
        return bytes(found)

    def _judged(self, request: Request, received: _Received) -> Answered:
        if request.media and request.media == received.media and received.status < 400:
            return Answered(received.content, etag=received.etag)
        if received.media not in JSON_MEDIA:
            if received.status < 400 and received.content:
                shown = received.media or "something without a type"
                raise no_gateway(self.address, f"it answers with {visible(shown)[:60]}")
            if received.status >= 400:
                raise refusal(self.address, received.status)
        value = self._value(received, request.raw) if received.content else None
        if request.media and received.status < 400:
            raise no_gateway(self.address, f"it answers with no {request.media}")
        if received.status < 400 or received.status in request.accepted:
            return Answered(value)
        problem = value if isinstance(value, dict) else {}
        if (code := str(problem.get("code", ""))) in request.taken:
            return Answered(problem, code)
        raise self._problem(received, problem)

    def _problem(self, received: _Received, problem: Mapping[str, object]) -> PegboardError:
        if "code" not in problem:
            return refusal(self.address, received.status)
        if problem["code"] == NO_SUCH_PATH:
            return other_gateway(self.address, str(problem.get("detail", "")))
        error = error_of(received.status, problem)
        if isinstance(error, TooMany) and received.wait is not None and not error.hint:
            error.hint = f"try again in {math.ceil(received.wait)} seconds"
        return error

    def _value(self, received: _Received, raw: bool) -> object:
        try:
            found = json.loads(received.content)
            return found if raw and received.status < 400 else _cleaned(found)
        except (ValueError, RecursionError):
            raise no_gateway(self.address, "its answer is no JSON") from None


class ClientOptions(TypedDict):
    verify: ssl.SSLContext | bool
    mounts: dict[str, None] | None
    follow_redirects: bool


def client_options(place: GatewayPlace) -> ClientOptions:
    """How a gateway is reached. Raises `ConfigError` where that would not be safe."""
    near = _is_loopback(urlsplit(place.address).hostname or "")
    plain = place.address.startswith("http:")
    if plain and not near and not place.insecure:
        raise ConfigError(
            f"{place.address} would be asked without TLS: others could read along, "
            "and answer instead",
            f"use https://; if the way there is safe, set {INSECURE} to true",
        )
    # Without TLS nobody's certificate counts, and the list of authorities takes long to read. A
    # proxy is for what is far away, and without TLS it would see the token.
    return {
        "verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True,
        "mounts": dict.fromkeys(("all://", "http://", "https://")) if near else None,
        "follow_redirects": False,
    }


def _headers(token: str) -> dict[str, str]:
    said = {"Accept": ", ".join(JSON_MEDIA), "Accept-Encoding": "identity"}
    return said | ({"Authorization": f"Bearer {token}"} if token else {})


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _as_json(body: Mapping[str, object]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def _kept_alive(deadline: Deadline) -> Callable[[str, Mapping[str, Any]], None]:
    """A call may take an hour in silence; whether the gateway is gone is found out before that."""

    def trace(event: str, info: Mapping[str, Any]) -> None:
        deadline.trace(event, info)
        if event in CONNECTED:
            connected = info["return_value"].get_extra_info("socket")
            with contextlib.suppress(OSError, AttributeError):  # not every system has all of it
                connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, ALIVE_SECONDS)
                connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, ALIVE_SECONDS)
                connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)

    return trace


def _seconds_to_wait(response: httpx2.Response) -> float | None:
    if response.status_code != 429:
        return None
    try:
        seconds = float(response.headers.get("retry-after", ""))
    except ValueError:  # nothing is said, or a date
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _reason(error: Exception) -> str:
    """What lies beneath it, as the system says it."""
    return (str(error) or type(error).__name__).splitlines()[0][:200]


def _cleaned(value: object) -> object:
    """With no letter that a terminal would obey; the gate lets none through, a stranger might.

    What is inside of files stays as it is: nobody prints it but as JSON.
    """
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, list):
        return [_cleaned(each) for each in value]
    if isinstance(value, dict):
        return {
            visible(name): each if name == "content" else _cleaned(each)
            for name, each in value.items()
        }
    return value
