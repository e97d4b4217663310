"""Variables of the environment that are no settings of their own: other names, and secrets."""

from collections.abc import Callable, Iterator, Mapping

from pegboard.embed.choose import named_model
from pegboard.errors import ConfigError

TOKEN = "PEGBOARD_TOKEN"  # noqa: S105 (the name of the variable)
GATEWAY = "PEGBOARD_GATEWAY"
INSECURE = "PEGBOARD_GATEWAY_INSECURE"
REGISTRY_TOKEN = "PEGBOARD_REGISTRY_TOKEN"  # noqa: S105 (the name of the variable)

NO_SETTINGS = (GATEWAY, INSECURE, REGISTRY_TOKEN, TOKEN)
"""What a file is not to say: a project would send commands, and a token, to where it likes."""

SWITCHES = dict.fromkeys(("true", "1", "yes", "on"), True) | dict.fromkeys(
    ("false", "0", "no", "off", ""), False
)


def switch(environ: Mapping[str, str], name: str, default: str = "") -> bool:
    text = environ.get(name, default).strip().lower()
    if text not in SWITCHES:
        raise ConfigError(f"{name} is {environ[name]!r}; it must be true or false")
    return SWITCHES[text]


def _model(environ: Mapping[str, str], name: str) -> dict[str, str]:
    """A model without a provider is one of the provider that is set otherwise."""
    provider, model = named_model(environ[name])
    return (
        {"embed.provider": provider, "embed.model": model} if provider else {"embed.model": model}
    )


def _device(environ: Mapping[str, str], name: str) -> dict[str, str]:
    return {"embed.device": environ[name]}


def _no_cache(environ: Mapping[str, str], name: str) -> dict[str, str]:
    return {"embed.cache": "off" if switch(environ, name) else "on"}


ALIASES: Mapping[str, Callable[[Mapping[str, str], str], dict[str, str]]] = {
    "PEGBOARD_SEARCH_MODEL": _model,
    "PEGBOARD_SEARCH_DEVICE": _device,
    "PEGBOARD_SEARCH_NO_CACHE": _no_cache,
}


def aliased(environ: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """What such variables say: the setting, its value, and the variable."""
    for name, read in ALIASES.items():
        if environ.get(name):
            yield from ((key, value, name) for key, value in read(environ, name).items())
