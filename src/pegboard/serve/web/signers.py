"""What the signatures of releases are worth by now, by the keys that the board trusts."""

from pegboard.app.pegboard import Pegboard
from pegboard.errors import PegboardError
from pegboard.gate.signatures import Trusted
from pegboard.serve.web.facts import SignatureView


def signers_of(board: Pegboard) -> Trusted | None:
    """None where the list cannot be read, which says nothing about anybody."""
    try:
        return board.releases.signers()
    except PegboardError:
        return None


def worth(signers: Trusted | None, signer: str, namespace: str) -> SignatureView:
    """Of a release that was good when it was published: only its signer may be another since."""
    if signers is None:
        return SignatureView("not checked", "warn", signer)
    known = signers.get(signer)
    if known is None:
        return SignatureView("not trusted here", "bad", signer)
    if known.revoked_at:
        return SignatureView("revoked", "bad", known.name)
    if not known.allows(namespace):
        return SignatureView(f"not trusted for {namespace}", "bad", known.name)
    return SignatureView("trusted", "good", known.name)
