"""The texts of a page, each kept once: most of what an agent is told and says comes again and again."""

from oresight.harness.protocols import Json

# A longer text is cut, and the page says so.
TEXT_CHARACTERS = 64_000
# All texts together; once they are more, each further one is cut shorter.
PAGE_CHARACTERS = 8_000_000
LATE_CHARACTERS = 1_000


class TextPool:
    """Collects texts and gives each a number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._texts: list[str] = []
        self._cut: dict[int, int] = {}
        self._size = 0

    @property
    def full(self) -> bool:
        """Whether the page has as much text as it may have."""
        return self._size > PAGE_CHARACTERS

    def add(self, text: str) -> int:
        """The number of a text, which is cut if it is too long."""
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self._texts)
            limit = LATE_CHARACTERS if self.full else TEXT_CHARACTERS
            kept = text[:limit]
            if len(kept) < len(text):
                self._cut[number] = len(text)
            self._texts.append(kept)
            self._size += len(kept)
        return number

    def to_json(self) -> Json:
        """The texts by number, and how long those were that are cut."""
        return {"texts": self._texts, "cut": self._cut}
