"""What must be so before the gateway listens, and what it says when it does."""

from collections.abc import Sequence

from pegboard.app.pegboard import Pegboard
from pegboard.config.settings import ServeSettings
from pegboard.errors import ConfigError
from pegboard.serve.http.access import sign_in_link
from pegboard.serve.http.signin import BoardSignIn
from pegboard.serve.http.site import Site, as_address, is_loopback, read_place, site_of


def refuse_open_doors(board: Pegboard, settings: ServeSettings) -> None:
    """Raises `ConfigError` if others than this machine could come, and nobody would ask who."""
    site = site_of(settings)
    where = settings.host or "every address"
    if settings.loopback != "off" and (others := _reached_by_others(site)):
        # Not every proxy says that it is one: to us, all that it passes on may seem to be local.
        raise ConfigError(
            f"serve.loopback is {settings.loopback!r}, but {others} is reached by other machines",
            "leave it off (and --open out), or listen on 127.0.0.1 without a public address",
        )
    if site.on_loopback:
        return
    if not settings.issuer and not board.tokens.any_good():
        raise ConfigError(
            f"{where} is reached by other machines, and there is no token that is good",
            "make one with: pegboard token new --role admin; or set serve.issuer",
        )


def _reached_by_others(site: Site) -> str:
    """A name or address of the gateway that leads here from elsewhere."""
    public = read_place(site.public.rpartition("://")[2])
    names = [site.bound or "every address", *([public.host] if public else [])]
    names += [each.host for each in site.places]
    return next((each for each in names if not is_loopback(each)), "")


def welcome(sign_in: BoardSignIn, port: int, *, link: bool) -> Sequence[str]:
    """Lines for the person who started it: where it is, and how to get in."""
    settings, site = sign_in.settings, sign_in.site
    address = as_address(settings.host)
    host = f"[{address}]" if address and address.version == 6 else settings.host or "0.0.0.0"  # noqa: S104 (told, not listened on)
    here = f"http://{host}:{port}"
    lines = [f"serving at {site.public or here}" + (f" ({here})" if site.public else "")]
    if settings.loopback != "off":
        lines.append(f"programs of this machine need no token: each is {settings.loopback}")
    else:
        provider = f", or one of {settings.issuer}" if settings.issuer else ""
        lines.append(f"a token is needed (pegboard token new){provider}")
    if link and site.on_loopback:
        lines.append(f"in a browser, once and for ten minutes: {sign_in_link(sign_in, here)}")
    return lines
