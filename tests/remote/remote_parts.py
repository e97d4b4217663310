"""Servers that are no gateway, or not a good one: whatever bytes a test wants are sent."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pegboard.config.gateway import GatewayPlace

PATIENCE = 20.0
"""Seconds after which a stranger whom nobody stopped gives up."""


class Stranger:
    """Answers each connection with what it is given, and remembers what was asked."""

    def __init__(self, answers: list[Callable[[socket.socket], None]]) -> None:
        self.asked: list[str] = []
        self.over = threading.Event()
        self._answers = answers
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._context: ssl.SSLContext | None = None
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    @property
    def place(self) -> GatewayPlace:
        return GatewayPlace(self.address, "a-secret-token")

    def with_certificate(self, files: tuple[Path, Path]) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(*files)
        self.address = self.address.replace("http:", "https:")

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        connection.settimeout(PATIENCE)
        with suppress(OSError):
            if self._context:
                connection = self._context.wrap_socket(connection, server_side=True)
        with suppress(OSError), connection:
            self.asked.append(_request(connection))
            answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
            answer(connection)

    def close(self) -> None:
        self.over.set()
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()


def _request(connection: socket.socket) -> str:
    """The whole of it: to close a connection with something unread in it would break it."""
    found = b""
    while b"\r\n\r\n" not in found:
        if not (more := connection.recv(65_536)):
            return found.decode("latin-1")
        found += more
    head, _, body = found.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").lower().splitlines()
    sizes = [int(line.split(":")[1]) for line in lines if line.startswith("content-length:")]
    while sizes and len(body) < sizes[0]:
        body += connection.recv(65_536)
    return (head + b"\r\n\r\n" + body).decode("latin-1")


@contextmanager
def stranger(*answers: Callable[[socket.socket], None]) -> Iterator[Stranger]:
    made = Stranger(list(answers))
    thread = threading.Thread(target=made.serve, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.close()
        thread.join(PATIENCE)


def saying(
    status: str = "200 OK", body: bytes = b"", media: str = "application/json", **headers: str
) -> Callable[[socket.socket], None]:
    said = {"Content-Type": media, "Content-Length": str(len(body)), "Connection": "close"}
    said |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in said.items())]
    return raw("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def raw(content: bytes) -> Callable[[socket.socket], None]:
    return lambda connection: connection.sendall(content)


def dripping(
    begin: bytes, drop: bytes, over: threading.Event, pause: float = 0.02
) -> Callable[[socket.socket], None]:
    """A little now and then, for as long as anybody takes it."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(begin)
        while not over.wait(pause):
            connection.sendall(drop)

    return answer


def certificate(folder: Path) -> tuple[Path, Path]:
    """Files of a certificate for this machine that only itself vouches for, and of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a gateway")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), False
        )
        .sign(key, hashes.SHA256())
    )
    files = folder / "certificate.pem", folder / "key.pem"
    files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return files
