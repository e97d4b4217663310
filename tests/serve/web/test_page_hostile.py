"""Names and texts made to harm whoever looks at them: they are shown, and do nothing."""

import pytest
from playwright.sync_api import Page, expect
from web_parts import nobody_at_home, serving, unfold

from making import make_file, make_item
from pegboard.app.pegboard import Pegboard
from pegboard.model.calls import OnChange, ServerConfig, Transport
from pegboard.model.content import Access, Link, Permission, Resource, Signature, Version
from pegboard.model.items import CREATED, ItemId, Kind, Rejection, SourceRecord, ToolType

HARM = (
    "<script>document.title='owned';window.owned=1;alert(1)</script>",
    '"><img src=x onerror="window.owned=1;alert(2)">',
    "'-alert(3)-'",
    "<svg/onload=alert(4)>",
    "javascript:alert(5)",
    "[click](javascript:alert(6)) [data](data:text/html,<script>alert(7)</script>)",
    '![x](x" onerror="alert(8)) <javascript:alert(9)> <https://a.b/"onclick=alert(10)>',
    "{{7*7}} {% raw %} ${7*7} #{7*7}",
    "</textarea></pre></code></option></select></title></style><script>alert(11)</script>",
    "\u202egnp.exe\u2066 \u200b\u0007\u001b[31m \ufeff",
    "**<b onmouseover=alert(12)>bold</b>** `<i>` > # - ``` ~~~",
)
ALL = " ".join(HARM)
LINE = ALL.replace("\u0007", "").replace("\u001b", "")
NASTY_ID = "tools:<script>alert(13)</script>:a/../b?c=d#e%2f\"'&"


def hostile_items():
    schema = {
        "type": "object",
        "title": ALL,
        "description": ALL,
        "properties": {
            ALL: {"type": "string", "description": ALL, "default": ALL, "pattern": ALL},
            "choice": {"enum": [ALL, "plain"], "description": ALL},
            "lines": {"type": "array", "items": {"type": "string"}, "default": [ALL]},
            "deep": {"$ref": f"#/$defs/{ALL}"},
            "json": {"type": "object", "default": {ALL: ALL}, "properties": {ALL: {"enum": [ALL]}}},
        },
        "required": [ALL],
        "$defs": {ALL: {"type": "object", "description": ALL}},
    }
    common = {
        "namespace": "public",
        "description": f"{ALL}\n\nArgs:\n    {ALL}",
        "category": LINE,
        "tags": (LINE, *HARM),
        "input_schema": schema,
        "output_schema": schema,
        "author": LINE,
        "origin": ALL,
        "endpoint": LINE,
        "source_protocol": LINE,
        "permissions": (Permission(Access.READ, Resource.FILESYSTEM, ALL),),
        "links": (Link(LINE, ALL),),
        "signature": Signature(ALL, ALL, ALL, ALL, state=ALL),
        "version": Version(
            "1.0.0", "hash", {}, ALL, ALL, (make_file("a.py", ALL.encode(), media_type=ALL),)
        ),
        "source": CREATED,
    }
    yield make_item(LINE, id=ItemId(NASTY_ID), tool_type=ToolType.PYTHON, **common)
    document = f"# {ALL}\n\n{ALL}\n\n- {ALL}\n> {ALL}\n\n```\n{ALL}\n```\n"
    yield make_item(
        LINE, id=ItemId("knowledge:x:doc"), kind=Kind.KNOWLEDGE, body=document, **common
    )
    yield from (make_item(f"harm{n} {text}", description=text) for n, text in enumerate(HARM))


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    file = folder / "board.db"
    with nobody_at_home(folder), Pegboard.open(str(file), create=True) as board:
        board.store.items.put([*hostile_items()], board.target)
        for said in ("fine", ALL):
            item = make_item("changes", source="srv", description=said, origin_hash=said)
            changed = item._replace(input_schema={"type": "object", "title": said, said: said})
            board.store.items.put([changed], board.target, on_change=OnChange.HOLD)
        board.store.ledger.add_source(SourceRecord(LINE, LINE, ALL))
        board.store.ledger.put_server(
            ServerConfig("bad", Transport.STDIO, ALL, enabled=False), location=ALL
        )
        board.store.ledger.reject([Rejection(LINE, ALL, "h", "bad_type", ALL)])
        board.curate.deactivate("mcptools:mail:harm1 " + HARM[1], "<b>me</b>", HARM[0])
    with serving(file, PEGBOARD_EMBED_PROVIDER="disabled") as found:
        yield found


