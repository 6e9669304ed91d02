"""What tokens cost: a table of prices turns usage into money. A model that is not in it has no price, not one of 0."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from oresight import assets
from oresight.harness.errors import UsageError
from oresight.harness.models.base import Usage
from oresight.scoring.records import parse_json

_MILLION = 1_000_000
_DATED = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2})$")
_SERVER = re.compile(r"@https?://.*$")
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(BaseModel):
    """US dollars a million tokens of one model.

    What is read from a cache or written to one costs as much as other input where no price is given for it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Amount
    output: Amount
    cached_input: Amount | None = None
    cache_write: Amount | None = None

    def cost(self, usage: Usage) -> float:
        """Return the cost in US dollars."""
        plain = max(usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens, 0)
        cached = self.input if self.cached_input is None else self.cached_input
        written = self.input if self.cache_write is None else self.cache_write
        dollars = (
            plain * self.input
            + usage.cached_tokens * cached
            + usage.cache_write_tokens * written
            + usage.output_tokens * self.output
        )
        return dollars / _MILLION


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    about: str = ""
    models: dict[str, Price]


@dataclass(frozen=True)
class PriceTable:
    """Prices by `provider:model`."""

    prices: Mapping[str, Price]

    def price(self, name: str) -> Price | None:
        """Return the price of a model, or None where the table has none.

        A dated version costs what the undated one does, and a provider's model behind another address what it costs at
        the provider, unless the table says something else.
        """
        here = _SERVER.sub("", name)
        for known in (name, here, _DATED.sub("", here)):
            if known in self.prices:
                return self.prices[known]
        return None

    def cost(self, name: str, usage: Usage) -> float | None:
        """Return the cost in US dollars, or None where the table has no price for the model."""
        price = self.price(name)
        return None if price is None else price.cost(usage)


def read_prices(path: Path | None = None) -> PriceTable:
    """Read the bundled price table, overridden by the user's own file.

    Raises:
        UsageError: The file cannot be read or is not a price table.
    """
    prices = dict(_read(assets.path("prices.json")).models)
    if path is not None:
        prices.update(_read(path).models)
    return PriceTable(prices)


def _read(path: Path) -> _File:
    expected = 'expected {"models": {"provider:model": {"input": 1.0, "output": 2.0}}}, in US dollars a million tokens'
    try:
        return _File.model_validate(parse_json(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"{path}: the prices cannot be read ({error.strerror})") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise UsageError(f"{path}: {where}: {first['msg']}; {expected}") from error
    except ValueError as error:
        raise UsageError(f"{path}: {error}; {expected}") from error
