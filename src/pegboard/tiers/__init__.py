"""Three tiers that search as one: the project's board, a person's own, and the registry."""

from pegboard.tiers.opening import open_registry as open_registry
from pegboard.tiers.opening import open_user as open_user
from pegboard.tiers.searching import Held as Held
from pegboard.tiers.searching import Tiers as Tiers
