"""Kind of world to the digest that the context strategy `structured` sums it up with."""

from harness.context.structured import Digest
from harness.errors import UnknownNameError


def find_digest(kind: str) -> Digest:
    """The digest of a kind of world.

    Raises:
        UnknownNameError: There is no such kind.
    """
    if kind == "grid":
        from harness.worlds.grid_digest import GridDigest

        return GridDigest()
    if kind == "craft":
        from harness.worlds.craft_digest import CraftDigest

        return CraftDigest()
    raise UnknownNameError("world", kind, ["craft", "grid"])
