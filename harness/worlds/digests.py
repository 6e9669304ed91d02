"""Kind of world to the digest that the context strategy `structured` sums it up with."""

from oresight.harness.context.structured import Digest
from oresight.harness.errors import UnknownNameError


def find_digest(kind: str) -> Digest:
    """The digest of a kind of world.

    Raises:
        UnknownNameError: There is no such kind.
    """
    if kind == "grid":
        from oresight.harness.worlds.grid.digest import GridDigest

        return GridDigest()
    if kind == "craft":
        from oresight.harness.worlds.craft.digest import CraftDigest

        return CraftDigest()
    raise UnknownNameError("world", kind, ["craft", "grid"])
