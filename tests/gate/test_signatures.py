import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import example, given
from hypothesis import strategies as st

from making import make_candidate, make_file, make_item
from pegboard.gate.refusal import Refused
from pegboard.gate.side_files import (
    MOST_BYTES,
    claimed,
    content_hash,
    is_key_name,
    is_moment,
    key_id,
    moment,
    read,
    sums,
    written,
)
from pegboard.gate.signatures import (
    CODES,
    GRACE_SECONDS,
    Policy,
    Seal,
    State,
    TrustedKey,
    check,
    check_kept,
    is_namespace_pattern,
)
from pegboard.model.content import Signature
from pegboard.model.items import Form, Kind

NOW = 1_900_000_000.0
PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = PRIVATE.public_key().public_bytes_raw()
ADA = TrustedKey(key_id(PUBLIC), "ada", PUBLIC)
TRUSTED = {ADA.id: ADA}
DAY = 86_400

DOCUMENTS = {
    Kind.TOOL: [
        make_file("tool.yaml", b"name: send\n"),
        make_file("send.py", b"pass\n"),
        make_file("bin/run.sh", b"#!/bin/sh\n", executable=True),
    ],
    Kind.DIRECTIVE: [make_file("send.md", b"<directive/>\n")],
    Kind.KNOWLEDGE: [make_file("send.md", b"---\nid: 1\n---\n")],
    Kind.SKILL: [make_file("SKILL.md", b"# Send\n"), make_file("notes/more.txt", b"more\n")],
}
FILES = DOCUMENTS[Kind.TOOL]
ITEM = make_item("send")
EVERY_FILE = [(kind, at) for kind, files in DOCUMENTS.items() for at in range(len(files))]


def side_file(item=ITEM, files=FILES, *, signed_at=NOW, expires_at="", private=PRIVATE):
    public = private.public_key().public_bytes_raw()
    claim = claimed(item, files, key_id(public), moment(signed_at), expires_at)
    return written(claim, files, signer_name="ada", public_key=public, sign=private.sign)


def verdict(side, files=FILES, *, item=ITEM, trusted=TRUSTED, now=NOW):
    return check(side, item, files, trusted, now)


def state(side, files=FILES, **given):
    return verdict(side, files, **given).state


def altered(side=None, **changes):
    """A side file with other fields. None leaves a field out."""
    said = json.loads(side or side_file()) | changes
    return json.dumps({k: v for k, v in said.items() if v is not None}).encode()


# What is signed


@pytest.mark.parametrize("kind", Kind)
def test_an_item_as_it_was_signed_is_trusted(kind):
    item, files = make_item("send", kind=kind), DOCUMENTS[kind]
    found = verdict(side_file(item, files), files, item=item)
    assert (found.state, found.reason) == (State.TRUSTED, "")
    assert found.signature is not None
    assert found.signature.signer == ADA.id
    assert found.signature.signed_at == moment(NOW)


@pytest.mark.parametrize(("kind", "at"), EVERY_FILE)
def test_one_byte_in_any_file_of_any_kind_is_noticed_and_the_file_named(kind, at):
    item, files = make_item("send", kind=kind), list(DOCUMENTS[kind])
    side, was = side_file(item, files), files[at]
    for content in (was.content[:-1] + b"!", was.content + b"\n", was.content[1:]):
        files[at] = make_file(was.path, content, executable=was.executable)
        found = verdict(side, files, item=item)
        assert found.state is State.CHANGED
        assert f"{was.path!r} changed since it was signed" in found.reason


@pytest.mark.parametrize(("kind", "at"), EVERY_FILE)
def test_the_executable_bit_is_signed(kind, at):
    item, files = make_item("send", kind=kind), list(DOCUMENTS[kind])
    side = side_file(item, files)
    files[at] = files[at]._replace(executable=not files[at].executable)
    found = verdict(side, files, item=item)
    assert found.state is State.CHANGED
    assert f"whether {files[at].path!r} can be executed" in found.reason


def test_the_content_counts_and_not_the_hash_that_a_file_is_said_to_have():
    liar = FILES[1]._replace(content=b"import os\n")
    assert state(side_file(), [FILES[0], liar, FILES[2]]) is State.CHANGED


def test_the_order_of_files_does_not_matter():
    assert state(side_file(), FILES[::-1]) is State.TRUSTED


