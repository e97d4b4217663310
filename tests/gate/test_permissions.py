import pytest
from hypothesis import given
from hypothesis import strategies as st

from making import make_candidate
from pegboard.gate.admission import admit
from pegboard.gate.permissions import parse_permission, parse_permissions
from pegboard.gate.refusal import Refused
from pegboard.model.content import Access, Permission, Resource
from pegboard.model.items import Item, Rejection


def parsed(said):
    return tuple(map(str, parse_permission("it", said)))


def reason(said):
    with pytest.raises(Refused) as refused:
        parse_permissions(said)
    return refused.value.reason


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("read filesystem src/**", ("read", "filesystem", "src/**")),
        ("write filesystem", ("write", "filesystem", "*")),
        ("read filesystem /etc/hosts", ("read", "filesystem", "/etc/hosts")),
        ("read filesystem /", ("read", "filesystem", "/")),
        ("read filesystem ~/notes/*.md", ("read", "filesystem", "~/notes/*.md")),
        ("read filesystem **/*", ("read", "filesystem", "**/*")),
        ("read filesystem a file/with spaces", ("read", "filesystem", "a file/with spaces")),
        ("connect network api.example.com", ("connect", "network", "api.example.com")),
        ("connect network *.Example.com:443", ("connect", "network", "*.example.com:443")),
        ("connect network *", ("connect", "network", "*")),
        ("connect network localhost:*", ("connect", "network", "localhost:*")),
        ("connect network 10.0.0.1:80", ("connect", "network", "10.0.0.1:80")),
        ("connect network [::1]:80", ("connect", "network", "[::1]:80")),
        ("connect network [::1]", ("connect", "network", "[::1]")),
        ("read network https://example.com/a?b", ("connect", "network", "example.com:443")),
        ("write http http://example.com:8080", ("connect", "network", "example.com:8080")),
        ("read environment HOME", ("read", "environment", "HOME")),
        ("write env AWS_*", ("write", "environment", "AWS_*")),
        ("read secret github/token", ("read", "secret", "github/token")),
        ("execute shell git push --force", ("execute", "shell", "git push --force")),
        ("execute shell *", ("execute", "shell", "*")),
        ("execute tool tools:ops/deploy:release", ("execute", "tool", "tools:ops/deploy:release")),
        ("search tool knowledge:*", ("read", "tool", "knowledge:*")),
        ("execute kiwi-mcp search", ("execute", "tool", "kiwi-mcp:search")),
        ({"access": "read", "resource": "secret", "scope": "A"}, ("read", "secret", "A")),
        ({"access": "execute", "resource": "shell"}, ("execute", "shell", "*")),
        (["read", "secret"], ("read", "secret", "*")),
        (Permission(Access.READ, Resource.SECRET, "A"), ("read", "secret", "A")),
    ],
    ids=str,
)
def test_a_permission_is_parsed(said, meant):
    assert parsed(said) == meant
    assert parsed(parse_permission("it", said)) == meant


@pytest.mark.parametrize(
    "said",
    [
        *("read filesystem ../up", "read filesystem a/../../b", "read filesystem a//b"),
        *("read filesystem a\\b", "read filesystem {a,b}", "read filesystem [ab]"),
        *("read filesystem ~root/x", "read filesystem ~", "read filesystem a**b"),
        *("read filesystem $HOME/x", "read filesystem a\0b", "read filesystem //host/x"),
        *("connect network a b", "connect network ex*mple.com", "connect network a.*.com"),
        *("connect network example.com:0", "connect network example.com:99999"),
        *("connect network user@example.com", "connect network https://user:pw@example.com"),
        *("connect network ftp://example.com", "connect network -a.com", "connect network a..b"),
        *("connect network http\u017f://a.com", "connect network \u212aa.com"),
        *("read environment A B", "read environment 1A", "read environment *A"),
        *("read secret ../x", "read secret a b"),
        *("execute shell a; b", "execute shell a | b", "execute shell $(a)", "execute shell a  b"),
        *("execute shell 'a'", "execute shell a > b", "execute shell a\nb"),
        *("execute tool a b", "execute tool {x}", f"execute tool {'a' * 301}"),
    ],
    ids=ascii,
)
def test_a_scope_that_cannot_be_held_to_is_refused(said):
    assert "permissions[0] has " in reason([said])


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("reed filesystem x", "the access 'reed'; known are connect, execute, read, write"),
        ("reed filesystem x", "did you mean 'read'?"),
        ("read disk x", "'disk'; known are environment, filesystem, network, secret, shell, tool"),
        ("write secret x", "write on secret; that takes read"),
        ("read shell ls", "read on shell; that takes execute"),
        ("connect filesystem x", "connect on filesystem; that takes read or write"),
        ("read", "says no access, resource and scope"),
        ("", "says no access, resource and scope"),
        (3, "says no access, resource and scope"),
        ({"access": "read", "ressource": "secret"}, "did you mean 'resource'?"),
        ({"access": 3, "resource": "secret"}, "says no access"),
    ],
    ids=str,
)
def test_unknown_words_are_refused_with_those_that_are_known(said, told):
    assert told in reason([said])


def test_permissions_are_a_list_of_at_most_a_hundred_each_once():
    assert parse_permissions(None) == ()
    assert len(parse_permissions(["read secret A"] * 100)) == 1
    assert "it must be a list" in reason("read secret A")
    assert "at most 100" in reason(["read secret A"] * 101)


def test_every_source_can_say_permissions():
    item = admit(make_candidate(permissions=["read secret A"]))
    assert isinstance(item, Item)
    assert item.permissions == (Permission(Access.READ, Resource.SECRET, "A"),)
    refused = admit(make_candidate(permissions=["read secrets A"]))
    assert isinstance(refused, Rejection)
    assert refused.code == "bad_permission"


@given(
    st.sampled_from([*Access, "search", "x"]),
    st.sampled_from([*Resource, "env", "y"]),
    st.text(max_size=40) | st.from_regex(r"[a-z*/.~:\-]{1,20}", fullmatch=True),
)
def test_what_is_parsed_is_parsed_again_to_the_same(access, resource, scope):
    try:
        once = parse_permission("it", [access, resource, scope])
    except Refused as refused:
        assert refused.code == "bad_permission"
        return
    assert parse_permission("it", once) == once
    assert ".." not in once.scope.split("/") or once.resource is Resource.TOOL
