import socket
import ssl
import time


def run(host: str, port: int = 443, warn_days: int = 21) -> dict[str, str | int | bool]:
    """Inspect a server's TLS certificate and report how many days it remains valid.

    Args:
        host: Host name, such as "example.org".
        port: Port that speaks TLS.
        warn_days: Raise the warning flag when fewer days than this remain.

    Returns:
        Issuer, expiry date, days left and the warning flag.
    """
    context = ssl.create_default_context()
    with (
        socket.create_connection((host, port), timeout=10) as plain,
        context.wrap_socket(plain, server_hostname=host) as secure,
    ):
        certificate = secure.getpeercert()
    issuer = dict(pair[0] for pair in certificate["issuer"])
    days = int((ssl.cert_time_to_seconds(certificate["notAfter"]) - time.time()) // 86400)
    return {
        "issuer": issuer.get("organizationName") or issuer.get("commonName", ""),
        "expires": certificate["notAfter"],
        "days_left": days,
        "warning": days < warn_days,
    }