def test_swapped_renamed_added_and_removed_files_are_noticed():
    manifest, code, script = FILES
    side = side_file()
    swapped = [manifest._replace(path=code.path), code._replace(path=manifest.path), script]
    assert state(side, swapped) is State.CHANGED
    found = verdict(side, [manifest, code._replace(path="sent.py"), script])
    assert (found.state, "'send.py' was signed and is gone" in found.reason) == (
        State.CHANGED,
        True,
    )
    found = verdict(side, [*FILES, make_file("extra.py")])
    assert (found.state, "'extra.py' was added" in found.reason) == (State.CHANGED, True)
    assert "'send.py' was signed and is gone" in verdict(side, [manifest, script]).reason


def test_no_two_lists_of_files_have_the_same_hash():
    lists = [
        [make_file("a", b"b")],
        [make_file("ab", b"")],
        [make_file("a", b""), make_file("b", b"")],
        [make_file('a",false,"', b"")],
        [],
    ]
    assert len({content_hash(sums(files)) for files in lists}) == len(lists)


def test_a_name_may_be_composed_in_either_way():
    composed, apart = make_file("caf\u00e9.py"), make_file("cafe\u0301.py")
    assert content_hash(sums([composed])) == content_hash(sums([apart]))
    assert state(side_file(files=[composed]), [apart]) is State.TRUSTED


def test_two_files_whose_names_only_look_different_cannot_be_signed():
    files = [make_file("caf\u00e9.py", b"one"), make_file("cafe\u0301.py", b"two")]
    assert state(side_file(files=files), files) is State.INVALID


@pytest.mark.parametrize(
    "other",
    [
        make_item("receive"),
        make_item("send", category="telegraph"),
        make_item("send", namespace="team/mail"),
        make_item("send", kind=Kind.SKILL),
    ],
)
def test_a_signature_is_good_only_for_the_item_it_was_made_for(other):
    found = verdict(side_file(), item=other)
    assert found.state is State.INVALID
    assert f"it is signed as 'tool' {ITEM.id!r} in 'public', and this is " in found.reason
    assert state(side_file(other), item=other) is State.TRUSTED


def test_the_payload_is_canonical_json():
    claim = claimed(ITEM, FILES, ADA.id, moment(NOW))
    said = json.loads(claim.payload)
    assert said == {
        "pegboard": 1,
        "id": ITEM.id,
        "kind": "tool",
        "namespace": "public",
        "content": content_hash(sums(FILES)),
        "signer": ADA.id,
        "signed_at": "2030-03-17T17:46:40Z",
    }
    again = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert claim.payload == again.encode()


# Who signed, and when


def test_an_item_without_side_file_is_unsigned():
    found = verdict(b"")
    assert found.state is State.UNSIGNED
    assert "pegboard sign" in found.reason
    assert found.signature is None


def test_a_signer_who_is_not_trusted_is_unknown():
    found = verdict(side_file(), trusted={})
    assert found.state is State.UNKNOWN
    assert ADA.id in found.reason


def test_the_key_in_the_side_file_does_not_make_its_owner_trusted():
    other = Ed25519PrivateKey.generate()
    assert state(side_file(private=other)) is State.UNKNOWN
    public = base64.b64encode(other.public_key().public_bytes_raw()).decode()
    assert state(altered(public_key=public)) is State.INVALID


def test_a_signature_of_an_unknown_signer_must_fit_all_the_same():
    other = base64.b64encode(PRIVATE.sign(b"something else")).decode()
    assert state(altered(value=other), trusted={}) is State.INVALID
    assert state(side_file(), [*FILES, make_file("extra")], trusted={}) is State.CHANGED


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("signed_at", moment(NOW - 1)),
        ("expires_at", moment(NOW + DAY)),
        ("value", base64.b64encode(bytes(64)).decode()),
    ],
)
def test_nothing_that_is_signed_can_be_altered_in_the_side_file(field, value):
    assert state(altered(**{field: value})) is State.INVALID


def test_an_expiry_cannot_be_taken_out_of_the_side_file():
    side = side_file(expires_at=moment(NOW + DAY))
    assert state(side) is State.TRUSTED
    assert state(altered(side, expires_at=None)) is State.INVALID


