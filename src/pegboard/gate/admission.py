"""Candidate in, item or rejection out. Total: nothing a source can say makes this raise.

What reads and checks is loaded with the first candidate: a search admits nothing.
"""

from collections.abc import Callable

from pegboard.gate.limits import Limits
from pegboard.gate.namespaces import NAMESPACE_RULE, is_namespace
from pegboard.gate.refusal import Refused
from pegboard.model.content import Json
from pegboard.model.items import Candidate, Form, Item, Rejection

__all__ = ["NAMESPACE_RULE", "Limits", "Refused", "Seal", "admit", "is_namespace"]

Seal = Callable[[Candidate, Item], Item]
"""Puts the checked signature on a finished item, or raises `Refused`."""


def admit(
    candidate: Candidate, limits: Limits | None = None, seal: Seal | None = None
) -> Item | Rejection:
    from pegboard.gate.items import read_item

    limits = limits or Limits()
    try:
        item = read_item(candidate, _said(candidate, limits), limits)
        return seal(candidate, item) if seal else item
    except Refused as refused:
        return Rejection(
            source=candidate.source,
            origin=candidate.origin,
            origin_hash=candidate.origin_hash,
            code=refused.code,
            reason=refused.reason,
        )


def _said(candidate: Candidate, limits: Limits) -> Json:
    """The fields, or what the document of the candidate makes of them."""
    match candidate.form:
        case Form.FIELDS:
            return candidate.fields
        case Form.MANIFEST:
            from pegboard.gate.manifests import read_manifest

            return read_manifest(candidate, limits)
        case Form.DIRECTIVE:
            from pegboard.gate.directives import read_directive

            return read_directive(candidate, limits)
        case Form.KNOWLEDGE:
            from pegboard.gate.knowledge import read_knowledge

            return read_knowledge(candidate, limits)
        case Form.SKILL:
            from pegboard.gate.skills import read_skill

            return read_skill(candidate, limits)
