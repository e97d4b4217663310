"""What the settings say, as each part of a board takes it."""

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING

from pegboard.board.find.answering import FindSettings
from pegboard.board.maintain.worker import WorkerSettings
from pegboard.config.places import Tier, keyring_folder
from pegboard.config.settings import (
    SIGNATURES,
    EmbedSettings,
    SearchSettings,
    Settings,
)
from pegboard.embed.choose import SERVICES, make_embedder
from pegboard.embed.faults import LONGEST_WAIT
from pegboard.model.items import ModelSpec
from pegboard.ports.stages import Embedder
from pegboard.search.boosts import BoostSettings
from pegboard.search.cosine_scale import CosineScale
from pegboard.search.fusion import FusionSettings, Method

if TYPE_CHECKING:
    from pegboard.board.trust.signing import Sealing


def find_settings(found: SearchSettings, scale: CosineScale | None = None) -> FindSettings:
    """Return what a search goes by; `scale` is that of the model's cosines."""
    return FindSettings(
        depth=found.depth,
        fusion=FusionSettings(
            method=Method(found.fusion),
            alpha=found.alpha,
            k=found.k,
            bm25_weight=found.bm25_weight,
            vector_weight=found.vector_weight,
            fuzzy_weight=found.fuzzy_weight,
            scale=scale or CosineScale(),
        ),
        boosts=BoostSettings(
            recency=found.boost_recency,
            quality=found.boost_quality,
            usage=found.boost_usage,
            semantic_weight=found.boost_semantic_weight,
        ),
        threshold=found.threshold,
        floor=found.floor,
    )


def sealing_of(settings: Settings, tiers: Collection[Tier]) -> "Sealing":
    """By the strictest policy among those of the tiers."""
    from pegboard.board.trust.keyring import Keyring  # a search needs none of this
    from pegboard.board.trust.signing import Sealing
    from pegboard.gate.signatures import Policy

    trust = settings.trust
    said = {
        Tier.PROJECT: trust.signatures_project,
        Tier.USER: trust.signatures_user,
        Tier.REGISTRY: trust.signatures_registry,
    }
    strictest = min((said[tier] for tier in tiers), key=SIGNATURES.index)
    pulled = Tier.REGISTRY not in tiers
    return Sealing(Keyring(keyring_folder(settings)), Policy(strictest), pulled=pulled)


def embedders(
    settings: Settings, environ: Mapping[str, str]
) -> Callable[[ModelSpec], Embedder | None]:
    """Makes the embedder of a model, as the settings say how."""
    embed = settings.embed
    return partial(
        make_embedder,
        device=embed.device,
        threads=embed.threads,
        batch_size=embed.batch_size,
        timeout_seconds=embed.timeout_seconds,
        max_retries=embed.max_retries,
        environ=environ,
        cache=settings.vectors_folder,
    )


def worker_settings(embed: EmbedSettings) -> WorkerSettings:
    """With a service, tasks are held for as long as all tries of a batch may take."""
    made = WorkerSettings(batch_size=embed.batch_size, max_attempts=embed.max_attempts)
    if embed.provider not in SERVICES:
        return made
    tries = (embed.max_retries + 1) * (embed.timeout_seconds + LONGEST_WAIT)
    return made._replace(lease_seconds=max(made.lease_seconds, tries))
