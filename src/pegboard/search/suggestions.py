"""A better description, made by rule from what is there; nothing where it would not be better."""

import re
from collections.abc import Iterable

from pegboard.model.items import Item, Kind
from pegboard.search.descriptions import (
    MARKETING,
    MOST_WORDS,
    OPENING,
    THING,
    complaints,
    lacks_verb,
    parts,
    says_little,
)
from pegboard.text import name_key, parameters, prose, terms, words
from pegboard.verbs import DETERMINERS, base, base_of_gerund, is_verb, third_person, word_set

MOST_NAMED = 4
"""So many parameters are named in a sentence."""
LONGEST_EXAMPLE = 80
MOST_ROUNDS = 8

_NAME = r"[A-Za-z_][\w.-]*"
_WORD = re.compile(r"[A-Za-z]+")
_OF_ITSELF = word_set("accept apply fail use work")
"""Verbs that tell how a tool is, and not what it does: `This tool works with files.`"""
_METHODS = word_set("post put patch")
"""Of HTTP: as the first word of a name they tell how it is called."""
_A_LIST = re.compile(r"(?:an? |the )list of (?:the )?", re.IGNORECASE)
_PAGING = frozenset(
    [
        *("client token", "cursor", "dry run", "limit", "max results", "next token", "offset"),
        *("page", "page size", "page token", "per page", "sort by", "sort order"),
    ]
)
"""Parameters that most lists take, and that tell nothing of what they are of."""
_BEGINNING = re.compile(r"([A-Za-z]+ly )?([A-Za-z]+)\b")
_CHAIN = re.compile(r"(,? and |,? or |, |/)([A-Za-z]+)(?=( [A-Za-z]+)?)")
_LATER = re.compile(r"(,? (?:and|or|then|and then) )([a-z]+)(?= ([A-Za-z]+))")
_BREAK = re.compile(r"; | – | — | - ")
_LEFT_OUT = frozenset(
    terms(
        """
        a an the of this that which it is are can be may should will used use designed intended
        meant useful you us one user users client agent caller developer when if want need have
        to for in order with using allow enable let help here simple basic small little
        convenient generic and tool function method endpoint api operation command script action
        utility helper service call plugin module class wrapper program skill directive was
        """
    )
)
"""What may be missing from a better description without anything being lost."""


def suggestion(item: Item) -> str:
    """The whole description as it could be; empty if there is nothing better.

    It has fewer complaints and no new ones, and whatever was said is said still. Of a suggestion
    there is none.
    """
    before = {_kind(each) for each in complaints(item)}
    if not before:
        return ""
    better = item
    for _ in range(MOST_ROUNDS):
        said = _step(better)
        if said == better.description:
            break
        better = better._replace(description=said)
    after = {_kind(each) for each in complaints(better)}
    return better.description.strip() if after < before and not _lost(item, better) else ""


def _kind(complaint: str) -> str:
    """What it is about, whatever figures and words it names."""
    return re.sub(r"“.*”|[0-9]+", "", complaint)


def _lost(item: Item, better: Item) -> bool:
    """Whether something was said that is said no longer, and was no mere praise."""
    was = {*terms(MARKETING.sub("", prose(item.description)))}
    still = {*terms(better.description), *terms(item.name), *_LEFT_OUT}
    return not was <= still


def _step(item: Item) -> str:
    """One round: each rule leaves alone what it has nothing to say about."""
    first, rest = parts(item.description)
    if item.kind is Kind.TOOL and not prose(item.description).strip():
        return f"{_from_name(item)}{_section(rest)}".strip()
    said = _without_name(first, item.name)
    said = _without_praise(_without_opening(said))
    if item.kind is Kind.TOOL and lacks_verb(item, said):
        said = _with_verb(item, said)
    if len(said.split()) > MOST_WORDS:
        said = _shorter(said)
    if item.kind is Kind.TOOL and says_little(item._replace(description=said + rest)):
        said = _with_parameters(item, said)
    calm = _without_praise(rest)
    return item.description if (said, calm) == (first, rest) else said + calm


def _section(rest: str) -> str:
    return f"\n\n{rest.strip()}" if rest.strip() else ""


def _without_name(first: str, name: str) -> str:
    """`get_user: Returns a user` and `The get_user tool returns a user` name it twice."""
    found = re.match(
        rf"(?:the )?[`'\"]?({_NAME})[`'\"]?(?:(?::| -) | {THING} | )(?=\S)", first, re.I
    )
    if found is None or name_key(found[1]) != name_key(name):
        return first
    behind = first[found.end() :]
    return _imperative(_capital(behind)) or (_capital(behind) if ": " in found[0] else first)


def _without_opening(first: str) -> str:
    """Only if what it said it about begins with a verb: else nobody can say what is left."""
    opening = OPENING.match(first)
    if opening is None:
        return first
    behind = _capital(first[opening.end() :])
    calls = opening[0].lower().split()[-1]
    inner = _without_opening(behind)
    if inner != behind:
        return inner
    return _imperative(behind, gerund=calls in ("for", "in", "allows", "enables")) or first


