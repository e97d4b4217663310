"""Tools of type `api`: a request over HTTP, and its answer."""

import asyncio
import json
import ssl
from typing import NamedTuple

from pegboard.errors import SecretMissing
from pegboard.execute.answered_json import as_object
from pegboard.execute.api import answers, auth, expressions, lightapi
from pegboard.execute.api.addresses import Reach, Resolve
from pegboard.execute.api.auth import Proof
from pegboard.execute.api.faults import Refused, unavailable
from pegboard.execute.api.lightapi_auth import proof_of
from pegboard.execute.api.manifests import filled_in
from pegboard.execute.api.requests import Request, built
from pegboard.execute.api.sending import BACKOFF, Answer, Bounds, Line
from pegboard.execute.api.servers import base_of, names_in_server
from pegboard.execute.api.tokens import Tokens
from pegboard.execute.api.urls import Target
from pegboard.execute.job import Job
from pegboard.execute.secrets import names_in
from pegboard.formats.shapes import mapping, text
from pegboard.model.calls import CallResult, Outcome
from pegboard.model.content import Json

MOST_FOR_A_TOKEN = 1 << 20
LARGE = 1 << 20
"""Bytes of an answer that would hold up all other calls while it is read."""


def secret_names(executor: Json, source: str) -> list[str]:
    """The secrets that calls of a tool may use, whether or not they are set."""
    if "url" in executor:
        parts = ("url", "headers", "query", "body")
        return names_in([executor[part] for part in parts if part in executor])
    found = [*auth.names_of(executor, source), *names_in_server(executor, source)]
    if "protocol" in executor:
        found += expressions.names_of(executor, source)
    return list(dict.fromkeys(found))


class _Call(NamedTuple):
    request: Request
    proof: Proof = Proof()
    keys: frozenset[str] = frozenset()
    """Parameters of the query that no other origin may see."""
    response_path: str = ""
    rpc: bool = False


class ApiExecutor:
    """Keeps connections for a moment, and tokens until they end; neither is ever written down."""

    def __init__(
        self,
        reach: Reach,
        *,
        environment: str = "",
        verify: ssl.SSLContext | None = None,
        resolve: Resolve | None = None,
        backoff: float = BACKOFF,
    ) -> None:
        """`environment` is the one of a LightAPI description that counts; `verify` trusts other
        authorities than the system does; `resolve` looks names up in place of the system."""
        self._environment = environment
        self._line = Line(reach, verify=verify, resolve=resolve, backoff=backoff)
        self._tokens = Tokens(loopback=reach.loopback)

    async def run(self, job: Job) -> CallResult:
        try:
            async with asyncio.timeout(job.limits.seconds) as limit:
                return await self._run(job)
        except Refused as refused:
            return CallResult(refused.outcome, error=refused.error)
        except SecretMissing as missing:
            return CallResult(Outcome.UNAVAILABLE, error=str(missing))
        except TimeoutError:
            if not limit.expired():
                raise
            told = f"it took longer than {job.limits.seconds:g} s"
            return CallResult(Outcome.TIMEOUT, error=told)

    async def close(self) -> None:
        await self._line.close()

    async def _run(self, job: Job) -> CallResult:
        call = self._planned(job)
        end = asyncio.get_running_loop().time() + job.limits.seconds
        bounds = Bounds(job.limits.written_bytes, end)
        answer = await self._asked(job, call, bounds)
        if len(answer.body) > LARGE:
            return await asyncio.to_thread(_result, answer, call, job)
        return _result(answer, call, job)

    def _planned(self, job: Job) -> _Call:
        executor, source, secrets = job.item.executor, job.item.source, job.secrets
        schema = job.item.input_schema
        if "url" in executor:
            made = filled_in(executor, job.arguments, schema, secrets)
            query = mapping(executor.get("query"))
            keys = frozenset(name for name, said in query.items() if names_in(said))
            return _Call(made, keys=keys, response_path=text(executor.get("response_path")))
        if "protocol" in executor:
            operation = expressions.Operation(
                executor, job.arguments, schema, source, secrets, self._environment
            )
            made, proof = lightapi.request_of(operation), proof_of(operation)
            return _Call(made, proof, rpc=executor["protocol"] in lightapi.RPC)
        if "path" in executor:
            base = base_of(executor, source, secrets)
            made = built(executor, job.arguments, schema, base)
            return _Call(made, auth.chosen(executor, source, secrets))
        raise unavailable(f"{job.item.id} does not say how it is called; sync its source again")

    async def _asked(self, job: Job, call: _Call, bounds: Bounds) -> Answer:
        """With a new token, once, if one that was kept is refused."""
        proof, kept = await self._with_tokens(job, call.proof, bounds)
        keys = call.keys.union(name for name, _ in proof.query)
        answer = await self._line.ask(auth.proven(call.request, proof), bounds, keys)
        if answer.status == 401 and kept:
            proof, _ = await self._with_tokens(job, call.proof, bounds, kept)
            answer = await self._line.ask(auth.proven(call.request, proof), bounds, keys)
        return answer

    async def _with_tokens(
        self, job: Job, proof: Proof, bounds: Bounds, refused: frozenset[str] = frozenset()
    ) -> tuple[Proof, frozenset[str]]:
        """The proof with its tokens, and those of them that were kept from earlier calls."""
        small = bounds._replace(most=min(bounds.most, MOST_FOR_A_TOKEN))

        async def post(request: Request, target: Target) -> tuple[int, bytes]:
            answer = await self._line.once(request, target, small)
            return answer.status, answer.body

        kept: set[str] = set()
        for client in proof.clients:
            token, new = await self._tokens.token(client, job.secrets, post, refused=refused)
            if not new:
                kept.add(token)
            proof = proof.joined(auth.bearer(token))
        return proof, frozenset(kept)


def _result(answer: Answer, call: _Call, job: Job) -> CallResult:
    found = answers.result(answer, call.response_path, job.secrets)
    if answer.status in (401, 403) and call.proof.secrets:
        told = f"{found.error}; it was asked with {', '.join(call.proof.secrets)}"
        return found._replace(error=told)
    if call.rpc and found.outcome is Outcome.OK:
        return _rpc_result(found)
    return found


def _rpc_result(found: CallResult) -> CallResult:
    """What a service answered in the envelope of JSON-RPC."""
    said = mapping(found.structured)
    if "error" in said and said["error"] is not None:
        fault = mapping(said["error"])
        told = f"the service answered with error {fault.get('code')}: {fault.get('message')}"
        return found._replace(outcome=Outcome.FAILED, structured=None, error=told)
    if "result" not in said:
        return found
    value = said["result"]
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return found._replace(content=(answers.text_block(written),), structured=as_object(value))
