"""Searching on the page."""

import re

from playwright.sync_api import Page, Route, expect

MONEY = "give the customer their money back"


def hits(page: Page):
    return page.locator("[data-hit]")


def test_results_come_while_one_types_and_the_address_keeps_the_query(visitor):
    page = visitor.open("/ui/")
    visitor.stay()
    page.get_by_role("searchbox").press_sequentially(MONEY)
    expect(hits(page).first).to_have_text("refund_payment")
    expect(page).to_have_url(re.compile(r"/ui/\?query=give\+the\+customer\+their\+money\+back$"))
    expect(page).to_have_title(f"{MONEY} · Pegboard")
    expect(page.get_by_role("status")).to_have_text(re.compile(r"^\d+ hits, the best one first\.$"))
    assert visitor.stayed
    page.reload()
    expect(hits(page).first).to_have_text("refund_payment")


def test_the_keys_find_move_open_and_clear(page):
    page.goto("/ui/status")
    page.keyboard.press("/")
    expect(page).to_have_url(re.compile("/ui/$"))
    box = page.get_by_role("searchbox")
    expect(box).to_be_focused()
    page.keyboard.type(MONEY)
    page.keyboard.press("Enter")
    expect(hits(page).nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(hits(page).nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(box).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("refund_payment")
    page.go_back()
    expect(hits(page).first).to_have_text("refund_payment")
    hits(page).first.focus()
    page.keyboard.press("Escape")
    expect(box).to_be_focused()
    expect(box).to_have_value("")
    expect(page).to_have_url(re.compile("/ui/$"))
    expect(page.get_by_role("heading", name="Categories")).to_be_visible()


def test_a_slash_in_a_field_is_a_slash(page):
    page.goto("/ui/?query=refund")
    box = page.get_by_role("searchbox")
    box.focus()
    page.keyboard.press("End")
    page.keyboard.type("/a")
    expect(box).to_have_value("refund/a")


def test_the_words_of_the_query_are_marked(page):
    page.goto("/ui/?query=refund+customer")
    first = page.locator(".hit").first
    expect(first.locator(".hit-name mark")).to_have_text("refund")
    expect(first.locator(".hit-said mark")).to_have_text("customer")
    expect(first.locator(".why-reason mark").first).to_have_text("refund")


def test_a_word_that_was_misspelled_is_marked_as_it_was_read(page):
    page.goto("/ui/?query=refnd+paymnt")
    expect(page.locator(".hit-name mark").first).to_have_text("refund")


def test_how_a_hit_came_by_its_score_is_told_on_demand(page):
    page.goto(f"/ui/?query={MONEY}")
    first = page.locator(".hit").first
    expect(first.locator(".hit-number")).to_have_text(re.compile(r"^0\.9\d$"))
    expect(first.locator(".match")).to_have_text("both")
    expect(first.locator(".legs")).to_be_hidden()
    first.locator("summary").click()
    expect(first.locator(".legs tbody th")).to_have_text(["words", "meaning"])
    expect(first.locator(".sum")).to_contain_text("which is worth 0.9")


def test_filters_narrow_what_is_found_and_can_be_taken_back(visitor):
    page = visitor.open("/ui/?query=send+a+message")
    expect(hits(page).first).to_be_visible()
    visitor.stay()
    category = page.get_by_role("checkbox", name=re.compile("^mail"))
    category.check()
    expect(page).to_have_url(re.compile("category=mail"))
    expect(page.locator(".hit .hit-place a").first).to_have_text("mail")
    assert set(page.locator(".hit .hit-place a").all_inner_texts()) == {"mail"}
    assert visitor.stayed
    page.get_by_role("link", name=re.compile("category mail")).click()
    expect(page).not_to_have_url(re.compile("category="))
    expect(page.get_by_role("checkbox", name=re.compile("^mail"))).not_to_be_checked()


def test_choices_tell_how_much_they_leave(page):
    page.goto("/ui/")
    chat = page.locator(".choice", has_text=re.compile("^chat"))
    expect(chat.locator(".choice-count")).to_have_text("12")
    page.get_by_role("checkbox", name=re.compile("^gentools")).check()
    expect(
        page.locator(".choice", has_text=re.compile("^images")).locator(".choice-count")
    ).to_have_text("3")
    expect(page.locator(".choice", has_text=re.compile("^chat"))).to_have_count(0)


def test_filters_without_a_query_list_what_they_leave(page):
    page.goto("/ui/?kind=knowledge")
    expect(hits(page)).to_have_text(["The night shift"])
    page.goto("/ui/?tag=danger")
    expect(hits(page)).to_have_text(["wipe_disk"])
    page.goto("/ui/?tag=nowhere")
    expect(page.get_by_text("The filters leave nothing")).to_be_visible()


def test_the_next_page_of_a_list_goes_on_where_the_last_one_ended(page):
    page.goto("/ui/?source=mcptools")
    first = hits(page).all_inner_texts()
    page.get_by_role("link", name="Next page").click()
    expect(page).to_have_url(re.compile("after="))
    second = hits(page).all_inner_texts()
    assert len(first) == 50
    assert not set(first) & set(second)


def test_no_tool_fits_is_an_answer_with_what_comes_nearest(page):
    page.goto("/ui/?query=a+recipe+for+banana+bread")
    expect(page.locator(".empty-head")).to_have_text("No tool fits a recipe for banana bread")
    expect(page.locator(".near [data-hit]")).to_have_count(3)
    page.get_by_role("link", name="Show everything").click()
    expect(page).to_have_url(re.compile("threshold=0"))
    expect(page.locator(".near")).to_have_count(0)
    assert hits(page).count() > 3


def test_only_the_answer_to_the_newest_query_is_shown(page):
    """The first answer is kept back until the second one is there."""
    page.goto("/ui/")
    held: list[Route] = []
    page.route(re.compile(r"query=refund&part"), lambda route: held.append(route))
    box = page.get_by_role("searchbox")
    with page.expect_request(re.compile(r"query=refund&part")):
        box.fill("refund")
    box.fill("pin a message")
    expect(hits(page).first).to_have_text("pin_message")
    assert len(held) == 1
    held[0].continue_()
    expect(page.locator("[data-results]")).not_to_have_attribute("aria-busy", "true")
    expect(hits(page).first).to_have_text("pin_message")
    expect(page).to_have_url(re.compile("query=pin"))


def test_a_board_that_does_not_answer_is_told_and_asked_again(page):
    page.goto("/ui/")
    page.route(re.compile("part=results"), lambda route: route.abort())
    box = page.get_by_role("searchbox")
    box.fill("refund")
    expect(page.locator(".empty-head")).to_have_text("The board does not answer")
    page.unroute(re.compile("part=results"))
    box.fill("refund a")
    expect(hits(page).first).to_have_text("refund_payment")


def test_queries_in_other_scripts_and_directions_are_answered(page):
    for query in ("发送消息", "שלח הודעה", "🦄"):
        page.goto("/ui/")
        page.get_by_role("searchbox").fill(query)
        expect(page).to_have_title(f"{query} · Pegboard")
        expect(page.locator("[data-summary]")).not_to_be_empty()
        expect(page.get_by_role("searchbox")).to_have_value(query)


def test_a_query_that_is_too_long_is_refused_in_words(page):
    answer = page.goto(f"/ui/?query={'a' * 2001}")
    assert answer is not None and answer.status == 400
    expect(page.get_by_role("alert")).to_contain_text("2,001 characters")


SEVERAL = "give the customer their money back, then measure the distance between two places"


def test_hits_are_grouped_by_the_requests_of_a_question(page):
    page.goto(f"/ui/?query={SEVERAL}")
    groups = page.locator("section.request")
    expect(groups).to_have_count(2)
    for place, (request, name) in enumerate(
        [
            ("give the customer their money back", "refund_payment"),
            ("measure the distance between two places", "measure_distance"),
        ]
    ):
        group = groups.nth(place)
        heading = group.get_by_role("heading", level=2)
        expect(heading).to_have_text(f"Request {place + 1}. {request}")
        expect(group.get_by_role("heading", level=3).first).to_have_text(name)
    expect(page.locator("[data-summary]")).to_have_text(re.compile(r"\d+ hits for 2 requests\.$"))
    page.keyboard.press("ArrowDown")


def test_a_request_is_text_whatever_is_in_it(page):
    page.goto("/ui/?query=refund a payment, then send <b onmouseover=x>mail</b> to {{ 7*7 }}")
    heading = page.locator("section.request h2").nth(1)
    expect(heading).to_have_text("Request 2. send <b onmouseover=x>mail</b> to {{ 7*7 }}")
    expect(page.locator("section.request b")).to_have_count(0)


def test_a_page_with_several_requests_is_accessible(page, axe):
    page.goto(f"/ui/?query={SEVERAL}")
    page.evaluate(axe)
    found = page.evaluate("axe.run()")
    assert [each["id"] for each in found["violations"]] == []


def test_a_title_stands_above_the_description(page):
    page.goto("/ui/?query=reactor+drill")
    said = page.locator(".hit").first.locator(".hit-said")
    expect(said).to_have_text(["Reactor drill", "Break, and say why."])
    expect(said.first.locator("mark")).to_have_text(["Reactor", "drill"])
    page.goto("/ui/?query=refund_payment")
    expect(page.locator(".hit").first.locator(".hit-said")).to_have_count(1)
