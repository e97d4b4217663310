"""Who may ask: the ways to log in that an operation accepts, without any secret."""

from collections.abc import Mapping

from pegboard.formats.shapes import listed, mapping, text, texts
from pegboard.sources.documents.location import without_secrets
from pegboard.sources.documents.references import Library
from pegboard.sources.openapi.cleaning import one_line
from pegboard.sources.unfit import Unfit

_FLOWS = ("implicit", "password", "clientCredentials", "authorizationCode", "deviceAuthorization")
_ADDRESSES = {
    "authorizationUrl": "authorization_url",
    "tokenUrl": "token_url",
    "refreshUrl": "refresh_url",
    "deviceAuthorizationUrl": "device_authorization_url",
}

Scheme = dict[str, object]


def alternatives(
    requirements: object, schemes: Mapping[str, object], library: Library
) -> list[list[Scheme]]:
    """Any one of the lists is enough; of a list, everything is needed. An empty one needs nothing.

    Nothing at all is said by an empty list of lists.
    """
    return [
        [
            _scheme(str(name), scopes, schemes.get(str(name)), library)
            for name, scopes in each.items()
        ]
        for each in listed(requirements)
        if isinstance(each, dict)
    ]


def _scheme(name: str, scopes: object, described: object, library: Library) -> Scheme:
    made: Scheme = {"scheme": one_line(name), "type": "unknown"}
    if texts(scopes):
        made["scopes"] = [one_line(each) for each in texts(scopes)]
    if described is None:
        return made  # the document forgot to describe it; its name is better than nothing
    try:
        value = library.followed(described, library.place, f"the security scheme {name}").value
    except Unfit:
        return made
    kind = value.get("type")
    made["type"] = one_line(text(kind)) or "unknown"
    if kind == "apiKey":
        made |= _texts(value, {"in": "in", "name": "name"})
    elif kind == "http":
        made |= _texts(value, {"scheme": "http_scheme", "bearerFormat": "bearer_format"})
    elif kind == "oauth2":
        made["flows"] = _flows(value.get("flows"))
    elif kind == "openIdConnect":
        made |= _addresses(value, {"openIdConnectUrl": "openid_connect_url"})
    return made


def _flows(value: object) -> Scheme:
    flows = mapping(value)
    return {name: _addresses(mapping(flows[name]), _ADDRESSES) for name in _FLOWS if name in flows}


def _addresses(value: Mapping[str, object], names: Mapping[str, str]) -> Scheme:
    return {name: without_secrets(str(address)) for name, address in _texts(value, names).items()}


def _texts(value: Mapping[str, object], names: Mapping[str, str]) -> Scheme:
    return {
        ours: one_line(text(value[theirs]), 2_000)
        for theirs, ours in names.items()
        if theirs in value
    }
