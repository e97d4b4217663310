"""A gateway that only says who asks, behind its real guard and server; and an identity provider."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import httpx2
import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pegboard import Pegboard
from pegboard.config.settings import ServeSettings, Settings
from pegboard.errors import NotAllowed, PegboardError
from pegboard.model.calls import Role
from pegboard.serve.http.access import access_routes
from pegboard.serve.http.guard import guarded
from pegboard.serve.http.refusals import refusal
from pegboard.serve.http.replies import reply
from pegboard.serve.http.signin import BoardSignIn
from pegboard.serve.web.signing_in import form
from waiting import until

AUDIENCE = "https://tools.example.com"


class Clock:
    """Time that goes on when a test says so."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Served(NamedTuple):
    port: int
    sign_in: BoardSignIn
    board: Pegboard
    clock: Clock
    http: httpx2.Client

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str = "/who", token: str | None = None, **headers: str) -> httpx2.Response:
        return self.ask("GET", path, token, **headers)

    def ask(
        self, method: str, path: str, token: str | None = None, **headers: str
    ) -> httpx2.Response:
        """Headers are written with `_` for `-`."""
        said = {name.replace("_", "-"): value for name, value in headers.items()}
        said |= {"Authorization": f"Bearer {token}"} if token is not None else {}
        return self.http.request(method, f"{self.base}{path}", headers=said)

    def raw(self, *lines: bytes) -> tuple[int, bytes]:
        """Status and the whole answer to these very bytes; status 0 if there is no answer."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            connection.sendall(b"\r\n".join((*lines, b"Connection: close", b"", b"")))
            answer = b""
            with suppress(ConnectionResetError):
                while chunk := connection.recv(65_536):
                    answer += chunk
        words = answer.split(b" ", 2)
        return (int(words[1]) if len(words) > 1 else 0), answer


def app_of(sign_in: BoardSignIn) -> Starlette:
    async def who(request: Request) -> Response:
        try:
            return reply(await sign_in.caller(request))
        except PegboardError as error:
            return refusal(error, request, sign_in)

    async def admins(request: Request) -> Response:
        try:
            caller = await sign_in.caller(request)
            if not caller.role.covers(Role.ADMIN):
                raise NotAllowed(f"this needs the role admin, and you are {caller.role}")
            return reply(caller)
        except PegboardError as error:
            return refusal(error, request, sign_in, Role.ADMIN)

    async def anybody(request: Request) -> Response:
        return reply({}, headers={"Cache-Control": "public, max-age=60"})

    return Starlette(
        routes=[
            *access_routes(sign_in, form),
            Route("/who", who, methods=["GET", "POST", "DELETE"]),
            Route("/mcp", who, methods=["GET", "POST"]),
            Route("/admins", admins),
            Route("/anybody", anybody),
        ]
    )


@contextmanager
def serving(
    store: Any, settings: ServeSettings | None = None, host: str = "127.0.0.1"
) -> Iterator[Served]:
    """It listens on `host`, and is asked on the loopback address."""
    chosen = settings or ServeSettings(host=host)
    board, clock = Pegboard(store, Settings()), Clock()
    sign_in = BoardSignIn(board, chosen, clock=clock)
    config = uvicorn.Config(
        guarded(app_of(sign_in), chosen), host=host, port=0, log_level="error", lifespan="off"
    )
    listening = config.bind_socket()
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    until(lambda: server.started, "that it listens")
    with httpx2.Client(trust_env=False, timeout=30) as client:
        yield Served(listening.getsockname()[1], sign_in, board, clock, client)
    server.should_exit = True
    thread.join(30)
    listening.close()
    assert sign_in.threads.rest(30)


# An identity provider.


class Signer(NamedTuple):
    """A key of the provider, as it signs with it and as it shows it."""

    kid: str
    algorithm: str
    private: Any

    def jwk(self, **more: object) -> dict[str, object]:
        kind = jwt.algorithms.get_default_algorithms()[self.algorithm]
        public = json.loads(kind.to_jwk(self.private.public_key()))
        return {**public, "kid": self.kid, "use": "sig", **more}


def make_signer(kid: str, algorithm: str) -> Signer:
    if algorithm.startswith(("RS", "PS")):
        private: Any = rsa.generate_private_key(65_537, 2_048)
    elif algorithm == "EdDSA":
        private = ed25519.Ed25519PrivateKey.generate()
    else:
        curves = {"ES256": ec.SECP256R1(), "ES384": ec.SECP384R1(), "ES512": ec.SECP521R1()}
        private = ec.generate_private_key(curves[algorithm])
    return Signer(kid, algorithm, private)


class Issuer:
    """OIDC-shaped: a discovery document and a set of keys over HTTP, both as a test wants them."""

    def __init__(self) -> None:
        self.keys: list[object] = []
        self.asked: list[str] = []
        self.status = 200
        self.location = ""
        self.padding = 0
        self.discovery: dict[str, object] = {}
        self.body: bytes | None = None
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.waiting = threading.Event()
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.answer(self)

            def log_message(self, *said: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/realm"
        self.jwks_url = f"{self.url}/keys"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        self.asked.append(request.path)
        self.waiting.set()
        self.may_answer.wait(30)
        said: dict[str, object] = {"keys": self.keys, "padding": "x" * self.padding}
        if request.path.endswith("/.well-known/openid-configuration"):
            said = {"issuer": self.url, "jwks_uri": self.jwks_url, **self.discovery}
        body = json.dumps(said).encode() if self.body is None else self.body
        request.send_response(self.status)
        if self.location:
            request.send_header("Location", self.location)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def close(self) -> None:
        self.may_answer.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(30)

    def settings(self, **more: str) -> ServeSettings:
        return ServeSettings(**{"issuer": self.url, "audience": AUDIENCE, **more})

    def token(
        self, signer: Signer, *, headers: dict[str, object] | None = None, **claims: object
    ) -> str:
        """A claim or header that is None is left out."""
        now = time.time()
        said = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "alice",
            "iat": int(now),
            "exp": int(now) + 300,
            **claims,
        }
        header = {"kid": signer.kid, **(headers or {})}
        kept = {name: value for name, value in said.items() if value is not None}
        return jwt.api_jws.encode(
            json.dumps(kept).encode(),
            signer.private,
            signer.algorithm,
            {name: value for name, value in header.items() if value is not None},
        )
