"""The one place where an item becomes text: index terms, the text to embed, and its hash."""

import hashlib
import re
import threading
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import Stemmer

from pegboard.formats.markdown import BETWEEN, cut, headings
from pegboard.model.content import Json
from pegboard.model.items import DEFAULT_NAMESPACE, Item, Kind
from pegboard.verbs import (
    BEHIND_THINGS,
    NO_THINGS,
    NOUNS,
    READING,
    VERBS,
    is_verb,
    leading_verb,
    named_verb,
    third_person,
    word_set,
)

TEXT_VERSION = 5
"""Raised whenever the terms or the embedded text of an unchanged item would change."""

MAX_BODY = 20_000
MAX_DOCUMENT = 100_000
"""Of what is a document and not a tool, so much of the body is found by words."""
MAX_WORD = 200
"""Nobody searches for the rest of a longer one, and the cache of words stays small."""
MAX_EMBEDDED = 4_000
PART_MARK = "\n"
"""Between the parts of a text to embed (`Passage.text`); none has one inside."""
PASSAGE_MARK = "\f"
"""Between the passages of a text to embed; none has one inside."""
MAX_PASSAGES = 64
TITLE_WORDS = 2
MAX_LABEL = 300
MAX_TITLE_WORDS = 25
"""A longer first sentence of a description is prose, and no title."""
MAX_TITLE = 300
"""Characters of a title. Bounds first sentences in scripts without spaces, too."""
MAX_EMBEDDED_PARAMETERS = 300
"""Characters of parameter names and descriptions that are embedded."""
CARD_TERMS = 80
"""Distinct terms of a description on a ranking card: a summary, so that 50 cards load fast."""
CARD_LABELS = 200
"""Distinct terms of labels, and of parameter names, on a ranking card."""
CARD_PARAMETER = 200
"""Characters of each parameter's description that a ranking card takes terms from."""

_PATH_END = re.compile(r"([^/.:]*)([/.:])([^/.:{}]+)/?$")
"""The end of a path: the part before the last one, what separates them, and the last part."""
_SEVERAL = word_set("browse find list lookup query search")
"""Verbs that answer with several things."""

