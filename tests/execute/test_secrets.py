"""Secrets by reference: looked up late, and never seen again."""

import base64
import json
from urllib.parse import quote, urlencode

import keyring as system
import pytest
from hypothesis import given
from hypothesis import strategies as st
from keyrings.alt.file import PlaintextKeyring

from pegboard.errors import SecretMissing, UsageError
from pegboard.execute import keyring
from pegboard.execute.secrets import Secrets, environment_of, names_in

ODD = 'p\u00e4"ss/w\u00f6rd \u00ff\u00ff?>'
"""With something in it that every notation writes in its own way."""
KNOWN = {"TOKEN": "t0p-secret", "team/KEY": "other-secret"}


@pytest.fixture
def secrets():
    return Secrets(KNOWN.get)


def test_references_are_found_wherever_they_stand():
    said = {"a": "Bearer secret://TOKEN", "b": ["${TOKEN}", {"c": "secret://team/KEY"}], "d": 1}
    assert names_in(said) == ["TOKEN", "team/KEY"]
    assert names_in("no secret:// here, $TOKEN, ${1X}") == []


def test_a_reference_is_filled_in(secrets):
    assert secrets.filled("Bearer secret://TOKEN!") == "Bearer t0p-secret!"
    assert environment_of({"env": {"A": "${TOKEN}", "B": "plain"}}, secrets) == {
        "A": "t0p-secret",
        "B": "plain",
    }


def test_a_value_is_never_looked_into_again():
    assert Secrets({"A": "secret://B", "B": "x"}.get).filled("${A}") == "secret://B"


def test_a_missing_secret_says_what_to_do(secrets):
    with pytest.raises(SecretMissing, match="pegboard secret set GHOST"):
        secrets.filled("secret://GHOST")
    assert Secrets({"EMPTY": ""}.get).find("EMPTY") is None


def test_only_what_was_looked_up_is_hidden(secrets):
    assert secrets.hide("t0p-secret other-secret") == "t0p-secret other-secret"
    secrets.value("TOKEN")
    assert secrets.hide("t0p-secret other-secret") == "*** other-secret"


@given(st.text(min_size=4, max_size=30).filter(str.strip), st.text(max_size=20))
def test_no_usual_spelling_of_a_secret_gets_through(secret, around):
    secrets = Secrets({"S": secret}.get)
    secrets.value("S")
    for said in (secret, json.dumps(secret)[1:-1], repr(secret)[1:-1]):
        assert secret not in secrets.hide(f"<<{said}>>").replace("***", "")
    encoded = base64.b64encode(secret.encode("utf-8", "surrogatepass")).decode()
    assert secrets.hide(f"<{encoded}>") == "<***>"
    told = secrets.hidden_in({"k": [secret, {f"{secret}": 1}], "n": 5, "o": None})
    assert secret not in told["k"][0].replace("***", "")
    assert told["n"] == 5


@pytest.mark.parametrize(
    "said",
    [
        json.dumps(ODD, ensure_ascii=False),
        json.dumps(ODD).replace("/", "\\/"),
        json.dumps(ODD, ensure_ascii=False).replace("/", "\\/"),
        urlencode({"k": ODD}),
        quote(ODD),
        quote(ODD, "").lower(),
        base64.urlsafe_b64encode(ODD.encode()).decode(),
    ],
)
def test_a_secret_is_known_as_other_languages_and_libraries_write_it(said):
    secrets = Secrets({"S": ODD}.get)
    secrets.value("S")
    assert "***" in secrets.hide(said)


IN_BASE64 = (base64.b64encode, base64.urlsafe_b64encode, base64.encodebytes)