def test_a_list_of_files_that_fits_the_changed_files_is_not_what_was_signed():
    changed = [*FILES, make_file("extra.py")]
    listed = [each._asdict() for each in sums(changed)]
    assert state(altered(files=listed), changed) is State.INVALID
    assert state(altered(files=listed, content=content_hash(sums(changed))), changed) is (
        State.INVALID
    )


def test_what_a_revoked_key_signed_is_refused_whenever_that_was():
    revoked = ADA._replace(revoked_at=moment(NOW), reason="laptop lost")
    long_before = side_file(signed_at=NOW - 1000 * DAY)
    found = verdict(long_before, trusted={ADA.id: revoked})
    assert found.state is State.REVOKED
    assert "'ada' was revoked on 2030-03-17 (laptop lost)" in found.reason


def test_the_time_of_a_signature_may_be_ahead_by_a_little():
    assert state(side_file(signed_at=NOW + GRACE_SECONDS)) is State.TRUSTED
    assert state(side_file(signed_at=NOW + GRACE_SECONDS + 1)) is State.EARLY


def test_a_signature_ends_with_its_expiry():
    side = side_file(expires_at=moment(NOW + DAY))
    assert state(side, now=NOW + DAY - 1) is State.TRUSTED
    assert state(side, now=NOW + DAY) is State.EXPIRED


def test_a_signature_must_be_of_the_time_in_which_the_key_was_good():
    bounded = ADA._replace(valid_from=moment(NOW), valid_until=moment(NOW + DAY))
    trusted = {ADA.id: bounded}
    later = NOW + 30 * DAY
    assert state(side_file(signed_at=NOW - 1), trusted=trusted, now=later) is State.EARLY
    assert state(side_file(signed_at=NOW), trusted=trusted, now=later) is State.TRUSTED
    assert state(side_file(signed_at=NOW + DAY), trusted=trusted, now=later) is State.TRUSTED
    assert state(side_file(signed_at=NOW + DAY + 1), trusted=trusted, now=later) is State.EXPIRED


@pytest.mark.parametrize(
    ("patterns", "namespace", "allowed"),
    [
        (("*",), "public", True),
        (("*",), "team/mail", True),
        (("team",), "team", True),
        (("team",), "team/mail", False),
        (("team",), "teams", False),
        (("team/*",), "team/mail", True),
        (("team/*",), "team", False),
        (("team/*",), "teams/mail", False),
        (("team/mail",), "team/mail", True),
        (("other", "team/*"), "team/mail", True),
        ((), "public", False),
    ],
)
def test_a_key_signs_for_its_namespaces_only(patterns, namespace, allowed):
    item = make_item("send", namespace=namespace)
    trusted = {ADA.id: ADA._replace(namespaces=patterns)}
    expected = State.TRUSTED if allowed else State.NOT_ALLOWED
    assert state(side_file(item), item=item, trusted=trusted) is expected


@pytest.mark.parametrize("text", ["*", "public", "team/mail", "team/*"])
def test_these_are_namespace_patterns(text):
    assert is_namespace_pattern(text)


@pytest.mark.parametrize("text", ["", "/*", "**", "te*", "Team", "a/b/*/c", "team/", "../x"])
def test_these_are_no_namespace_patterns(text):
    assert not is_namespace_pattern(text)


@pytest.mark.parametrize("text", ["", ".", "..", "-a", "a/b", "A", "a b", "a\n", "ä", "x" * 64])
def test_odd_names_are_no_names_of_keys(text):
    assert not is_key_name(text)


@pytest.mark.parametrize(
    "text", ["2030-01-31", "2030-02-30T00:00:00Z", "2030-01-31T12:00:00+01:00", "", "x"]
)
def test_these_are_no_moments(text):
    assert not is_moment(text)


# Side files that somebody else wrote


