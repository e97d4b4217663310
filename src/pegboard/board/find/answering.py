"""The question's way: parse, ask the legs, fuse, boost, judge, explain."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from functools import cached_property
from itertools import pairwise, takewhile
from typing import NamedTuple

from pegboard.board.find.gathering import Gathered, Gathering
from pegboard.board.find.patience import Patience
from pegboard.board.find.ranking import RANKED, is_hybrid, ranked_candidates
from pegboard.errors import UsageError
from pegboard.model.answers import Answer, Explanation, Hit, HitFact, WordFact
from pegboard.model.items import (
    CREATED,
    Drift,
    Entry,
    Filters,
    Fingerprint,
    Kind,
    Leg,
    MatchType,
    Mode,
    SourceCounts,
    ToolType,
)
from pegboard.ports.stages import Embedder
from pegboard.ports.store import Store
from pegboard.quality import merit
from pegboard.search.boosts import MOST, BoostSettings, Traits, boosts, total
from pegboard.search.confidence import NAMED, WORDS_ALONE, Rated, Rater
from pegboard.search.fusion import (
    FusionSettings,
    Method,
    Scored,
    meaning_weight,
)
from pegboard.search.look_alikes import groups
from pegboard.search.passages import by_words, shown
from pegboard.search.query import parse
from pegboard.search.ranker import Question, parse_card
from pegboard.search.ranker_reasons import explain
from pegboard.search.reason import fields_with, match_type, reason
from pegboard.search.services import Scope, scope
from pegboard.search.verbatim import is_verbatim
from pegboard.text import Passage, passages, signature, terms

NEAREST = 3
BOOSTED_BEYOND = 20
"""At most so many items after the last one that is shown may still be lifted into sight."""
LOOK_ALIKES_AMONG = 50
EXPLAINED_BEYOND = 5
LOOK_ALIKES_AMONG = 50
EXPLAINED_BEYOND = 5
MOST_SURE = 0.9999
"""Upper bound of fits and scores: no evidence makes certain."""
CALLED = (Kind.TOOL, Kind.DIRECTIVE)
"""What takes arguments."""


class Ask(NamedTuple):
    text: str
    mode: Mode = Mode.HYBRID
    filters: Filters = Filters()
    limit: int = 5
    threshold: float | None = None
    """Least fit of the best hit; below it, no tool fits. None takes it from the settings."""
    diverse: bool = False
    explain: bool = False
    split: bool = True
    """Whether `find_requests` may split the text into several requests; `find` never does."""
    services: tuple[str, ...] = ()
    """Sources to search first if the text names none: those of an earlier request."""


class FindSettings(NamedTuple):
    depth: int = 30
    """How many items each leg puts forward."""
    fusion: FusionSettings = FusionSettings()
    boosts: BoostSettings = BoostSettings()
    threshold: float = 0.2
    """The least fit of the best hit: if it is lower, no tool fits."""
    floor: float = 0.05
    """The least fit of the hits that are shown with it."""


class Ranked(NamedTuple):
    """An item in its place: the evidence for it, and what that makes it worth."""

    scored: Scored
    boosts: Mapping[str, float]
    fused: float
    fit: float
    score: float
    named: bool
    """Whether the query is its whole name or title."""

    @property
    def key(self) -> int:
        return self.scored.candidate.key


def find(
    store: Store,
    embedder: Embedder | None,
    ask: Ask,
    settings: FindSettings,
    *,
    beside: Executor | None = None,
    patience: Patience | None = None,
) -> Answer:
    """With `patience`, what the faster legs have found by then; `Answer.late` names the others."""
    if unknown := [kind for kind in ask.filters.kinds if kind not in set(Kind)]:
        raise UsageError(f"kind is {unknown[0]!r}; it must be one of {', '.join(Kind)}")
    query = parse(ask.text)
    if query.blank:
        return Answer(hits=(), notices=("the query is empty",))
    counts = store.index.source_counts()
    search = _Search(store, embedder, ask, settings, counts, beside, patience)
    asked = scope(query, counts, ask.filters, ask.services)
    answer = search.within(asked)
    if answer.hits or answer.late or not asked.services:
        return answer
    # The name stays out of the query, so that no filter changes the order of what remains.
    wider = search.within(asked._replace(filters=ask.filters, services=()))
    notice = f"no item of {' or '.join(asked.services)} fits; searched all sources"
    return wider._replace(
        notices=(notice, *wider.notices) if wider.hits else wider.notices,
        embed_seconds=answer.embed_seconds + wider.embed_seconds,
        search_seconds=answer.search_seconds + wider.search_seconds,
    )


class _Search:
    """One question, which may be asked of several parts of the board."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        ask: Ask,
        settings: FindSettings,
        counts: SourceCounts,
        beside: Executor | None,
        patience: Patience | None,
    ) -> None:
        self.store = store
        self.embedder = embedder
        self.ask = ask
        self.settings = settings
        self.counts = counts
        self.beside = beside
        self.patience = patience

    def within(self, asked: Scope) -> Answer:
        gathering = Gathering(
            self.store,
            self.embedder,
            asked.query,
            self.ask.mode,
            asked.filters,
            max(self.settings.depth, self.ask.limit),
            named_in=self.ask.filters,
            beside=self.beside,
            patience=self.patience,
        )
        if self.patience is not None:
            self.patience.so_far = lambda: self._answer(asked, gathering.so_far())
        return self._answer(asked, gathering.run())

    def _answer(self, asked: Scope, gathered: Gathered) -> Answer:
        began = time.perf_counter()
        target = self.embedder.fingerprint if self.embedder and gathered.meant else None
        items = self.counts.within(asked.filters)
        answering = _Answering(self.store, self.ask, self.settings, asked, items, gathered, target)
        answer = answering.answer()
        return answer._replace(
            embed_seconds=gathered.embed_seconds,
            search_seconds=gathered.search_seconds + time.perf_counter() - began,
            late=gathered.late,
        )


