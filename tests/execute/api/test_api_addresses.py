"""Attempts to have private addresses asked, each of them in vain."""

import asyncio
import socket
from ipaddress import ip_address

import pytest
from api_parts import arrived, called, described, manifest
from api_service import served
from hypothesis import given
from hypothesis import strategies as st

from pegboard.execute.api.addresses import Guard, Reach, judgement, kind_of
from pegboard.execute.api.faults import Refused
from pegboard.model.calls import Outcome

NOWHERE = Reach()
PUBLIC = "93.184.215.14"


def resolving(*rounds):
    """A name service that answers each question with the next of these, and remembers them."""
    asked = []

    async def resolve(host, port):
        asked.append(host)
        return list(rounds[min(len(asked), len(rounds)) - 1])

    resolve.asked = asked
    return resolve


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "127.0.0.1.",
        "2130706433",
        "0x7f000001",
        "0x7F.1",
        "127.1",
        "0177.0.0.1",
        "017700000001",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:7f00:0001]",
        "0.0.0.0",
        "[::]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[::127.0.0.1]",
    ],
)
def test_no_spelling_of_this_machine_is_asked(service, host):
    result = called(manifest(url=f"http://{host}:{service.port}/echo"), reach=NOWHERE)
    assert result.outcome in (Outcome.DENIED, Outcome.UNAVAILABLE), result
    assert result.outcome is Outcome.DENIED or "no name or address" in result.error
    assert service.asked == []


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "127.1", "0177.0.0.1", "0.0.0.0"])
def test_odd_spellings_are_refused_even_where_loopback_isallowed(service, host):
    result = called(manifest(url=f"http://{host}:{service.port}/echo"))
    assert result.outcome is Outcome.DENIED or "no name or address" in result.error
    assert service.asked == []


@pytest.mark.parametrize(
    "host", ["１２７.0.0.1", "127。0。0。1", "①②⑦.⓪.⓪.①", "ｌｏｃａｌｈｏｓｔ"]
)
def test_digits_and_letters_of_other_scripts_do_not_help(service, host):
    result = called(manifest(url=f"http://{host}:{service.port}/echo"), reach=NOWHERE)
    assert result.outcome in (Outcome.DENIED, Outcome.UNAVAILABLE)
    assert service.asked == []


def test_cloud_metadata_is_not_asked():
    result = called(manifest(url="http://169.254.169.254/latest/meta-data/"), reach=NOWHERE)
    assert result.outcome is Outcome.DENIED
    assert result.error == (
        "169.254.169.254 is a link-local address, and is not asked; if that is meant,"
        ' add "169.254.169.254" to run.private in your settings'
    )


def test_loopback_is_refused_with_the_setting_that_allows_it(service):
    result = called(manifest(url=f"http://localhost:{service.port}/echo"), reach=NOWHERE)
    assert result.outcome is Outcome.DENIED
    assert "localhost leads to " in result.error
    assert 'set run.loopback = "on" in your settings' in result.error


def test_a_name_that_leads_to_a_private_address_is_not_asked():
    resolve = resolving(["10.1.2.3"])
    item = manifest(url="http://intranet.example/")
    result = called(item, reach=Reach(loopback=True), resolve=resolve)
    assert result.outcome is Outcome.DENIED
    assert "intranet.example leads to 10.1.2.3, a private address" in result.error
    assert 'add "intranet.example" to run.private' in result.error


def test_a_name_is_looked_up_once_and_what_was_found_is_what_is_asked(service):
    """Rebinding: the second look-up, which there is none of, would lead elsewhere."""
    resolve = resolving(["127.0.0.1"], ["10.0.0.1"])
    item = manifest(url=f"http://rebound.example:{service.port}/echo")
    asked = arrived(item, reach=Reach(private=("127.0.0.1",)), resolve=resolve)
    assert asked.header("host") == f"rebound.example:{service.port}"
    assert resolve.asked == ["rebound.example"]


def test_a_name_that_means_something_private_at_the_second_try_is_not_asked(service):
    """Public at first, where nobody listens, and this machine when it is tried again."""
    rounds = [["203.0.113.1"], ["127.0.0.1"]]
    resolve = resolving(*rounds)
    item = manifest(url=f"http://rebound.example:{service.port}/echo")
    # A network for documentation stands for the public one: it is never reached from here.
    reach = Reach(private=("203.0.113.0/24",))

    async def refuse(host, port):
        found = await resolve(host, port)
        if found == rounds[0]:
            raise socket.gaierror(socket.EAI_AGAIN, "try again")
        return found

    result = called(item, reach=reach, resolve=refuse)
    assert result.outcome is Outcome.DENIED
    assert len(resolve.asked) == 2
    assert service.asked == []


