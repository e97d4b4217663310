"""Models named `provider:model`, such as `openai:text-embedding-3-small`, through pydantic-ai."""

import threading
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from pegboard.embed.faults import Fault, ServiceFault, of_status
from pegboard.errors import ModelUnavailable
from pegboard.text import harmless

if TYPE_CHECKING:
    from pydantic_ai.embeddings import EmbeddingModel
    from pydantic_ai.embeddings.result import EmbeddingResult
    from pydantic_ai.providers import Provider

T = TypeVar("T")

EXTRA = "pip install 'pegboard[models]'"
_GRACE = 1.0
_SHOWN = 200


class Named(NamedTuple):
    model: str
    base_url: str
    dimensions: int
    """What it is asked for; 0 to leave it to the model."""
    timeout_seconds: float


class NamedService:
    """Its clients belong to one event loop, so that loop has a thread, and threads may share it."""

    def __init__(self, named: Named, key: Callable[[], str]) -> None:
        self._named = named
        self._key = key
        self._lock = threading.Lock()
        self._running: _Running | None = None

    def ask(self, texts: Sequence[str], *, query: bool) -> Sequence[Sequence[float]]:
        running = self._started()
        from pydantic_ai.exceptions import (
            AgentRunError,
            ModelHTTPError,
            ModelTimeoutError,
            UserError,
        )

        seconds = self._named.timeout_seconds
        try:
            answer = running.run(self._embedded(running.model, list(texts), query), seconds)
        except (TimeoutError, ModelTimeoutError):
            raise ServiceFault(
                Fault.HUNG, f"no answer within {seconds:g} s", "raise embed.timeout_seconds"
            ) from None
        except ModelHTTPError as error:
            said = self._hidden(str(error.body or ""))
            raise of_status(error.status_code, said, error.retry_after or 0.0) from None
        except UserError as error:
            raise ServiceFault(Fault.BARRED, self._hidden(str(error))) from None
        except AgentRunError as error:
            raise ServiceFault(Fault.BROKEN, self._hidden(str(error))) from None
        except (ValueError, TypeError, AttributeError) as error:
            # The libraries beneath trust what they are sent.
            raise ServiceFault(Fault.GARBLED, self._hidden(str(error))) from None
        return answer.embeddings

    def close(self) -> None:
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            running.end()

    async def _embedded(
        self, model: "EmbeddingModel", texts: list[str], query: bool
    ) -> "EmbeddingResult":
        import asyncio

        wanted = self._named.dimensions
        return await asyncio.wait_for(
            model.embed(
                texts,
                input_type="query" if query else "document",
                settings={"dimensions": wanted} if wanted else None,
            ),
            self._named.timeout_seconds,
        )

    def _started(self) -> "_Running":
        with self._lock:
            if self._running is None:
                providers: list[Provider[object]] = []
                self._running = _Running(self._model(providers), providers)
            return self._running

    def _model(self, providers: "list[Provider[object]]") -> "EmbeddingModel":
        """Unless the settings name a key and a place, the library looks for its own."""
        try:
            from pydantic_ai.embeddings import infer_embedding_model
            from pydantic_ai.exceptions import UserError
            from pydantic_ai.providers import infer_provider_class
        except ImportError as error:
            raise ModelUnavailable(f"pydantic-ai cannot be loaded: {error}", EXTRA) from error

        given = {"api_key": self._key(), "base_url": self._named.base_url}
        given = {name: value for name, value in given.items() if value}

        def made(name: str) -> "Provider[object]":
            providers.append(infer_provider_class(name)(**given))
            return providers[-1]

        model = self._named.model
        try:
            return infer_embedding_model(model, provider_factory=made)
        except ImportError as error:
            hint = f"{EXTRA} has what OpenAI's need; others say above what they need"
            raise ModelUnavailable(f"{model} cannot be used: {error}", hint) from error
        except (UserError, ValueError, TypeError) as error:
            said = self._hidden(str(error))
            raise ModelUnavailable(f"{model} cannot be used: {said}") from None

    def _hidden(self, said: str) -> str:
        key = self._key()
        return harmless(said.replace(key, "***") if key else said)[:_SHOWN]


class _Running:
    """A model, and the loop in a thread of its own on which it is asked."""

    def __init__(self, model: "EmbeddingModel", providers: "list[Provider[object]]") -> None:
        import asyncio

        self.model = model
        self._providers = providers
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="pegboard-models", daemon=True
        )
        self._thread.start()

    def run(self, asked: Coroutine[object, object, T], seconds: float) -> T:
        import asyncio

        return asyncio.run_coroutine_threadsafe(asked, self._loop).result(seconds + _GRACE)

    def end(self) -> None:
        """Whatever is still being asked is given up."""
        with suppress(TimeoutError):
            self.run(self._left(), _GRACE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_GRACE)
        if not self._thread.is_alive():
            self._loop.close()

    async def _left(self) -> None:
        for provider in self._providers:
            async with provider:  # leaving it closes its connections
                pass
