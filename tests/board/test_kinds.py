"""Skills, directives and knowledge beside tools: found by what they say, and in which part."""

import pytest

from making import hang, make_item
from pegboard.board.find.answering import Ask, FindSettings, find
from pegboard.board.maintain.worker import Worker, WorkerSettings
from pegboard.embed.hashed import HashedEmbedder
from pegboard.errors import EmbeddingError, UsageError
from pegboard.model.items import Filters, Kind, MatchType, Mode
from pegboard.search.passages import LONGEST_EXCERPT, by_words, shown
from pegboard.text import Passage, embedded_passages, embedding_text, passages

EMBEDDER = HashedEmbedder()
HANDBOOK = make_item(
    "On-call handbook",
    kind=Kind.KNOWLEDGE,
    category="ops",
    id="knowledge:ops:on-call",
    description="Everything that somebody needs who carries the pager.",
    body=(
        "# When it rings\nAcknowledge within five minutes. Open the runbook.\n\n"
        "# Pay\nThe allowance is 350 euros a week. Night work counts more.\n\n"
        "# Handover\nTuesday at ten, what rang and which silences run.\n"
    ),
)
FORMS = make_item(
    "pdf-forms",
    kind=Kind.SKILL,
    category="documents",
    id="skills:documents:pdf-forms",
    description="Fill in forms that come as PDF.",
    body="# Signatures\nNever draw a signature from a picture.\n# Fields\nList the fields first.\n",
)
RELEASE = make_item(
    "cut_release",
    kind=Kind.DIRECTIVE,
    category="release",
    id="directives:release:cut_release",
    description="Publish a new version of a service.",
    body="1. freeze: Announce the freeze.\n\n2. canary: Roll out to five per cent and watch.",
    input_schema={
        "type": "object",
        "properties": {"service": {"type": "string", "description": "Name of the service"}},
        "required": ["service"],
    },
)
TOOL = make_item("send_letter", description="Send a letter by post.", body="# Pay\nnothing")
SHELF = (HANDBOOK, FORMS, RELEASE, TOOL)


@pytest.fixture
def shelf(store):
    hang(store, EMBEDDER, *SHELF)
    return store


def ask(store, text, embedder=EMBEDDER, **asked):
    found = find(store, embedder, Ask(text, threshold=0.0, limit=10, **asked), FindSettings())
    return {hit.name: hit for hit in found.hits}


def test_one_search_finds_all_kinds(shelf):
    hits = ask(shelf, "a letter about forms, the release and the pager")
    assert {hit.kind for hit in hits.values()} == set(Kind)


@pytest.mark.parametrize("kind", Kind)
def test_a_kind_can_be_asked_for(shelf, kind):
    hits = ask(shelf, "letter forms release pager", filters=Filters(kinds=(kind.value,)))
    assert [hit.kind for hit in hits.values()] == [kind]


def test_an_unknown_kind_is_an_error_that_names_the_known_ones(shelf):
    with pytest.raises(UsageError, match="'gadget'; it must be one of tool, skill, directive, kn"):
        ask(shelf, "letter", filters=Filters(kinds=("tool", "gadget")))


def test_a_hit_names_the_part_of_a_long_text_that_answers(shelf):
    hit = ask(shelf, "the allowance in euros a week")["On-call handbook"]
    assert hit.passage == "Pay: The allowance is 350 euros a week."
    assert "found in “Pay”" in hit.reason
    assert "“allowance”" in hit.reason


def test_what_an_item_itself_is_needs_no_passage(shelf):
    hit = ask(shelf, "everything somebody needs who carries the pager")["On-call handbook"]
    assert hit.passage == ""
    assert "found in" not in hit.reason


def test_a_tool_has_no_passage_whatever_its_body(shelf):
    assert ask(shelf, "pay nothing")["send_letter"].passage == ""


@pytest.mark.parametrize("mode", [Mode.BM25, Mode.FUZZY])
def test_by_words_alone_the_part_with_the_most_of_them_is_named(shelf, mode):
    hit = ask(shelf, "which silences run on tuesday", mode=mode)["On-call handbook"]
    assert hit.match_type in (MatchType.KEYWORD, MatchType.FUZZY)
    assert hit.passage == "Handover: Tuesday at ten, what rang and which silences run."


def test_while_the_vectors_are_still_to_come_the_part_is_named_by_words(store):
    store.items.put([HANDBOOK], EMBEDDER.fingerprint)
    hit = ask(store, "acknowledge the runbook")["On-call handbook"]
    assert hit.passage.startswith("When it rings: ")


def test_without_a_model_the_part_is_named_by_words(shelf):
    hit = ask(shelf, "draw a signature from a picture", embedder=None)["pdf-forms"]
    assert hit.passage == "Signatures: Never draw a signature from a picture."


def test_the_store_is_asked_for_passages_only_if_a_shown_item_has_several(shelf, monkeypatch):
    asked = []
    index = type(shelf.index)
    known = index.best_passages

    def counted(self, query, target, keys):
        asked.append(list(keys))
        return known(self, query, target, keys)

    monkeypatch.setattr(index, "best_passages", counted)
    ask(shelf, "send a letter", filters=Filters(kinds=("tool",)))
    assert asked == []
    ask(shelf, "the allowance in euros a week")
    assert len(asked) == 1


def test_only_what_takes_arguments_has_a_signature(shelf):
    hits = ask(shelf, "letter forms release pager")
    assert hits["cut_release"].signature == "cut_release(service: string)"
    assert hits["send_letter"].signature == "send_letter()"
    assert (hits["pdf-forms"].signature, hits["On-call handbook"].signature) == ("", "")