def _without_praise(text: str) -> str:
    calm = MARKETING.sub("", text)
    if calm == text:
        return text
    calm = re.sub(r"\b([Aa])n? (?=([A-Za-z]))", _article, calm)
    calm = re.sub(r" +(?=[.,;!?](?:\s|$))", "", calm)
    return _capital(calm) if text[:1].isupper() else calm


def _article(found: re.Match[str]) -> str:
    return f"{found[1]}{'n' if found[2].lower() in 'aeio' else ''} "


def _imperative(first: str, *, gerund: bool = False) -> str:
    """`Creates and returns a user` as `Create and return a user`; empty if it begins otherwise.

    With `gerund`, `sending` counts as a verb even where it could be a noun.
    """
    found = _BEGINNING.match(first)
    if found is None:
        return ""
    how, word, rest = found[1] or "", found[2], first[found.end() :]
    after = _WORD.match(rest.lstrip(" "))
    behind = after[0] if after else ""
    if is_verb(word, behind):
        return first
    verb = third_person(word)
    if verb in _OF_ITSELF:
        return ""
    if verb and behind.lower() != "of":
        return _capital(how + verb) + _all_imperative(rest)
    verb = base_of_gerund(word)
    if verb and rest[:1] == " " and (gerund or behind.lower() in DETERMINERS):
        return _capital(how + verb) + rest
    return ""


def _all_imperative(rest: str) -> str:
    """The verbs that follow the first: side by side with it, or later in the sentence."""
    done = ""
    while chained := _CHAIN.match(rest):
        verb = base(chained[2], (chained[3] or "").strip() or "the")
        if not verb:
            break
        done += chained[1] + verb
        rest = rest[chained.end() :]
    return done + _LATER.sub(lambda each: each[1] + (base(each[2], each[3]) or each[2]), rest)


def _with_verb(item: Item, first: str) -> str:
    """A thing, with the verb of the name before it: `User details` of `get_user`."""
    if listed := _A_LIST.match(first):
        return f"List {first[listed.end() :]}"
    verb = words(item.name)[0]
    if (
        verb in _METHODS
        or any(each.startswith(verb[:5]) for each in words(first))
        or re.match(rf"(?:an? |the )?{THING}\b", first, re.I)
    ):
        return first
    head, _, tail = first.partition(" ")
    plain = head if head[1:] != head[1:].lower() or not head.isalpha() else head.lower()
    return f"{_capital(verb)} {plain} {tail}".rstrip()


def _shorter(first: str) -> str:
    """Two sentences, where one of many words can be parted."""
    for cut in _BREAK.finditer(first):
        before, after = first[: cut.start()], first[cut.end() :]
        if 4 <= len(before.split()) <= MOST_WORDS and len(after.split()) >= 2:
            return f"{before}. {_capital(after)}"
    return first


def _from_name(item: Item) -> str:
    """`refund_payment(payment_id)` as `Refund payment, given payment id.`"""
    said = words(item.name)
    if len(said) < 2 or not is_verb(said[0]) or not item.name.isascii():
        return ""
    gives = _listed(name for name, _ in parameters(item.output_schema))
    back = f" Gives back {gives}." if gives else ""
    sentence = _with_parameters(item, f"{_capital(' '.join(said))}.")
    return f"{sentence}{back}{_for_example(item.examples)}"


def _with_parameters(item: Item, sentence: str) -> str:
    """With what it takes, unless the sentence says so."""
    names = [name for name, _ in parameters(item.input_schema)]
    required = item.input_schema.get("required")
    needed = [name for name in names if isinstance(required, list) and name in required]
    given = _listed(needed or names)
    begins = _WORD.match(sentence)
    acts = begins and (is_verb(begins[0]) or third_person(begins[0]))
    if not given or not acts or not sentence.isascii() or {*terms(given)} <= {*terms(sentence)}:
        return sentence
    how = "given" if needed else "optionally by"
    return f"{_capital(sentence.rstrip('.!'))}, {how} {given}."


def _listed(names: Iterable[str]) -> str:
    """`a, b and c`."""
    plain = dict.fromkeys(" ".join(words(each)) for each in names)
    *most, last = [each for each in plain if each and each not in _PAGING][:MOST_NAMED] or [""]
    return f"{', '.join(most)} and {last}" if most else last


def _for_example(examples: Iterable[str]) -> str:
    """The first that is in words."""
    told = (" ".join(each.split()) for each in examples)
    fit = (each for each in told if 0 < len(each) <= LONGEST_EXAMPLE and each[0].isalpha())
    found = next(fit, "").rstrip(".")
    return f" For example: {found}." if found else ""


def _capital(text: str) -> str:
    """With a capital, unless the first word is written as it is for a reason: `iPhone`, `x_1`."""
    word = text.partition(" ")[0].rstrip(",.;:")
    return text[:1].upper() + text[1:] if word.isalpha() and word.islower() else text
