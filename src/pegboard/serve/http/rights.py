"""What a caller may decide: refused in the same words at every route and on every page."""

from pegboard.errors import NotAllowed
from pegboard.model.calls import Caller, Role
from pegboard.model.items import Item, SourceRecord


def need_everywhere(caller: Caller) -> None:
    """For what concerns the whole board, and so is no namespace's to decide."""
    if not caller.everywhere:
        raise NotAllowed(
            "this concerns the whole board",
            "it needs an admin who is not bound to namespaces",
        )


def need_item(caller: Caller, item: Item) -> None:
    """For what is decided about an item."""
    if not caller.may_decide(item.namespace, item.author):
        raise NotAllowed(
            f"{item.id} is not yours to change",
            f"its author can, and an admin of {item.namespace}",
        )


def need_source(caller: Caller, record: SourceRecord) -> None:
    """For what is decided about a source, which has no author."""
    if not caller.may_decide(record.namespace, ""):
        raise NotAllowed(
            f"the source {record.name!r} is not yours to decide about",
            f"an admin of {record.namespace} can",
        )


def need_approver(caller: Caller) -> None:
    """For the yes to a call that a person has to approve."""
    if not caller.role.covers(Role.AUTHOR):
        raise NotAllowed(f"approving a call needs the role author, and you are {caller.role}")