def harmless(page: Page) -> None:
    assert not page.evaluate("'owned' in window")
    assert page.evaluate("document.querySelectorAll('main script, main img[src=x]').length") == 0
    assert page.title() != "owned"
    handlers = page.evaluate(
        """() => [...document.querySelectorAll('*')].flatMap((each) =>
             [...each.attributes].map((a) => a.name)).filter((n) => n.startsWith('on'))"""
    )
    assert handlers == []
    links = page.evaluate("[...document.querySelectorAll('[href]')].map((each) => each.href)")
    allowed = ("http://127.0.0.1", "https://", "data:application/octet-stream;")
    assert [each for each in links if not each.startswith(allowed)] == []


def paths(page: Page) -> list[str]:
    """Every page that a link of the board leads to."""
    found = ["/ui/", "/ui/categories", "/ui/sources", "/ui/rejections", "/ui/changes", "/ui/status"]
    found += ["/ui/categories?all=yes", "/ui/?state=all", "/ui/?tag=%3Cscript%3E", "/ui/<script>"]
    page.goto("/ui/categories?all=yes")
    return found + page.locator("a[data-hit]").evaluate_all("all => all.map((a) => a.pathname)")


def test_every_page_shows_what_is_hostile_as_text(visitor):
    page = visitor.page
    visited = paths(page)
    assert len(visited) > 20
    for path in visited:
        page.goto(path)
        unfold(page)
        page.mouse.move(300, 300)
        harmless(page)
    page.goto("/ui/items/knowledge:x:doc")
    expect(page.locator("main")).to_contain_text(HARM[0])
    expect(page.locator("main")).to_contain_text("{{7*7}}")
    expect(page.locator("main")).to_contain_text("\\u202egnp.exe")
    said = page.evaluate(
        """() => {
          const found = document.querySelector('main').cloneNode(true);
          found.querySelectorAll('textarea').forEach((each) => each.remove());
          return found.textContent;
        }"""
    )
    assert "\u202e" not in said  # but in the field where it can be removed


def test_what_is_typed_and_found_is_text_as_well(visitor):
    page = visitor.open("/ui/")
    for text in HARM[:5]:
        page.get_by_role("searchbox").fill(text)
        expect(page).to_have_title(f"{text} · Pegboard")
        harmless(page)
    page.goto("/ui/?query=%3Cscript%3Ealert(1)%3C/script%3E&gone=<img src=x onerror=alert(1)>")
    expect(page.locator("mark").first).to_be_visible()
    harmless(page)


def test_the_form_sends_back_exactly_what_a_hostile_schema_says(visitor):
    page = visitor.page
    page.goto("/ui/categories?all=yes")
    page.locator("a[data-hit]", has_text="document.title").last.click()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("[data-try] [data-tried], [data-try] .wrong").first).to_be_visible()
    harmless(page)


def test_a_refused_edit_says_why_without_saying_it_as_markup(visitor):
    page = visitor.open("/ui/items/knowledge:x:doc")
    page.get_by_text("Edit tags").click()
    page.get_by_label("Tags, with commas between them").fill(f"{HARM[1]}, \u202e")
    page.get_by_role("button", name="Save tags").click()
    expect(page.get_by_role("alert").first).to_contain_text("RIGHT-TO-LEFT OVERRIDE")
    harmless(page)