class _Answering:
    def __init__(
        self,
        store: Store,
        ask: Ask,
        settings: FindSettings,
        asked: Scope,
        items: int,
        gathered: Gathered,
        target: Fingerprint | None,
    ) -> None:
        self.store = store
        self.ask = ask
        self.settings = settings
        self.query = asked.query
        self.services = asked.services
        self.items = items
        self.gathered = gathered
        self.target = target
        own = ask.threshold
        self.threshold = settings.threshold if own is None else own
        self.floor = min(settings.floor, self.threshold)
        self.down: frozenset[str] = frozenset()
        self.titled: frozenset[int] = frozenset()
        self.least_scores: Mapping[int, float] = {}

    def answer(self) -> Answer:
        found, fusion = self.gathered, self.settings.fusion
        reach = max(self.ask.limit, LOOK_ALIKES_AMONG if self.ask.diverse else 0)
        most = max(reach, RANKED)
        order = ranked_candidates(self.store, self.query, found, fusion, most)
        scored, self.titled = order.scored, order.titled
        by_evidence = self._is_by_evidence(scored)
        more = 0 if by_evidence and not self.ask.explain else EXPLAINED_BEYOND
        first = _within_reach(scored, max(reach, NEAREST), more)
        entries = self.store.index.entries([each.candidate.key for each in first])
        raters = self._raters(scored)
        self.least_scores = self._least_scores(first if by_evidence else scored, raters)
        ranked = self._ranked(first, entries, raters)
        if any(each.fit >= self.threshold for each in ranked):
            fitting = [each for each in ranked if each.fit >= self.floor]
        else:
            everything = [*scored, *order.others]
            self.least_scores = self._least_scores(everything, raters)
            fitting, read = self._verbatim(everything, raters)
            entries, ranked = {**entries, **read}, _first(fitting, ranked)
        self.down = self._down(entries)
        hits = self._hits(fitting[:reach], entries, self.ask.limit)
        nearest = () if hits else self._hits(ranked[:NEAREST], entries, NEAREST)
        return Answer(
            hits=hits[: self.ask.limit],
            nearest=nearest,
            notices=self.gathered.notices,
            explanation=self._explanation(ranked, hits) if self.ask.explain else None,
        )

    def _verbatim(
        self, scored: Sequence[Scored], raters: Mapping[bool, Rater]
    ) -> tuple[list[Ranked], dict[int, Entry]]:
        """Return the items in whose descriptions the question stands word for word.

        Looked for if nothing fits: the scores cannot tell a detail of an item from a foreign
        question. Keywords alone always answer.
        """
        legs, known = self.gathered.evidence.legs, self.gathered.frequencies
        if not is_hybrid(legs) or self.threshold > WORDS_ALONE:
            return [], {}
        if not all(term in known for term in self.query.terms):
            return [], {}  # no text of this board has that word
        keys = [each.candidate.key for each in scored if each.candidate.scores.get(Leg.BM25)]
        entries = {
            key: entry
            for key, entry in self.store.index.entries(keys).items()
            if is_verbatim(self.query.text, entry.item)
        }
        found = [each for each in scored if each.candidate.key in entries]
        ranked = self._ranked(found, entries, raters)
        return [each._replace(fit=max(each.fit, WORDS_ALONE)) for each in ranked], entries

    def _is_named(self, each: Scored) -> bool:
        key = each.candidate.key
        return key in self.gathered.evidence.named or key in self.titled

    @property
    def by_places(self) -> bool:
        """Whether the order comes from places, which say nothing about how well an item fits."""
        return self.settings.fusion.method is Method.RRF

    def _raters(self, scored: Sequence[Scored]) -> dict[bool, Rater]:
        """Return raters by whether an item lacks its vector: keywords alone rate it then."""
        legs = self.gathered.evidence.legs
        values = [each.value for each in scored]
        return {
            unjudged: Rater(values, legs - {Leg.VECTOR} if unjudged else legs, self.items)
            for unjudged in (False, True)
            if not unjudged or len(legs) > 1
        }

    def _ranked(
        self,
        scored: Sequence[Scored],
        entries: Mapping[int, Entry],
        raters: Mapping[bool, Rater],
    ) -> list[Ranked]:
        known = {} if self.settings.boosts.off else self._boosts(entries)
        found = [self._placed(each, known.get(each.candidate.key, {}), raters) for each in scored]
        found.sort(key=lambda each: (not each.named, -each.fused))  # equals stay put
        return _with_falling_scores(found, self.least_scores)

    def _boosts(self, entries: Mapping[int, Entry]) -> dict[int, Mapping[str, float]]:
        now = time.time()
        return {
            key: boosts(_traits(entry), self.settings.boosts, now) for key, entry in entries.items()
        }

    def _placed(
        self, each: Scored, parts: Mapping[str, float], raters: Mapping[bool, Rater]
    ) -> Ranked:
        boost = total(parts)
        fit, score = self._rated(each, boost, raters)
        return Ranked(each, parts, each.fused + boost, fit, score, self._is_named(each))

    def _rated(self, each: Scored, boost: float, raters: Mapping[bool, Rater]) -> Rated:
        fit, score = raters[self._is_unjudged(each)].rate(each.value + boost, each.value)
        if self._is_named(each):
            among = len(self.gathered.evidence.named | self.titled)
            fit, score = max(fit, NAMED), NAMED / among + (1 - NAMED / among) * score
        return Rated(min(round(fit, 4), MOST_SURE), min(round(score, 4), MOST_SURE))

    def _is_by_evidence(self, scored: Sequence[Scored]) -> bool:
        """Whether no item scores more than one before it."""
        return not any(map(self._is_unjudged, scored)) and all(
            one.value >= other.value for one, other in pairwise(scored)
        )

    def _least_scores(
        self, scored: Sequence[Scored], raters: Mapping[bool, Rater]
    ) -> dict[int, float]:
        """Return scores without boosts, each raised to the best one behind it.

        No limit changes a score: unless the order is that of the evidence, `scored` are all
        candidates.
        """
        found: dict[int, float] = {}
        least = 0.0
        for each in reversed(scored):
            least = max(self._rated(each, 0.0, raters).score, least)
            found[each.candidate.key] = least
        return found

    def _is_unjudged(self, each: Scored) -> bool:
        """Whether an item lacks its vector in a search by both."""
        legs = self.gathered.evidence.legs
        return is_hybrid(legs) and Leg.VECTOR not in each.candidate.scores

    def _hits(
        self, ranked: Sequence[Ranked], entries: Mapping[int, Entry], most: int
    ) -> tuple[Hit, ...]:
        here = [each for each in ranked if each.key in entries]
        items = [entries[each.key].item for each in here]
        alike = groups(items) if self.ask.diverse else [[place] for place in range(len(here))]
        chosen = [(here[first], others) for first, *others in alike[:most]]
        found_in = self._found_in([each for each, _ in chosen], entries)
        return tuple(
            self._hit(each, entries[each.key], found_in.get(each.key))._replace(
                like_it=tuple(items[place].id for place in others)
            )
            for each, others in chosen
        )

    def _found_in(
        self, ranked: Sequence[Ranked], entries: Mapping[int, Entry]
    ) -> dict[int, Passage]:
        """Of each long text the passage that answers; none if that is what the item itself is."""
        texts = {
            each.key: passages(entries[each.key].item)
            for each in ranked
            if entries[each.key].item.kind is not Kind.TOOL
        }
        texts = {key: parts for key, parts in texts.items() if len(parts) > 1}
        near = self._nearest_passages([each for each in ranked if each.key in texts])
        places = {
            key: near[key]
            if near.get(key, len(parts)) < len(parts)
            else by_words(parts, self.wanted_terms)
            for key, parts in texts.items()
        }
        return {key: texts[key][place] for key, place in places.items() if place}

    def _nearest_passages(self, ranked: Sequence[Ranked]) -> dict[int, int]:
        by_meaning = (MatchType.SEMANTIC, MatchType.BOTH)
        keys = [each.key for each in ranked if match_type(each.scored.candidate) in by_meaning]
        if not keys or self.gathered.meant is None or self.target is None:
            return {}
        return self.store.index.best_passages(self.gathered.meant, self.target, keys)

    @cached_property
    def wanted_terms(self) -> frozenset[str]:
        """Those of the query as it was written, and as it was read."""
        guessed = {t for known in self.gathered.read_as.values() for w in known for t in terms(w)}
        return frozenset(self.query.terms) | guessed

    def _hit(self, each: Ranked, entry: Entry, passage: Passage | None) -> Hit:
        item, candidate = entry.item, each.scored.candidate
        breakdown: dict[str, Mapping[str, float]] = {
            leg.value: {"score": round(raw, 4)}
            | ({"rank": float(candidate.ranks[leg])} if leg in candidate.ranks else {})
            for leg, raw in candidate.scores.items()
        }
        if each.boosts:
            breakdown["boosts"] = {name: round(value, 4) for name, value in each.boosts.items()}
        return Hit(
            id=item.id,
            kind=item.kind,
            namespace=item.namespace,
            name=item.name,
            category=item.category,
            source=item.scope,
            description=item.description,
            score=each.score,
            fit=each.fit,
            match_type=match_type(candidate),
            breakdown=breakdown,
            reason=reason(
                candidate,
                item,
                self.query,
                self.gathered.read_as,
                named=each.key in self.gathered.evidence.named,
                titled=each.key in self.titled,
                passage=passage,
            ),
            title=item.title,
            signature=signature(item) if item.kind in CALLED else "",
            notes=self._notes(entry),
            passage=shown(passage, self.wanted_terms) if passage else "",
            version=entry.version,
            version_hash=entry.version_hash,
            author=item.author,
            signer=item.signature.signer if item.signature else "",
            signed=(item.signature.state or "not checked") if item.signature else "",
        )

    def _down(self, entries: Mapping[int, Entry]) -> frozenset[str]:
        """Sources whose server could not be reached when it was last asked."""
        if not any(entry.item.tool_type is ToolType.MCP for entry in entries.values()):
            return frozenset()
        return self.store.ledger.servers_down()

    def _notes(self, entry: Entry) -> tuple[str, ...]:
        signed = entry.item.signature
        notes = {
            "its server is down": entry.item.source in self.down,
            "changed since it was approved": entry.drift is Drift.CHANGED,
            "gone from its source": entry.drift is Drift.MISSING,
            "switched off": entry.off_at is not None,
            entry.item.deprecation: entry.item.deprecated,
            "signature not trusted": signed is not None and signed.doubtful,
            "made by an agent, unsigned": entry.item.source == CREATED and signed is None,
        }
        return tuple(note for note, holds in notes.items() if holds)

    def _explanation(self, ranked: Sequence[Ranked], hits: Sequence[Hit]) -> Explanation:
        first = ranked[: self.ask.limit + EXPLAINED_BEYOND]
        keys = [each.key for each in first]
        entries, reasons = self.store.index.entries(keys), self._ranker_reasons(keys)
        evidence, fusion = self.gathered.evidence, self.settings.fusion
        weights = {
            "alpha": meaning_weight(evidence.legs, fusion),
            **{f"best {leg}": round(best, 4) for leg, best in evidence.best.items()},
            **{f"known {leg}": round(share, 4) for leg, share in evidence.known.items()},
        }
        if fusion.method is Method.RRF:
            weights |= {"k": float(fusion.k)}
        return Explanation(
            query=self.query.text,
            services=self.services,
            words=tuple(self._word_fact(term) for term in self.query.terms),
            weights=weights,
            threshold=self.threshold,
            items=tuple(
                self._hit_fact(each, entries[each.key], hits)._replace(
                    ranked_by=reasons.get(each.key, ())
                )
                for each in first
                if each.key in entries
            ),
        )

    def _ranker_reasons(self, keys: Sequence[int]) -> dict[int, tuple[str, ...]]:
        if not is_hybrid(self.gathered.evidence.legs):
            return {}
        question = Question(self.query, read_as=self.gathered.read_as)
        cards = self.store.index.cards(keys)
        return {key: explain(question, parse_card(text)) for key, text in cards.items()}

    def _word_fact(self, term: str) -> WordFact:
        found = self.gathered
        read_as = next((known for word, known in found.read_as.items() if term in terms(word)), ())
        return WordFact(
            term=term,
            known=term in found.frequencies,
            used=term in found.wanted.terms,
            items=found.frequencies.get(term) or None,
            read_as=read_as,
        )

    def _hit_fact(self, each: Ranked, entry: Entry, hits: Sequence[Hit]) -> HitFact:
        weight = each.scored.alpha
        candidate = each.scored.candidate
        return HitFact(
            id=candidate.id,
            fields=fields_with(entry.item, self.wanted_terms),
            ranks={leg.value: rank for leg, rank in candidate.ranks.items()},
            raw={leg.value: round(raw, 4) for leg, raw in candidate.scores.items()},
            meaning=round(weight * each.scored.meaning, 4),
            words=round((1 - weight) * each.scored.words, 4),
            boosts={name: round(value, 4) for name, value in each.boosts.items()},
            fused=round(each.fused, 4),
            score=each.score,
            fate=self._fate(each, hits),
            ranker=0.0 if self.by_places else round(each.scored.fused - each.scored.seen, 4),
            fit=each.fit,
        )

    def _fate(self, each: Ranked, hits: Sequence[Hit]) -> str:
        item_id = each.scored.candidate.id
        for hit in hits:
            if hit.id == item_id:
                return "shown"
            if item_id in hit.like_it:
                return f"like {hit.id}"
        if not hits:
            return "below the threshold"
        return "below the floor" if each.fit < self.floor else "beyond the limit"


