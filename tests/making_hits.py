"""Hits in one line, and what hypothesis can make of them."""

from typing import Any

from hypothesis import strategies as st

from making import clean_text
from pegboard.model.answers import Hit
from pegboard.model.items import ItemId, Kind, MatchType


def make_hit(item_id: str = "mcptools:mail:send", **fields: Any) -> Hit:
    """A hit of an unremarkable tool; what is given wins."""
    said: dict[str, Any] = {
        "kind": Kind.TOOL,
        "namespace": "public",
        "name": "send",
        "category": "mail",
        "source": "mcptools",
        "description": "Send a mail.",
        "score": 0.5,
        "match_type": MatchType.BOTH,
        "breakdown": {},
        "reason": "meaning close (0.50)",
        "signature": "send(to: string)",
    }
    return Hit(id=ItemId(item_id), **(said | fields))


paragraphs = st.lists(
    clean_text | st.sampled_from(["", "Send. Then wait. " * 30, "金" * 300, "Args:", "  - x"]),
    max_size=6,
).map("\n".join)

hits = st.builds(
    make_hit,
    st.text(st.sampled_from("abc:_送"), min_size=1, max_size=60),
    namespace=st.sampled_from(["public", "team/blue"]),
    description=paragraphs,
    signature=clean_text | st.just("f(" + "long: string, " * 60 + ")"),
    score=st.floats(0, 1),
    like_it=st.lists(st.just(ItemId("a:b:c")), max_size=3).map(tuple),
    kind=st.sampled_from(Kind),
    title=st.sampled_from(["", "Send a mail\nsend (0.99)", "Mail, " * 60]) | clean_text,
    passage=st.sampled_from(["", "Pay: The allowance is 350 euros."]) | clean_text,
)
