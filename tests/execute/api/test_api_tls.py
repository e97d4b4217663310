import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import NamedTuple

import pytest
from api_parts import arrived, called, described, manifest
from api_service import Reply, served
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pegboard.model.calls import Outcome


class Authority(NamedTuple):
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def trusted(self) -> ssl.SSLContext:
        return ssl.create_default_context(cadata=pem(self.certificate).decode())


def pem(certificate):
    return certificate.public_bytes(serialization.Encoding.PEM)


def named(name):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def signed(subject, key, issuer, issuing_key, *extensions, days=1):
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(named(subject))
        .issuer_name(named(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now + timedelta(days=days))
    )
    for each in extensions:
        made = made.add_extension(each, critical=isinstance(each, x509.BasicConstraints))
    return made.sign(issuing_key, hashes.SHA256())


@pytest.fixture(scope="module")
def authority():
    key = ec.generate_private_key(ec.SECP256R1())
    extensions = [
        x509.BasicConstraints(ca=True, path_length=None),
        x509.SubjectKeyIdentifier.from_public_key(key.public_key()),
    ]
    return Authority(signed("Test CA", key, "Test CA", key, *extensions), key)


@pytest.fixture
def certified(authority, tmp_path):
    """The files of a certificate and its key."""

    def make(*names, days=1):
        key = ec.generate_private_key(ec.SECP256R1())
        listed = [
            x509.IPAddress(ip_address(name)) if name[0].isdigit() else x509.DNSName(name)
            for name in names
        ]
        issued = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key())
        alternatives = x509.SubjectAlternativeName(listed)
        made = signed("service", key, "Test CA", authority.key, alternatives, issued, days=days)
        (tmp_path / "cert.pem").write_bytes(pem(made))
        (tmp_path / "key.pem").write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return tmp_path / "cert.pem", tmp_path / "key.pem"

    return make


async def here(host, port):
    return ["127.0.0.1"]


class Counting:
    """A name service that knows how often it was asked."""

    asked = 0

    async def __call__(self, host, port):
        self.asked += 1
        return ["127.0.0.1"]


def test_a_service_with_a_trusted_certificate_is_asked(authority, certified):
    with served("127.0.0.1", *certified("shop.example")) as service:
        item = manifest(url=f"https://shop.example:{service.port}/echo")
        asked = arrived(item, resolve=here, verify=authority.trusted())
        assert asked.header("host") == f"shop.example:{service.port}"


def test_the_certificate_is_checked_against_the_name_though_the_address_is_known(
    authority, certified
):
    with served("127.0.0.1", *certified("other.example", "127.0.0.1")) as service:
        item = manifest(url=f"https://shop.example:{service.port}/echo")
        resolve = Counting()
        result = called(item, resolve=resolve, verify=authority.trusted())
        assert result.outcome is Outcome.UNAVAILABLE
        assert resolve.asked == 1  # another try would be in vain
        assert "its certificate is not to be trusted: Hostname mismatch" in result.error
        assert service.asked == []
        item = manifest(url=f"{service.url}/echo")
        assert arrived(item, verify=authority.trusted()).path == "/echo"


def test_an_unknown_authority_is_not_trusted(certified):
    with served("127.0.0.1", *certified("127.0.0.1")) as service:
        result = called(manifest(url=f"{service.url}/echo"))
        assert result.outcome is Outcome.UNAVAILABLE
        assert "its certificate is not to be trusted" in result.error
        assert service.asked == []


def test_an_expired_certificate_is_not_trusted(authority, certified):
    with served("127.0.0.1", *certified("127.0.0.1", days=-1)) as service:
        result = called(manifest(url=f"{service.url}/echo"), verify=authority.trusted())
        assert result.outcome is Outcome.UNAVAILABLE
        assert "certificate has expired" in result.error


def test_plain_http_where_https_was_asked_for_is_no_answer(service):
    result = called(manifest(url=service.url.replace("http:", "https:") + "/echo"))
    assert result.outcome is Outcome.UNAVAILABLE
    assert service.asked == []


def test_a_redirect_from_https_to_http_is_not_followed(authority, certified, service):
    with served("127.0.0.1", *certified("127.0.0.1")) as safe:
        item = manifest(url=f"{safe.url}/redirect?to={service.url}/echo")
        result = called(item, verify=authority.trusted())
        assert result.outcome is Outcome.FAILED
        assert "which anybody on the way could read" in result.error
        assert service.asked == []


def test_tokens_and_calls_work_over_tls(authority, certified, tmp_path):
    with served("127.0.0.1", *certified("127.0.0.1")) as safe:
        safe.valid = "t-1"
        safe.tokens.append(Reply(200, b'{"access_token": "t-1"}'))
        flows = {"clientCredentials": {"tokenUrl": f"{safe.url}/token", "scopes": {}}}
        item = described(
            tmp_path,
            safe,
            "/guarded",
            security=[{"oauth": []}],
            components={"securitySchemes": {"oauth": {"type": "oauth2", "flows": flows}}},
        )
        secrets = {"SHOP_OAUTH_CLIENT_ID": "me", "SHOP_OAUTH_CLIENT_SECRET": "hush"}
        asked = arrived(item, secrets=secrets, verify=authority.trusted())
        assert asked.header("authorization") == "Bearer t-1"