def unmistakable(secret, written):
    """What stands in base64 for these bytes alone, whichever bytes come before and after."""
    for before in range(3):
        found = written(bytes(before) + secret).decode().replace("\n", "")
        yield found[(0, 2, 3)[before] : (before + len(secret)) * 8 // 6]


@given(
    st.text(min_size=4, max_size=90).filter(lambda text: "***" not in text),
    st.binary(max_size=90),
    st.binary(max_size=90),
)
def test_no_secret_gets_through_in_base64_whatever_stands_around_it(secret, before, after):
    secrets = Secrets({"S": secret}.get)
    secrets.value("S")
    content = secret.encode()
    for written in IN_BASE64:
        told = secrets.hide(written(before + content + after).decode()).replace("\n", "")
        assert "***" in told
        for core in unmistakable(content, written):
            assert len(core) >= 4
            assert core not in told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("aHVudGVyMmh1bnRlcjI=", "***"),
        ("aHVudGVyMmh1bnRlcjIK", "***K"),
        ("dXNlcjpodW50ZXIyaHVudGVyMg==", "dXNlcjp***"),
        ("aHVudGVyMmh1bnRl\r\ncjI=\r\n", "***\r\n"),
        ("aHVudGVyMWh1bnRlcjE=", "aHVudGVyMWh1bnRlcjE="),
    ],
    ids=["alone", "with a line end", "after a user's name", "in two lines", "another"],
)
def test_a_secret_is_hidden_in_base64_and_what_is_around_it_is_not(said, told):
    secrets = Secrets({"S": "hunter2hunter2"}.get)
    secrets.value("S")
    assert secrets.hide(f"Basic {said} it is") == f"Basic {told} it is"


def test_a_secret_in_base64_is_hidden_as_often_as_it_is_there_and_other_lines_stay_lines():
    secrets = Secrets({"S": "hunter2hunter2"}.get)
    secrets.value("S")
    told = secrets.hide(base64.encodebytes(b"hunter2hunter2, " * 20).decode())
    assert told.count("***") == 20
    other = base64.encodebytes(b"hunter1hunter1, " * 20).decode()
    assert secrets.hide(other) == other
    assert secrets.hide("hunter2\nhunter2\n") == "hunter2\nhunter2\n"
    assert secrets.hide("aHVudGVyMmh1bnRlcjIK\ndXNlcg==\n") == "***K\ndXNlcg==\n"


def test_what_is_too_short_to_be_hidden_is_not_hidden_in_base64_either():
    secrets = Secrets({"S": "abc"}.get)
    secrets.value("S")
    assert secrets.hide("abc YWJj") == "abc YWJj"


def test_a_secret_is_known_without_its_line_end_by_its_lines_and_as_a_number():
    known = {
        "FILE": "from-a-file\n",
        "PEM": "-----BEGIN KEY-----\nMIIBVgIBADANBgkq\n",
        "PIN": "48151623",
    }
    secrets = Secrets(known.get)
    for name in known:
        secrets.value(name)
    assert secrets.hide("it is from-a-file.") == "it is ***."
    assert secrets.hide("  -----BEGIN KEY-----\r\n  MIIBVgIBADANBgkq\r\n") == "  ***\r\n  ***\r\n"
    assert secrets.hidden_in({"pin": 48151623, "n": [4815162, True, None]}) == {
        "pin": "***",
        "n": [4815162, True, None],
    }


def test_what_is_made_from_a_secret_can_be_hidden_too(secrets):
    secrets.learn("made-from-it")
    assert secrets.hide("made-from-it") == "***"


@pytest.fixture
def real_keyring(tmp_path):
    """A keyring that keeps its secrets in a file: there is no desktop here."""
    before, own = system.get_keyring(), PlaintextKeyring()
    own.file_path = str(tmp_path / "keyring.cfg")
    system.set_keyring(own)
    yield
    system.set_keyring(before)


@pytest.mark.program
def test_the_systems_keyring_keeps_finds_and_forgets(real_keyring):
    assert keyring.look_up("TOKEN") is None
    keyring.keep("TOKEN", "t0p-secret")
    assert Secrets(keyring.look_up).value("TOKEN") == "t0p-secret"
    assert keyring.forget("TOKEN")
    assert not keyring.forget("TOKEN")


@pytest.mark.program
def test_without_a_usable_keyring_nothing_is_found_and_keeping_says_why():
    from keyring.backends.fail import Keyring

    before = system.get_keyring()
    system.set_keyring(Keyring())
    try:
        assert keyring.look_up("TOKEN") is None
        with pytest.raises(UsageError, match="the keyring did not take TOKEN"):
            keyring.keep("TOKEN", "x")
    finally:
        system.set_keyring(before)
