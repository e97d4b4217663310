"""search and show."""

import pytest

FIELDS = {
    "id",
    "kind",
    "name",
    "category",
    "source",
    "description",
    "score",
    "match_type",
    "breakdown",
    "reason",
    "namespace",
    "signature",
    "like_it",
}

ODD_QUERIES = {
    "quotes": "say \"hello\" and 'bye'",
    "operators": "send AND (message OR NOT mail) NEAR/3 name:post* ^x -y {a b}",
    "only operators": "AND OR NOT NEAR",
    "only marks": "\"'()*:^-+{}[]~",
    "percent and underscore": "100%_",
    "emoji": "📨 🙂‍↔️ 👩‍👩‍👧",
    "accents": "crème brûlée",
    "right to left": "أرسل رسالة",
    "no spaces": "顧客に返金する",
    "combining marks": "e\u0301\u0301\u0301 \u0300",
    "controls": "a\x01b\x1b[31mc\x7f",
    "hidden": "\u200b\u202e\ufeff\U000e0041",
    "private use": "\ue000\U0010ffff",
    "lines": "send\na\r\nmessage\t\u2028now",
    "SQL": "'; DROP TABLE items; --",
    "spaces": " \t\n",
    "long": "send message " * 7_800,
    "one long word": "x" * 100_000,
}


def ids(ran):
    return [hit["id"] for hit in ran.json["hits"]]


def test_search_prints_the_best_hit_first_with_its_reason(pegboard, board):
    ran = pegboard("search", "give", "money", "back")
    assert ran.code == 0
    assert ran.out.splitlines()[0].startswith(" 1. mcptools:payments:refund_payment")
    assert "Give a customer their money back." in ran.out
    assert "shares “give”, “money”, “back”" in ran.out


def test_the_words_of_a_query_need_no_quotes(pegboard, board):
    apart = pegboard("search", "--json", "money", "back")
    assert apart.json["hits"] == pegboard("search", "--json", "money back").json["hits"]


def test_search_as_json_has_every_field(pegboard, board):
    ran = pegboard("search", "send a message", "--json")
    assert ran.code == 0
    assert len(ran.json["hits"]) == 5
    for hit in ran.json["hits"]:
        assert hit.keys() >= FIELDS
        assert 0 <= hit["score"] <= 1
        assert hit["match_type"] in ("keyword", "semantic", "both")
        assert hit["breakdown"].keys() <= {"bm25", "vector", "boosts"}
        assert (hit["kind"], hit["source"]) == ("tool", "mcptools")
        assert hit["reason"]


@pytest.mark.parametrize("mode", ["bm25", "vector", "fuzzy", "hybrid"])
def test_every_mode_finds_the_tool(pegboard, board, mode):
    found = ids(pegboard("search", "refund payment", "--mode", mode, "--json"))
    assert found[0] == "mcptools:payments:refund_payment"


def test_search_that_finds_nothing_exits_with_1(pegboard, board):
    ran = pegboard("search", "xylophone", "--mode", "bm25")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("nothing found\n")
    assert "--mode hybrid" in ran.err


def test_search_that_finds_nothing_within_filters_suggests_to_go_without(pegboard, board):
    ran = pegboard("search", "message", "--category", "none")
    assert (ran.code, ran.out) == (1, "")
    assert "without them" in ran.err


def test_search_that_finds_nothing_has_no_hits_as_json(pegboard, board):
    ran = pegboard("search", "xylophone", "--mode", "bm25", "--json")
    assert (ran.code, ran.json["hits"], ran.err) == (1, [], "")


def test_an_empty_query_finds_nothing_and_says_so(pegboard, board):
    ran = pegboard("search", "", "--json")
    assert (ran.code, ran.json["hits"]) == (1, [])
    assert "the query is empty" in ran.err


@pytest.mark.parametrize(
    "args",
    [
        ("search",),
        ("search", "x", "--limit", "0"),
        ("search", "x", "--limit", "many"),
        ("search", "x", "--mode", "magic"),
        ("search", "x", "--kind", "thing"),
        ("search", "x", "--type", "perl"),
        ("search", "x", "--threshold", "1.1"),
        ("search", "x", "--threshold", "high"),
        ("search", "x", "--budget-tokens", "0"),
        ("search", "x", "--nonsense"),
        ("show",),
        ("nonsense",),
    ],
)
def test_wrong_usage_exits_with_2_and_says_what_is_wrong(pegboard, board, args):
    ran = pegboard(*args)
    assert (ran.code, ran.out) == (2, "")
    assert "Usage:" in ran.err
    assert "Error:" in ran.err


def test_limit_bounds_the_answer(pegboard, board):
    assert len(pegboard("search", "message", "--limit", "2", "--json").json["hits"]) == 2


def test_limit_comes_from_the_settings_unless_it_is_given(pegboard, board, desk):
    (desk / "pegboard.toml").write_text("[search]\nlimit = 1\n")
    assert len(pegboard("search", "message", "--json").json["hits"]) == 1
    assert len(pegboard("search", "message", "--json", "--limit", "3").json["hits"]) == 3