# Vowel signs and tone marks belong to the word they stand in; `\w` alone would split there.
_MARKS = (
    "\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0dff"
    "\u0e31-\u0e4e\u0eb1-\u0ecd\u1000-\u109f\u1780-\u17d3"
)
WORD = re.compile(rf"[\w{_MARKS}]+")
_ASCII_WORD = re.compile(r"[A-Za-z0-9_]+")
PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+|[^\W_A-Za-z0-9]+")
_LATIN_ACCENTS = re.compile("[\u0300-\u036f]+")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)
_SECTION = re.compile(
    r"^[ \t]*(args|arguments|parameters|params|returns?|raises|yields|examples?|notes?)"
    r"[ \t]*:?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_local = threading.local()

FIELD_WEIGHTS = {
    "name_weight": 4.0,
    "title_weight": 2.0,
    "aliases_weight": 3.0,
    "labels_weight": 2.0,
    "description_weight": 1.0,
    "parameters_weight": 1.0,
    "body_weight": 0.5,
}
"""How much a word counts in BM25, by the field it stands in."""


class IndexFields(NamedTuple):
    """An item's index terms, apart by field so that each field can carry its own weight."""

    name: str
    title: str
    aliases: str
    labels: str
    description: str
    parameters: str
    body: str


class Passage(NamedTuple):
    """A part of an item's text that has a vector of its own."""

    heading: str
    """What it stands under in the item's body; nothing for what the item itself is."""
    label: str
    told: str
    title: str = ""
    """Of a tool (`title`)."""
    parameters: str = ""
    """Names and descriptions of a tool's parameters."""

    @property
    def text(self) -> str:
        """As it is embedded: one part alone, or all four, of which the last may be missing."""
        parts = self.label, self.told, self.title, self.parameters
        given = [part for part in parts if part]
        return PART_MARK.join(parts).rstrip(PART_MARK) if len(given) > 1 else "".join(given)


def terms(text: str) -> list[str]:
    """Index terms in order: folded, identifiers split and kept whole, words stemmed.

    >>> terms("createIssue on GitHub")
    ['creat', 'issu', 'createissu', 'on', 'git', 'hub', 'github']
    """
    words = _ASCII_WORD.findall(text) if text.isascii() else WORD.findall(fold(text))
    return [term for word in words for term in _terms_of(word[:MAX_WORD])]


def stems(text: str) -> list[str]:
    """Return index terms like `terms`, but without the compounds of split identifiers.

    >>> stems("createIssue on GitHub")
    ['creat', 'issu', 'on', 'git', 'hub']
    """
    words = _ASCII_WORD.findall(text) if text.isascii() else WORD.findall(fold(text))
    return [stem for word in words for stem in word_stems(word[:MAX_WORD])]


@lru_cache(maxsize=20_000)
def word_stems(word: str) -> tuple[str, ...]:
    """Return the stems of one word as `words` has it."""
    found = _terms_of(word)
    return found[:-1] if word.isascii() and len(found) > 1 else found


def fold(text: str) -> str:
    """Compatibility forms unified and Latin accents dropped; case is kept for splitting."""
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", _LATIN_ACCENTS.sub("", decomposed))


@lru_cache(maxsize=50_000)
def _terms_of(word: str) -> tuple[str, ...]:
    if not word.isascii():
        return _terms_beyond_ascii(word)
    parts = PART.findall(word)
    stems = tuple(_stem(part.lower()) for part in parts)
    return stems if len(parts) < 2 else (*stems, _stem("".join(parts).lower()))


def _terms_beyond_ascii(word: str) -> tuple[str, ...]:
    spaced = _UNSPACED.sub(" ", word).replace("_", " ").split()
    pairs = [pair for run in _UNSPACED.findall(word) for pair in _pairs(run)]
    words = [term for part in spaced for term in _folded(part)]
    return (*words, *pairs)


def _folded(word: str) -> tuple[str, ...]:
    """`Straße` folds into ASCII, and English words stand between Chinese ones."""
    folded = word if word.isascii() else word.casefold()
    if folded.isascii():
        return _terms_of(folded)
    if _is_hangul(folded):
        return tuple(_pairs(folded))
    return (_stem(folded, _language(folded)),)


def _is_hangul(word: str) -> bool:
    """Korean words carry particles and endings, and compounds are written in one or in several."""
    return any("\uac00" <= each <= "\ud7a3" for each in word)


def _language(word: str) -> str | None:
    """Whose endings a word may have, as far as its script tells. Others keep theirs."""
    if "\u0400" <= word[0] <= "\u04ff":
        return "russian"
    return "arabic" if "\u0620" <= word[0] <= "\u06ff" else None


def _pairs(run: str) -> list[str]:
    """Overlapping pairs stand in for the word boundaries that these scripts do not write."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _stem(word: str, language: str | None = "english") -> str:
    if language is None:
        return word
    stemmer = getattr(_local, language, None)
    if stemmer is None:
        stemmer = Stemmer.Stemmer(language)
        setattr(_local, language, stemmer)
    return str(stemmer.stemWord(word)) or word


def index_fields(item: Item) -> IndexFields:
    def joined(*texts: str) -> str:
        return " ".join(term for text in texts for term in terms(text))

    return IndexFields(
        name=joined(item.name),
        title=joined(item.title),  # a first sentence is in the description already
        aliases=joined(*item.aliases, *item.keywords),
        labels=joined(*_labels(item)),
        description=joined(prose(item.description), *_headings(item)),
        parameters=joined(*(f"{name} {text}" for name, text in parameters(item.input_schema))),
        body=joined(sections(item.description), item.body[:MAX_BODY])
        if item.kind is Kind.TOOL
        else _each_once(item),
    )


def _labels(item: Item) -> tuple[str, ...]:
    """What an item is filed under."""
    namespace = "" if item.namespace == DEFAULT_NAMESPACE else item.namespace
    return (item.category, item.subcategory, *item.tags, item.source, namespace)


def title(item: Item) -> str:
    """Return the item's title, or else a short first sentence of its description.

    Return an empty string if it has neither.
    """
    if item.title.strip():
        return item.title
    opening = prose(item.description).strip().partition("\n\n")[0]
    for sentence in (first_sentence(item.description), _sentence(opening)[0]):
        if len(sentence) <= MAX_TITLE and len(sentence.split()) <= MAX_TITLE_WORDS:
            return sentence
    return ""


def card(item: Item) -> str:
    """Return the ranking card: the lines that reranking reads instead of the whole row.

    Their order is that of `pegboard.search.ranker.Card`. A line can be empty.
    """
    heading = title(item)
    called, said = words(item.name), words(heading)
    takes = parameters(item.input_schema)
    acts = dict.fromkeys(filter(None, (named_verb(called), leading_verb(said))))
    return "\n".join(
        (
            " ".join(stems(item.name)),
            " ".join(stems(heading)),
            _distinct(stems(" ".join((*_labels(item), item.scope))), CARD_LABELS),
            _distinct(stems(" ".join(name for name, _ in takes)), CARD_LABELS),
            _distinct(stems(" ".join(text[:CARD_PARAMETER] for _, text in takes)), CARD_TERMS),
            _distinct(stems(prose(item.description)), CARD_TERMS),
            " ".join(dict.fromkeys((*called, *said))),
            " ".join(acts),
            _effect(item),
            _distinct(stems(" ".join(_fixed_segments(item.endpoint))), CARD_TERMS),
            name_key(heading),
            " ".join(_heads(called, said, item.endpoint)),
        )
    )


def _heads(called: list[str], said: list[str], endpoint: str) -> Iterator[str]:
    """Yield what the name, the title and the path are about, each if it is known."""
    segments = _fixed_segments(endpoint)
    spelled = words(segments[-1]) if segments else []
    for parts in (called, said if leading_verb(said) else [], spelled):
        if found := head(parts):
            yield found


def head(parts: Sequence[str]) -> str:
    """Return the head of the first noun phrase: `comment` of `create issue comment on a file`.

    Empty if there is none.
    """
    found = ""
    for place, word in enumerate(parts):
        if word in BEHIND_THINGS and found:
            break
        is_verb_here = word in VERBS and (word not in NOUNS or not place)
        if word.isalpha() and len(word) > 1 and not is_verb_here and word not in NO_THINGS:
            found = word
    return found


def _distinct(found: list[str], limit: int) -> str:
    return " ".join(islice(dict.fromkeys(found), limit))


def _effect(item: Item) -> str:
    """Return the action of an HTTP endpoint and whether it is about one thing or many.

    `GET /users` is `list many`, `GET /users/{id}` is `get one`, `POST /users/{id}/invite` is
    `invite one`, and `POST /refunds` is `create|refund one`: to create a refund is to refund. A
    tool of an MCP server is `read-only` or `destructive` if the server says so. Empty for other
    items.
    """
    method, _, path = item.endpoint.partition(" ")
    if action := _path_action(method.lower(), path):
        return action
    last = path.rstrip("/").rpartition("/")[2]
    one = last.startswith(("{", ":"))
    match method.lower():
        case "get":
            many = last.endswith("s") and not one
            return "list many" if many else "get one" if one else "get"
        case "post":
            verb = third_person(last)
            return "update one" if one else f"create|{verb} one" if verb else "create one"
        case "put" | "patch":
            return "update one"
        case "delete":
            return "delete one" if one else "delete many"
    return _hinted(item)


def _path_action(method: str, path: str) -> str:
    """Return the action that the end of a path names, behind a variable, a dot or a colon.

    `POST /orders/{id}/cancel`, `GET /users.list` and `POST /createUser`; but `POST /reports`,
    `GET /users/{id}/order` and `DELETE /issues/{id}/lock` name things.
    """
    found = _PATH_END.search(path)
    if method == "delete" or not found:
        return ""
    before, separator, last = found.groups()
    verb, *more = words(last) or [""]
    if not is_verb(verb) or (method == "get" and verb not in READING):
        return ""
    if verb in _SEVERAL:
        return f"{verb} many"
    if before.endswith("}"):
        return f"{verb} one"
    is_noun = verb in NOUNS and (not more or last.endswith("s"))
    return verb if separator != "/" or not is_noun else ""


def _hinted(item: Item) -> str:
    """Return what the annotations of an MCP tool say about its effect."""
    hints = item.executor.get("annotations")
    if not isinstance(hints, Mapping):
        return ""
    if hints.get("readOnlyHint") is True:
        return "read-only"
    return "destructive" if hints.get("destructiveHint") is True else ""


def _fixed_segments(endpoint: str) -> list[str]:
    """Return the parts of a path that are not variables."""
    path = endpoint.partition(" ")[2]
    return [part for part in path.split("/") if part and not part.startswith(("{", ":"))]


def _headings(item: Item) -> list[str]:
    """What the parts of a document are about; a tool's body is code."""
    return [] if item.kind is Kind.TOOL else headings(item.body)


def _each_once(item: Item) -> str:
    """The terms of a document. Repeated, they would only make it longer, and so rank it lower."""
    found = terms(f"{sections(item.description)} {item.body[:MAX_DOCUMENT]}")
    return " ".join(dict.fromkeys(found))


def embedding_text(item: Item) -> str:
    """What is embedded: stable meaning only, no ids, no audit fields; blank if there is none."""
    return PASSAGE_MARK.join(passage.text for passage in passages(item))


def embedded_passages(text: str) -> list[str]:
    """The passages of a text to embed, each to be embedded by itself."""
    return text.split(PASSAGE_MARK)


def passages(item: Item) -> tuple[Passage, ...]:
    """What the item is and, of a document, what it says, passage by passage.

    Each has parts that are embedded by themselves: what it is called, what it says and, of a tool,
    its title and parameters. The category is not among them: measured on seven sets, it blurs more
    than it tells (docs/decisions/0006-ranking.md). Nor are headings among what an item is: they are
    what its passages are called. A short body replaces a description that it begins with.
    """
    described = prose(item.description)
    if item.kind is Kind.TOOL:
        return (_itself(item, described),)
    further = _further(item)
    if len(further) == 1 and further[0].told.startswith(_one_line(described)):
        described, further = ". ".join(filter(None, (further[0].heading, further[0].told))), []
    found = (_itself(item, described), *further)
    return tuple(each for each in found if each.text) or found[:1]


def _itself(item: Item, described: str) -> Passage:
    body = [
        described,
        ", ".join(item.tags),
        ", ".join(item.keywords),
        ", ".join(item.examples),
        _addressed(item.endpoint),
        item.routing_domain,
        item.semantic_namespace,
        ", ".join(item.target_personas),
    ]
    told = _one_line(". ".join(part.strip().rstrip(".") for part in body if part.strip()))
    label = _one_line(spoken(item.name))
    if not told:
        return Passage("", "", _one_line(f"{spoken(item.category)} {label}"))
    if item.kind is not Kind.TOOL:
        return Passage("", label, told)
    return Passage("", label, told, _one_line(title(item)).rstrip("."), _parameter_texts(item))


def _parameter_texts(item: Item) -> str:
    named = [(spoken(name), said.rstrip(".")) for name, said in parameters(item.input_schema)]
    found = ". ".join(f"{name}: {said}" if said else name for name, said in named)
    return _one_line(found)[:MAX_EMBEDDED_PARAMETERS].strip()


def _addressed(endpoint: str) -> str:
    """The words of an address: of `GET /repos/{owner}/issues`, `repos owner issues`."""
    method, _, path = endpoint.partition(" ")
    return " ".join(spoken(word) for word in WORD.findall(path or method))


def _further(item: Item) -> list[Passage]:
    """Passages of the body and, of a directive, of what it takes."""
    takes = parameters(item.input_schema) if item.kind is Kind.DIRECTIVE else []
    inputs = "\n".join(f"- {name}: {text}" for name, text in takes)
    found = cut(f"{item.body}\n\n{inputs}", MAX_PASSAGES - 1)
    return [_under(item.name, each.heading, each.text) for each in found]


def _under(title: str, heading: str, told: str) -> Passage:
    first, _, rest = heading.partition(BETWEEN)
    if name_key(first) == name_key(title):  # as many documents begin
        heading = rest
    label = f"{spoken(title)}. {heading}" if heading else spoken(title)
    return Passage(_one_line(heading), _one_line(label)[:MAX_LABEL].strip(), _one_line(told))


def _one_line(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())[:MAX_EMBEDDED]


def name_key(name: str) -> str:
    """What `run_query`, `runQuery` and `Run query` have in common."""
    return "".join(WORD.findall(fold(name))).replace("_", "").casefold()


def plain_words(text: str) -> str:
    """Return the words of a text folded, in lower case, with one space between them."""
    return " ".join(WORD.findall(fold(text))).casefold()


def words(text: str) -> list[str]:
    """The parts of identifiers and words as they are spelled, folded but not stemmed.

    Scripts without spaces have no words to tell apart, so theirs are left out.
    """
    found = WORD.findall(fold(text))
    spaced = (_UNSPACED.sub(" ", word[:MAX_WORD]).replace("_", " ") for word in found)
    return [each for part in " ".join(spaced).split() for each in _spelled(part)]


def _spelled(word: str) -> list[str]:
    folded = word if word.isascii() else word.casefold()
    return [part.lower() for part in PART.findall(folded)] if folded.isascii() else [folded]


def variants(word: str) -> list[str]:
    """A word, and the word less any one letter.

    Two words that differ by one letter put in, left out, changed or swapped with its neighbour have
    a variant in common.
    """
    return list(dict.fromkeys((word, *(word[:i] + word[i + 1 :] for i in range(len(word))))))


def source_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def harmless(text: str) -> str:
    """Somebody else's words on one line, without what a terminal or a reader could be led by."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def spoken(identifier: str) -> str:
    """`createIssue` and `create_issue` as a person would say them: `create issue`."""
    return " ".join(PART.findall(identifier)) if identifier.isascii() else identifier


def prose(description: str) -> str:
    """A description without the Args, Returns and similar sections of a docstring."""
    found = _SECTION.search(description)
    return description[: found.start()].rstrip() if found and found.start() else description


def sections(description: str) -> str:
    """What `prose` leaves out."""
    return description[len(prose(description)) :]


def signature(item: Item, most: int = 12) -> str:
    """One line to act on: `create_issue(repo: string, title: string, body?: string)`.

    What is required stands first and in full; of the rest at most so many that all are `most`.
    """
    properties = item.input_schema.get("properties")
    if not isinstance(properties, dict):
        return f"{item.name}()"
    required = item.input_schema.get("required")
    said = required if isinstance(required, list) else []
    needed = [name for name in said if isinstance(name, str) and name in properties]
    rest = [name for name in properties if name not in needed]
    shown = rest[: max(most - len(needed), 0)]
    parts = [f"{name}: {_type(properties[name])}" for name in needed]
    parts += [f"{name}?: {_type(properties[name])}" for name in shown]
    return f"{item.name}({', '.join(parts)}{', …' if len(shown) < len(rest) else ''})"


def _type(schema: object) -> str:
    """A property's type in one word, or its few choices."""
    if not isinstance(schema, dict):
        return "any"
    choices = schema.get("enum")
    if isinstance(choices, list) and 0 < len(choices) <= 4:
        return "|".join(_choice(str(choice)) for choice in choices)
    either = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(either, list):
        kinds = dict.fromkeys(_type(each) for each in either)
        return "|".join(kind for kind in kinds if kind != "null") or "any"
    found = schema.get("type")
    if isinstance(found, list):
        found = "|".join(str(each) for each in found if each != "null")
    if found == "array":
        return f"{_type(schema.get('items', {}))}[]"
    return found if isinstance(found, str) and found else "any"


def _choice(value: str) -> str:
    """What is cut says so: it would be taken for the value."""
    return f"{value[:19]}…" if len(value) > 20 else value or '""'


def clipped(text: str, width: int) -> str:
    """No more than so many characters of it; an ellipsis stands for the rest."""
    return text if len(text) <= width else f"{text[: width - 1].rstrip()}…"


def first_sentence(description: str) -> str:
    """What it says first; after a mere title, as `Get Credits.` is, the sentence behind it too."""
    first, *others = prose(description).strip().split("\n\n")
    sentence, rest = _sentence(first)
    if len(sentence.split()) <= TITLE_WORDS and sentence.isascii():
        more, _ = _sentence(rest or next(iter(others), ""))
        between = " " if sentence[-1:] in ".!?" else ": "
        return f"{sentence}{between}{more}" if more[:1].isalnum() else sentence
    return sentence


def _sentence(text: str) -> tuple[str, str]:
    """The first one, on one line, and what is left."""
    line = " ".join(text.split())
    end = re.search(r"(?<=[.!?])\s+(?=\S)|[。！？]", line)
    return (line[: end.end()].strip(), line[end.end() :]) if end else (line, "")


def parameters(schema: Json) -> list[tuple[str, str]]:
    """Names and descriptions of a JSON Schema's top-level properties."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return []
    return [(str(name), _description(value)) for name, value in properties.items()]


def _description(schema: object) -> str:
    text = schema.get("description") if isinstance(schema, dict) else None
    return text if isinstance(text, str) else ""