def test_of_several_addresses_only_those_within_reach_are_tried(service):
    resolve = resolving(["10.0.0.1", "169.254.169.254", "127.0.0.1"])
    item = manifest(url=f"http://mixed.example:{service.port}/echo")
    assert arrived(item, resolve=resolve).path == "/echo"


def test_an_address_that_does_not_answer_is_passed_over():
    with served("127.0.0.2") as second:
        resolve = resolving(["127.0.0.3", "127.0.0.2"])
        item = manifest(url=f"http://two.example:{second.port}/echo")
        assert arrived(item, resolve=resolve).path == "/echo"


def test_a_login_in_the_address_does_not_hide_the_host(service):
    url = f"http://example.com@127.0.0.1:{service.port}/echo"
    result = called(manifest(url=url))
    assert result.outcome is Outcome.DENIED
    assert "an address with a login in it is not asked" in result.error
    assert service.asked == []


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com\\@127.0.0.1:{port}/echo",
        "http://127.0.0.1:{port}\\@example.com/echo",
        "http:\\\\127.0.0.1:{port}/echo",
        "http://example.com\x00.127.0.0.1:{port}/",
        "http://127.0.0.1%2f:{port}/echo",
        "http://127.0.0.1:{port}:80/echo",
        "http://[::1/echo",
        "http:///echo",
        "http://127.0.0.1:99999999/",
        "ftp://127.0.0.1:{port}/echo",
        "file:///etc/passwd",
    ],
)
def test_addresses_that_can_be_read_in_two_ways_are_not_asked(service, tmp_path, url):
    url = url.replace("{port}", str(service.port))
    item = manifest(url="http://127.0.0.1/")
    item = item._replace(executor={**item.executor, "url": url})
    result = called(item)
    assert result.outcome is Outcome.UNAVAILABLE, result
    assert service.asked == []


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_to_a_private_address_is_not_followed(service, code):
    with served("127.0.0.2") as other:
        to = f"{other.url}/echo"
        item = manifest(url=f"{service.url}/redirect?code={code}&to={to}")
        result = called(item, reach=Reach(private=("127.0.0.1",)))
        assert result.outcome is Outcome.DENIED
        assert "127.0.0.2 is a loopback address" in result.error
        assert other.asked == []


def test_the_servers_of_a_document_are_judged_too(tmp_path, service):
    result = called(described(tmp_path, service), reach=NOWHERE)
    assert result.outcome is Outcome.DENIED
    assert service.asked == []


def test_a_token_is_not_fetched_from_a_private_address(tmp_path, service):
    flows = {"clientCredentials": {"tokenUrl": f"https://127.0.0.1:{service.port}/token"}}
    item = described(
        tmp_path,
        "https://api.example",
        security=[{"login": []}],
        components={"securitySchemes": {"login": {"type": "oauth2", "flows": flows}}},
    )
    secrets = {"SHOP_LOGIN_CLIENT_ID": "me", "SHOP_LOGIN_CLIENT_SECRET": "hush hush"}
    result = called(item, secrets=secrets, reach=NOWHERE)
    assert result.outcome is Outcome.DENIED
    assert service.asked == []


def test_variables_of_the_environment_do_not_send_it_through_a_proxy(service, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert arrived(manifest(url=f"{service.url}/echo")).path == "/echo"


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("8.8.8.8", ""),
        ("2606:4700:4700::1111", ""),
        ("64:ff9b::808:808", ""),
        ("2002:808:808::1", ""),
        ("127.8.9.10", "loopback"),
        ("::1", "loopback"),
        ("::ffff:10.0.0.1", "private"),
        ("10.255.0.1", "private"),
        ("172.31.0.1", "private"),
        ("172.32.0.1", ""),
        ("192.168.0.1", "private"),
        ("fd00:ec2::254", "private"),
        ("fec0::1", "private"),
        ("100.64.0.1", "shared"),
        ("169.254.169.254", "link-local"),
        ("fe80::1", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("0.0.0.0", "unspecified"),
        ("0.1.2.3", "reserved"),
        ("192.0.2.1", "reserved"),
        ("198.18.0.1", "reserved"),
        ("240.0.0.1", "reserved"),
        ("255.255.255.255", "broadcast"),
        ("224.0.0.1", "multicast"),
        ("239.255.255.250", "multicast"),
        ("ff02::1", "multicast"),
        ("64:ff9b::a00:1", "reserved"),
        ("64:ff9b:1::1", "reserved"),
        ("2002:a9fe:a9fe::1", "reserved"),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "reserved"),
        ("2001:db8::1", "reserved"),
        ("::7f00:1", "reserved"),
    ],
)
def test_the_kind_of_an_address(address, kind):
    assert kind_of(ip_address(address)) == kind