@pytest.mark.parametrize(
    ("filters", "categories"),
    [
        (["--category", "mail"], {"mail"}),
        (["--category", "mail", "--category", "chat"], {"mail", "chat"}),
        (["--category", "mail", "--type", "bash"], set()),
        (["--type", "python", "--kind", "tool"], {"mail", "chat", "payments"}),
        (["--kind", "skill"], set()),
        (["--source", "mcptools"], {"mail", "chat", "payments"}),
        (["--source", "tools"], {"mail", "chat", "payments"}),
        (["--source", "gentools"], set()),
        (["--namespace", "public"], {"mail", "chat", "payments"}),
        (["--namespace", "other"], set()),
        (["--tag", "money"], {"payments"}),
        (["--category", "Mail"], set()),
        (["--category", "'; --"], set()),
    ],
)
@pytest.mark.parametrize("mode", ["bm25", "vector", "hybrid"])
def test_filters_let_nothing_else_in(pegboard, board, tools, filters, categories, mode):
    tagged = b'__tags__ = ["money", "urgent"]\ndef run():\n    """Give a message money back."""\n'
    tools.raw("payments/refund_payment", tagged)
    pegboard("sync")
    ran = pegboard("search", "send message mails money", "--json", "--mode", mode, *filters)
    assert {hit["category"] for hit in ran.json["hits"]} == categories
    assert ran.code == (0 if categories else 1)


@pytest.mark.parametrize("query", ODD_QUERIES.values(), ids=ODD_QUERIES.keys())
@pytest.mark.parametrize("mode", ["bm25", "hybrid"])
def test_no_query_is_too_odd(pegboard, board, query, mode):
    ran = pegboard("search", "--json", "--mode", mode, "--", query)
    assert ran.code in (0, 1)
    assert ran.code == (0 if ran.json["hits"] else 1)


def test_operators_in_a_query_are_words(pegboard, board):
    plain = ids(pegboard("search", "--mode", "bm25", "--json", "message email"))
    assert ids(pegboard("search", "--mode", "bm25", "--json", '"message" NOT email*')) == plain


def test_search_without_a_board_says_how_to_make_one(pegboard, desk):
    ran = pegboard("search", "anything", "--board", "none.db", "--json")
    assert (ran.code, ran.out) == (4, "")
    assert str(desk / "none.db") in ran.err
    assert "pegboard init" in ran.err
    assert not (desk / "none.db").exists()


def test_search_on_an_empty_board_finds_nothing(pegboard):
    pegboard("init")
    ran = pegboard("search", "anything")
    assert (ran.code, ran.out) == (1, "")
    assert "pegboard add folder" in ran.err


def test_another_board_can_be_named_by_flag_or_variable(pegboard, board, desk, monkeypatch):
    pegboard("init", "--board", "other.db")
    assert pegboard("search", "refund", "--board", "other.db").code == 1
    monkeypatch.setenv("PEGBOARD_BOARD", "other.db")
    assert pegboard("search", "refund").code == 1
    assert pegboard("search", "refund", "--board", str(board)).code == 0


@pytest.mark.parametrize(
    "name", ["mcptools:payments:refund_payment", "payments__refund_payment", "refund_payment"]
)
def test_show_knows_a_tool_by_each_of_its_names(pegboard, board, name):
    ran = pegboard("show", name, "--json")
    assert ran.code == 0
    assert ran.json["item"]["id"] == "mcptools:payments:refund_payment"


def test_show_prints_description_input_and_state(pegboard, board, tools):
    tools.write("chat/shout", "Shout.", parameters="text: str, loud: bool = True")
    pegboard("sync")
    out = pegboard("show", "shout").out
    assert out.splitlines()[0] == "mcptools:chat:shout"
    assert "tool (python)" in out
    assert "tools / mcptools/chat/shout.py" in out
    assert "ready by test" in out
    assert "Shout." in out
    assert '"loud"' in out


def test_show_of_an_ambiguous_name_lists_the_candidates(pegboard, board, tools):
    tools.write("chat/send_email", "Send an e-mail from chat.")
    pegboard("sync")
    ran = pegboard("show", "send_email", "--json")
    assert (ran.code, ran.out) == (8, "")
    assert "mcptools:chat:send_email" in ran.err
    assert "mcptools:mail:send_email" in ran.err
    assert pegboard("show", "chat__send_email").code == 0


def test_show_of_a_tool_in_two_namespaces_tells_the_two_apart(pegboard, board):
    pegboard("add", "folder", "tools", "--name", "again", "--namespace", "blue")
    pegboard("sync", "again")
    ran = pegboard("show", "mcptools:mail:send_email")
    assert ran.code == 8
    assert "public" in ran.err
    assert "blue" in ran.err


def test_show_of_an_unknown_name_says_how_to_look_for_it(pegboard, board):
    ran = pegboard("show", "nonsense", "--json")
    assert (ran.code, ran.out) == (7, "")
    assert "'nonsense'" in ran.err
    assert "pegboard search" in ran.err
