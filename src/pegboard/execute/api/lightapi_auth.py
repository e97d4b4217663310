"""How a LightAPI description has its callers prove who they are."""

from pegboard.execute.api.auth import Client, Proof, bearer, chosen, key, login
from pegboard.execute.api.expressions import Operation, Speech, names_of
from pegboard.execute.api.faults import unavailable
from pegboard.execute.api.headers import checked
from pegboard.execute.api.styles import scalar
from pegboard.execute.api.templates import LEFT_OUT
from pegboard.formats.shapes import mapping, text, texts
from pegboard.model.content import Json

_TOKEN_PATH = "/oauth2/token"  # noqa: S105 - where tokens are fetched, and none itself


def proof_of(operation: Operation) -> Proof:
    """Raises `Refused` and `SecretMissing`."""
    said = mapping(operation.executor.get("authentication"))
    if "catalog" in said:
        raise unavailable(f"its authentication {said.get('name')} is left to a catalog")
    if not said:
        return chosen(operation.executor, operation.source, operation.secrets)
    return _Said(operation, said).proof()


class _Said:
    """One authentication, in the words of the document."""

    def __init__(self, operation: Operation, said: Json) -> None:
        self._operation = operation
        self._said = said
        self._kind = text(said.get("type"))
        self._speech = Speech(operation)
        self._names = tuple(names_of(said, operation.source))

    def proof(self) -> Proof:
        match self._kind:
            case "none":
                return Proof()
            case "basic":
                user, password = self._told("username"), self._told("password")
                return login(user, password, self._operation.secrets, *self._names)
            case "bearer":
                return bearer(self._told("token"), *self._names)
            case "apiKey":
                place = text(self._said.get("in")) or "header"
                return key(place, self._told("name"), self._told("value"), *self._names)
            case "custom":
                return self._custom()
            case "oauth2" if self._said.get("grant") in ("client_credentials", None):
                return self._client()
        raise unavailable(f"its authentication is {self._kind[:40]}, which Pegboard does not know")

    def _custom(self) -> Proof:
        sent = mapping(self._speech.value(mapping(self._said.get("headers"))))
        headers = tuple(checked(name, scalar(value)) for name, value in sent.items())
        return Proof(headers=headers, secrets=self._names)

    def _client(self) -> Proof:
        client = mapping(self._said.get("client"))
        address = self._told("authority").rstrip("/")
        asks = Client(
            address if address.endswith("token") else address + _TOKEN_PATH,
            self._told("id", client),
            self._told("secret", client),
            tuple(texts(self._said.get("scopes"))),
            client.get("authentication") == "client_secret_post",
        )
        return Proof(clients=(asks,), secrets=self._names)

    def _told(self, name: str, owner: Json | None = None) -> str:
        value = self._speech.value((self._said if owner is None else owner).get(name))
        if value is LEFT_OUT or not isinstance(value, str) or not value:
            raise unavailable(f"its authentication of type {self._kind} has no {name}")
        return value