def test_near_duplicates_are_told_with_the_part_of_the_first(store):
    twin = HANDBOOK._replace(id="knowledge:ops:on-call-2")
    hang(store, EMBEDDER, HANDBOOK, twin)
    [hit] = find(
        store, EMBEDDER, Ask("the allowance in euros", diverse=True, threshold=0.0), FindSettings()
    ).hits
    assert hit.like_it == ("knowledge:ops:on-call-2",)
    assert hit.passage.startswith("Pay: ")


# Which part, by words.

PARTS = (
    Passage("", "handbook", "All about letters."),
    Passage("Stamps", "handbook. Stamps", "Glue them on. Stamps for a letter cost much."),
    Passage("Boxes", "handbook. Boxes", "Red, at corners."),
)


@pytest.mark.parametrize(
    ("terms", "place"),
    [({"letter"}, 0), ({"letter", "stamp"}, 1), ({"red"}, 2), ({"handbook", "red"}, 0), (set(), 0)],
)
def test_the_part_with_the_most_terms_is_chosen_and_of_equals_the_first(terms, place):
    assert by_words(PARTS, frozenset(terms)) == place


def test_the_sentence_with_the_most_terms_is_shown():
    said = shown(PARTS[1], frozenset({"letter", "cost"}))
    assert said == "Stamps: Stamps for a letter cost much."
    assert shown(PARTS[1], frozenset()) == "Stamps: Glue them on."


def test_the_number_of_a_list_entry_is_no_sentence():
    steps = Passage("", "", "1. Collect the commits. 2. Publish them.")
    assert shown(steps, frozenset()) == "Collect the commits."
    assert shown(steps, frozenset({"publish"})) == "Publish them."


def test_what_is_shown_is_short_and_harmless():
    hostile = Passage("He\x1b[31mad", "", "word\u202e " * 100)
    said = shown(hostile, frozenset({"word"}))
    assert said.isprintable()
    assert len(said) <= LONGEST_EXCERPT + len("He [31mad: ")
    assert shown(Passage("", "", "Only this."), frozenset()) == "Only this."


# How a worker embeds long texts.


class Counting:
    """Counts how many texts come in one call, and breaks on one of them if told to."""

    def __init__(self, bad: str = "") -> None:
        self.fingerprint = EMBEDDER.fingerprint
        self.calls: list[int] = []
        self.bad = bad

    def embed(self, texts):
        self.calls.append(len(texts))
        if self.bad and any(self.bad in text for text in texts):
            raise EmbeddingError("it broke")
        return EMBEDDER.embed(texts)

    def embed_query(self, text):
        return EMBEDDER.embed_query(text)

    def close(self):
        pass


def book(name, parts):
    body = "\n".join(f"# Part {n}\nThis is part {n} of {name}." for n in range(parts))
    return make_item(name, kind=Kind.KNOWLEDGE, body=body)


def drained(store, embedder, size):
    worker = Worker(store, embedder, WorkerSettings(batch_size=size))
    rounds = 0
    while worker.step():
        rounds += 1
        assert rounds < 200
    return worker.report


def test_batches_are_bounded_by_passages_and_an_item_is_never_split(store):
    books = [book(f"book{n}", 9) for n in range(7)]
    store.items.put([*books, *(make_item(f"t{n}") for n in range(30))], EMBEDDER.fingerprint)
    embedder = Counting()
    report = drained(store, embedder, 25)
    assert report.embedded == 37
    assert max(embedder.calls) <= 25
    assert sum(embedder.calls) == 7 * 10 + 30
    assert store.tasks.owners() == []
    assert store.tasks.counts(EMBEDDER.fingerprint).ready == 37
    assert store.check() == []


def test_a_text_with_more_passages_than_a_batch_is_one_by_itself(store):
    store.items.put([book("long", 40), book("next", 2)], EMBEDDER.fingerprint)
    embedder = Counting()
    assert drained(store, embedder, 8).embedded == 2
    assert sorted(embedder.calls) == [3, 41]
    assert store.check() == []


def test_what_is_given_back_for_want_of_room_does_not_count_as_tried(store):
    store.items.put([book(f"book{n}", 9) for n in range(3)], EMBEDDER.fingerprint)
    worker = Worker(store, Counting(), WorkerSettings(batch_size=12))
    assert worker.step()
    tasks = store.tasks.claim(EMBEDDER.fingerprint, "another", 10, 60.0)
    assert [task.attempts for task in tasks] == [1, 1]


def test_one_bad_passage_costs_its_own_item_only(store):
    store.items.put([book("good", 3), book("bad", 3), make_item("tool")], EMBEDDER.fingerprint)
    worker = Worker(store, Counting("part 2 of bad"), WorkerSettings(max_attempts=1))
    while worker.step():
        pass
    assert (worker.report.embedded, worker.report.failed) == (2, 1)
    counts = store.tasks.counts(EMBEDDER.fingerprint)
    assert (counts.ready, counts.failed) == (2, 1)
    assert store.check() == []


def test_a_document_is_embedded_as_its_passages_say(store):
    hang(store, EMBEDDER, HANDBOOK)
    texts = embedded_passages(embedding_text(HANDBOOK))
    assert texts == [each.text for each in passages(HANDBOOK)]
    [hit] = store.index.vector(EMBEDDER.embed([texts[2]])[0], EMBEDDER.fingerprint, Filters(), 5)
    assert hit.score == pytest.approx(1.0, abs=1e-5)