@given(st.ip_addresses(v=6))
def test_an_ipv6_address_outside_of_what_is_given_out_is_never_public(address):
    inside = int(address) >> 125 == 1 or address.exploded.startswith("0064:ff9b:0000:")
    mapped = address.ipv4_mapped is not None
    assert kind_of(address) or inside or mapped


@pytest.mark.parametrize(
    ("reach", "address", "host"),
    [
        (Reach(private=("10.0.0.0/8",)), "10.9.8.7", "any.example"),
        (Reach(private=("10.0.0.0/8",)), "::ffff:10.9.8.7", "any.example"),
        (Reach(private=("fd00::/8",)), "fd00::5", "any.example"),
        (Reach(private=("[fd00::5]",)), "fd00::5", "any.example"),
        (Reach(private=("Intranet.Example.",)), "10.9.8.7", "intranet.example"),
        (Reach(private=("169.254.169.254",)), "169.254.169.254", "169.254.169.254"),
        (Reach(loopback=True), "::ffff:127.0.0.1", "localhost"),
    ],
)
def test_what_the_settings_allow(reach, address, host):
    assert judgement(address, host, reach) == ""


@pytest.mark.parametrize(
    ("reach", "address", "host"),
    [
        (Reach(private=("10.0.0.0/8",)), "192.168.0.1", "any.example"),
        (Reach(private=("intranet.example",)), "10.0.0.1", "evil.intranet.example"),
        (Reach(private=("intranet.example",)), "127.0.0.1", "intranet.example"),
        (Reach(private=("intranet.example",)), "169.254.169.254", "intranet.example"),
        (Reach(private=("0.0.0.0/0",), loopback=True), "0.0.0.0", "0.0.0.0"),
        (Reach(private=("0.0.0.0/0",)), "224.0.0.1", "224.0.0.1"),
        (Reach(loopback=True), "64:ff9b::7f00:1", "nat.example"),
        (Reach(loopback=True), "no address", "odd.example"),
    ],
)
def test_what_they_do_not_allow(reach, address, host):
    assert judgement(address, host, reach)


def test_public_addresses_pass_the_guard_and_are_connected_to_as_they_were_judged():
    guard = Guard(NOWHERE, resolving([PUBLIC, "10.0.0.1"]))
    assert asyncio.run(guard.allowed("public.example", 443)) == [PUBLIC]
    with pytest.raises(Refused):
        asyncio.run(Guard(NOWHERE, resolving(["10.0.0.1"])).allowed("private.example", 443))


@pytest.mark.parametrize("host", ["nowhere.invalid", f"{'a' * 64}.example", "a..b"])
def test_a_name_that_nobody_knows_is_unavailable(host):
    async def resolve(asked, port):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    result = called(manifest(url=f"http://{host}/"), resolve=resolve)
    assert result.outcome is Outcome.UNAVAILABLE
    assert host in result.error


def test_this_machine_is_asked_by_its_name_where_that_is_allowed(service):
    item = manifest(url=f"http://LocalHost.:{service.port}/echo")
    assert arrived(item).header("host") == f"localhost:{service.port}"


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_an_ipv6_address_is_asked_where_it_is_allowed():
    with served("::1") as service:
        item = manifest(url=f"{service.url}/echo")
        assert arrived(item).header("host") == f"[::1]:{service.port}"
        assert called(item, reach=NOWHERE).outcome is Outcome.DENIED


def test_the_system_is_asked_for_names_that_cannot_be_any():
    result = called(manifest(url=f"http://{'a' * 70}.example/"))
    assert result.outcome is Outcome.UNAVAILABLE
    assert "cannot be looked up" in result.error
