"""A service that speaks OpenAI's protocol for embeddings, as most do: POST BASE_URL/embeddings."""

import json
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from pegboard.embed.faults import Fault, ServiceFault, of_status, seconds_of
from pegboard.errors import ConfigError
from pegboard.text import harmless

if TYPE_CHECKING:
    import httpx2

CHARACTERS_A_NUMBER = 32
LARGEST_DIMENSION = 16_384
ROOM = 64 << 10
"""Bytes of an answer beside its numbers, and all that is read of an error."""
_SHOWN = 200
UNASKED = (
    "it was asked for {dimensions} dimensions, which few models can change; "
    "with embed.dimension = 0 it is asked for none"
)


class Address(NamedTuple):
    base_url: str
    model: str
    dimensions: int
    """What it is asked for; 0 to leave it to the service."""
    timeout_seconds: float
    direct: bool
    """Past any proxy that the environment names."""


class HttpService:
    """Threads may share it. The key is looked up when a connection is first needed."""

    def __init__(self, address: Address, key: Callable[[], str]) -> None:
        self._address = address
        self._key = key
        self._lock = threading.Lock()
        self._client: httpx2.Client | None = None

    def ask(self, texts: Sequence[str], *, query: bool) -> Sequence[Sequence[float]]:
        """The protocol knows no queries: a prefix makes them."""
        import httpx2

        address = self._address
        body: dict[str, object] = {"model": address.model, "input": list(texts)}
        if address.dimensions:
            body["dimensions"] = address.dimensions
        room = len(texts) * LARGEST_DIMENSION * CHARACTERS_A_NUMBER + ROOM
        try:
            with self._opened().stream("POST", "embeddings", json=body) as response:
                if not response.is_success:
                    raise self._refusal(response)
                content = self._read(response, room)
        except httpx2.TimeoutException:
            raise self._hung() from None
        except httpx2.InvalidURL as error:
            raise ServiceFault(Fault.BARRED, f"embed.base_url is no address: {error}") from None
        except httpx2.HTTPError as error:
            raise ServiceFault(
                Fault.BROKEN,
                f"{address.base_url} cannot be reached: {harmless(str(error))}",
                "is it running, and is embed.base_url right?",
            ) from None
        return _vectors(content, len(texts))

    def close(self) -> None:
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _opened(self) -> "httpx2.Client":
        import httpx2

        with self._lock:
            if self._client is None:
                key = self._key()
                self._client = httpx2.Client(
                    base_url=self._address.base_url,
                    headers={"Accept-Encoding": "identity"}
                    | ({"Authorization": f"Bearer {key}"} if key else {}),
                    timeout=self._address.timeout_seconds,
                    trust_env=not self._address.direct,
                )
            return self._client

    def _read(self, response: "httpx2.Response", room: int) -> bytes:
        """The whole answer, if it is not too large and does not trickle."""
        content = self._begun(response, room)
        if len(content) > room:
            raise ServiceFault(Fault.GARBLED, f"it sent more than {room >> 10} KB")
        return content

    def _begun(self, response: "httpx2.Response", enough: int) -> bytes:
        content = bytearray()
        deadline = time.monotonic() + self._address.timeout_seconds
        for chunk in response.iter_bytes():
            content += chunk
            if time.monotonic() > deadline:
                raise self._hung()
            if len(content) > enough:
                break
        return bytes(content)

    def _hung(self) -> ServiceFault:
        return ServiceFault(
            Fault.HUNG,
            f"{self._address.base_url} did not answer within {self._address.timeout_seconds:g} s",
            "raise embed.timeout_seconds or lower embed.batch_size",
        )

    def _refusal(self, response: "httpx2.Response") -> ServiceFault:
        if response.is_redirect:
            elsewhere = _host(response.headers.get("location", "")) or "another path"
            return ServiceFault(
                Fault.BARRED,
                f"{self._address.base_url} sends on to {harmless(elsewhere)}",
                "set embed.base_url to where the service is; no text is sent elsewhere unasked",
            )
        key = response.request.headers.get("authorization", "").removeprefix("Bearer ")
        words = _words(self._begun(response, ROOM))
        words = words.replace(key, "***") if key else words
        wait = seconds_of(response.headers.get("retry-after", ""))
        fault = of_status(response.status_code, harmless(words)[:_SHOWN], wait)
        asked = self._address.dimensions
        if fault.kind is Fault.REFUSED and asked and "dimension" in words.casefold():
            fault.hint = UNASKED.format(dimensions=asked)
        return fault


def _vectors(content: bytes, expected: int) -> list[list[float]]:
    """By their `index`, for not every service keeps the order."""
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        began = harmless(content[:40].decode("utf-8", "replace"))
        raise ServiceFault(
            Fault.GARBLED, f"its answer is not JSON: {began!r}", "is embed.base_url right?"
        ) from None
    match answer:
        case {"data": list(entries)}:
            pass
        case _:
            raise ServiceFault(
                Fault.GARBLED, "its answer has no data", "does it speak OpenAI's protocol?"
            )
    by_index: dict[int, list[float]] = {}
    for place, entry in enumerate(entries):
        match entry:
            case {"embedding": list(numbers), "index": int(index)}:
                by_index[index] = numbers
            case {"embedding": list(numbers)} if "index" not in entry:
                by_index[place] = numbers
            case _:
                raise ServiceFault(Fault.GARBLED, f"entry {place} of its answer is no vector")
    if len(entries) != expected or sorted(by_index) != list(range(expected)):
        raise ServiceFault(Fault.GARBLED, f"{len(by_index)} vectors came back for {expected} texts")
    return [by_index[index] for index in range(expected)]


def _words(content: bytes) -> str:
    """What a service says of an error, in one of the ways that are in use."""
    text = content.decode("utf-8", "replace")
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return text
    match answer:
        case {"error": {"message": str(said)}} | {"error": str(said)} | {"message": str(said)}:
            return said
    return text


def _host(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def checked_url(base_url: str, *, provider: str, plain: bool) -> str:
    """Complete, without secrets in it, and with https unless `plain` or on this machine."""
    if not base_url:
        raise ConfigError(
            f"the provider {provider} needs embed.base_url",
            "for instance https://api.openai.com/v1 or http://localhost:11434/v1",
        )
    try:
        parts = urlsplit(base_url)
        host, secret, _ = parts.hostname, parts.username or parts.password, parts.port
    except ValueError as error:
        raise ConfigError(f"embed.base_url is no address: {error}") from None
    if secret or parts.query or parts.fragment:
        raise ConfigError(
            f"embed.base_url, for {host}, has more in it than a place",
            "a key belongs where embed.api_key points",
        )
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigError(f"embed.base_url is {base_url!r}; it must begin with https:// or http://")
    if parts.scheme == "http" and not plain and not _here(host):
        raise ConfigError(
            f"embed.base_url is {base_url!r}; over http anybody on the way can read texts and key",
            "use https, or for a service in your own network the provider local-http",
        )
    return base_url


def _here(host: str) -> bool:
    import ipaddress

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