@pytest.mark.parametrize(
    "side",
    [
        b"nonsense",
        b"\xff\xfe",
        b"[]",
        b"null",
        b"{}",
        b'{"pegboard": 2}',
        b"[" * 500_000,
        b'{"a":' * 100_000,
        b" " * (MOST_BYTES + 1),
        b'{"pegboard": 1, "pegboard": 1}',
        b'{"pegboard": ' + b"1" * 10_000 + b"}",
        altered(algorithm="rsa"),
        altered(extra="field"),
        altered(files=None),
        altered(files={}),
        altered(files=[["a", False, "b"]]),
        altered(files=[{"path": "a", "executable": 1, "sha256": "0" * 64}]),
        altered(files=[{"path": "a", "executable": True, "sha256": "0" * 64, "x": 1}]),
        altered(files=json.loads(side_file())["files"] * 2),
        altered(value=None),
        altered(value=3),
        altered(value="AA=="),
        altered(value=json.loads(side_file())["value"].rstrip("=")),
        altered(value=json.loads(side_file())["value"] + "\n"),
        altered(public_key="not base64!"),
        altered(signer="ed25519:" + "0" * 32),
        altered(signer="../../etc/passwd"),
        altered(signer_name="\u202eada"),
        altered(signed_at="yesterday"),
        altered(signed_at="2030-02-31T00:00:00Z"),
        altered(expires_at=7),
        altered(expires_at="9"),
        altered(expires_at="2000-01-01T00:00:00Z"),
        altered(id="\ud800"),
        altered(id=["send"]),
        altered(content="0" * 64),
    ],
)
def test_a_side_file_that_pegboard_did_not_write_is_invalid(side):
    found = verdict(side)
    assert found.state is State.INVALID
    assert found.reason.startswith("its signature cannot be used: ")
    assert found.reason.isprintable()


def test_base64_that_decodes_to_the_same_bytes_but_is_written_otherwise_is_refused():
    value = json.loads(side_file())["value"]
    assert value.endswith("==")
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    twin = value[:-3] + letters[letters.index(value[-3]) + 1] + "=="
    assert base64.b64decode(twin) == base64.b64decode(value)
    assert state(altered(value=twin)) is State.INVALID


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
FIELDS = sorted(json.loads(side_file()))


@given(st.binary(max_size=300))
@example(b"\x00")
def test_any_bytes_are_a_verdict_and_no_exception(side):
    assert state(side) in (State.INVALID, State.UNSIGNED)


@given(st.dictionaries(st.sampled_from(FIELDS), json_values, min_size=1))
def test_a_side_file_with_any_other_values_is_never_trusted(changes):
    said = json.loads(side_file())
    if said | changes == said:
        return
    assert state(json.dumps(said | changes).encode()) is not State.TRUSTED


@given(st.integers(0, len(side_file()) - 1), st.integers(0, 255))
def test_one_other_byte_in_the_side_file_changes_nothing_that_counts_unnoticed(at, byte):
    side = bytearray(side_file())
    side[at] = byte
    found = verdict(bytes(side))
    if found.state is State.TRUSTED:
        assert read(bytes(side)).claim == read(side_file()).claim


# What the gate makes of it


def sealed(side, policy, *, trusted=TRUSTED, files=FILES, form=Form.MANIFEST, **fields):
    candidate = make_candidate(files, **fields)._replace(form=form, signature=side)
    return Seal(policy, trusted, NOW).judge(candidate, ITEM)


def refusal(side, policy, **given):
    with pytest.raises(Refused) as refused:
        sealed(side, policy, **given)
    return refused.value.code


CASES = {
    State.UNSIGNED: {"side": b""},
    State.CHANGED: {"side": side_file(), "files": FILES[:2]},
    State.INVALID: {"side": b"nonsense"},
    State.UNKNOWN: {"side": side_file(), "trusted": {}},
    State.EXPIRED: {"side": side_file(signed_at=NOW - 9, expires_at=moment(NOW - 1))},
    State.EARLY: {"side": side_file(signed_at=NOW + DAY)},
    State.REVOKED: {
        "side": side_file(),
        "trusted": {ADA.id: ADA._replace(revoked_at=moment(NOW))},
    },
    State.NOT_ALLOWED: {
        "side": side_file(),
        "trusted": {ADA.id: ADA._replace(namespaces=("team/*",))},
    },
}


def test_every_state_but_trusted_has_a_code_of_its_own():
    assert CASES.keys() == CODES.keys() == set(State) - {State.TRUSTED}
    assert len(set(CODES.values())) == len(CODES)


@pytest.mark.parametrize("why", CASES)
def test_where_signatures_are_required_only_trusted_ones_pass(why):
    assert refusal(policy=Policy.REQUIRE, **CASES[why]) == CODES[why]