def _first(first: Sequence[Ranked], ranked: Sequence[Ranked]) -> list[Ranked]:
    keys = {each.key for each in first}
    return [*first, *(each for each in ranked if each.key not in keys)]


def _with_falling_scores(
    ranked: Sequence[Ranked], least_scores: Mapping[int, float]
) -> list[Ranked]:
    """Adjust scores so that hits are in their order: each scores at least as much as the next.

    An item is raised only to the least score of one that boosts moved behind it, which is always
    among `ranked`, and lowered only to that of the one before it. So a score depends neither on
    the limit nor on how many items were read.
    """
    least, least_here = 0.0, []
    for each in reversed(ranked):
        least = max(least, least_scores[each.key])
        least_here.append(least)
    found: list[Ranked] = []
    most = 1.0
    for each, own in zip(ranked, reversed(least_here), strict=True):
        most = min(most, max(each.score, own))
        found.append(each._replace(score=most))
    return found


def _within_reach(scored: Sequence[Scored], reach: int, more: int) -> Sequence[Scored]:
    """The first, `more` to explain, and all so near that boosts could bring them there."""
    first = scored[: reach + more]
    if len(scored) <= len(first):
        return first
    least = scored[reach - 1].fused - 2 * MOST
    behind = scored[len(first) : reach + BOOSTED_BEYOND]
    return [*first, *takewhile(lambda each: each.fused >= least, behind)]


def _traits(entry: Entry) -> Traits:
    return Traits(
        updated_at=entry.updated_at,
        download_count=entry.download_count,
        merit=merit(entry.item, entry.rating, entry.success_rate, entry.counted_runs),
        semantic_weight=entry.item.semantic_weight,
    )