@pytest.mark.parametrize("policy", Policy)
def test_a_trusted_signature_passes_everywhere_and_is_kept(policy):
    signature = sealed(side_file(), policy).signature
    assert signature is not None
    assert (signature.state, signature.signer, signature.algorithm) == (
        "trusted",
        ADA.id,
        "ed25519",
    )


@pytest.mark.parametrize("policy", Policy)
@pytest.mark.parametrize("why", [State.CHANGED, State.INVALID, State.REVOKED])
def test_no_policy_lets_a_signature_pass_that_speaks_against_the_item(why, policy):
    assert refusal(policy=policy, **CASES[why]) == CODES[why]


@pytest.mark.parametrize("policy", [Policy.WARN, Policy.OFF])
@pytest.mark.parametrize("why", [State.UNKNOWN, State.EXPIRED, State.EARLY, State.NOT_ALLOWED])
def test_other_policies_let_the_rest_pass_and_keep_what_is_wrong(why, policy):
    signature = sealed(policy=policy, **CASES[why]).signature
    assert signature is not None
    assert signature.state == why


def test_unsigned_items_pass_with_a_mark_under_warn_and_without_under_off():
    assert sealed(b"", Policy.OFF).signature is None
    assert sealed(b"", Policy.WARN).signature == Signature("", "", "", "", "unsigned")


def test_what_is_read_from_elsewhere_than_documents_is_left_alone():
    assert sealed(b"", Policy.REQUIRE, form=Form.FIELDS) == ITEM
    assert sealed(b"", Policy.REQUIRE, form=Form.FIELDS, signable="yes") == ITEM


def test_a_single_python_file_is_asked_for_its_signature_though_it_has_only_fields():
    assert refusal(b"", Policy.REQUIRE, form=Form.FIELDS, signable=True) == "unsigned"
    assert sealed(side_file(), Policy.REQUIRE, form=Form.FIELDS, signable=True).signature


def test_the_mark_of_a_seal_changes_with_what_it_would_say():
    bounded = ADA._replace(namespaces=("team",))
    revoked = ADA._replace(revoked_at=moment(NOW))
    dated = ADA._replace(valid_until=moment(NOW))
    marks = [Seal(policy, {}, NOW).mark for policy in Policy]
    marks += [Seal(Policy.OFF, {ADA.id: each}, NOW).mark for each in (ADA, bounded, revoked, dated)]
    assert len(set(marks)) == len(marks)


def test_the_mark_of_a_seal_does_not_change_with_time_or_names():
    renamed = {ADA.id: ADA._replace(name="ada-lovelace")}
    assert Seal(Policy.OFF, TRUSTED, NOW).mark == Seal(Policy.OFF, renamed, NOW + DAY).mark


# What a board has kept


def kept(**changes):
    signature = sealed(side_file(), Policy.OFF).signature
    assert signature is not None
    return signature._replace(**changes)


def test_a_kept_signature_is_checked_against_the_files_on_the_board():
    assert check_kept(kept(), ITEM, FILES, TRUSTED, NOW).state is State.TRUSTED
    assert check_kept(kept(), ITEM, FILES[:2], TRUSTED, NOW).state is State.CHANGED
    renamed = ITEM._replace(id=make_item("receive").id)
    assert check_kept(kept(), renamed, FILES, TRUSTED, NOW).state is State.CHANGED


def test_a_kept_signature_is_worth_what_its_signer_is_worth_now():
    revoked = {ADA.id: ADA._replace(revoked_at=moment(NOW))}
    found = check_kept(kept(), ITEM, FILES, revoked, NOW)
    assert found.state is State.REVOKED
    assert found.signature is not None
    assert found.signature.state == "revoked"
    assert check_kept(kept(), ITEM, FILES, {}, NOW).state is State.UNKNOWN


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"value": ""}, State.UNSIGNED),
        ({"algorithm": "rsa"}, State.UNSIGNED),
        ({"value": "?"}, State.INVALID),
        ({"expires_at": moment(NOW + 1)}, State.CHANGED),
    ],
)
def test_a_kept_signature_that_cannot_be_checked_is_not_trusted(changes, expected):
    assert check_kept(kept(**changes), ITEM, FILES, TRUSTED, NOW).state is expected
