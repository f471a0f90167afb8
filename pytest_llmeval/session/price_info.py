"""Where the prices of a run's models come from: for ``run.json``, and for a line at its end."""

from __future__ import annotations

from collections.abc import Container, Mapping
from contextlib import suppress
from pathlib import Path

from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.records import Json
from pytest_llmeval.session.choice import model_choice
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.session.spending import Spending
from pytest_llmeval.task.catalog import Catalog


def prices_json(settings: Settings, catalog: Catalog, plan: Plan) -> dict[str, Json]:
    """Return, for each model of the run that has a price, the price and where it is from.

    That is ``as_of``, the day of the price in the package's own table, or ``file``, the name of the
    user's.
    """
    choice, models = model_choice(settings, catalog), dict[ModelSpec, None]()
    for test in plan.kinds:
        with suppress(UsageError, TaskError):  # its samples tell that, and the others run
            asked = (*choice.solving(test), *choice.scoring(test))
            models |= dict.fromkeys(model.bare for model in asked)
    spending = Spending(settings)
    file = Path(settings.prices or "").name
    found: dict[str, Json] = {}
    for model in models:
        if (priced := spending.priced(model)) is not None and not model.recorded:
            origin: dict[str, Json] = {"as_of": priced.as_of} if priced.as_of else {"file": file}
            found[model.label] = {**priced.price.to_json(), **origin}
    return found


def oldest_day(prices: Mapping[str, Json], models: Container[str] | None = None) -> str | None:
    """Return the oldest day of the package's own prices; None if there are none.

    Args:
        prices: what `prices_json` returned.
        models: the labels of the models that count; None for all.
    """
    days = [
        str(price["as_of"])
        for label, price in prices.items()
        if isinstance(price, dict) and "as_of" in price and (models is None or label in models)
    ]
    return min(days, default=None)


def price_lines(prices: Mapping[str, Json], asked: Container[str]) -> list[str]:
    """Return a line that says of which day the package's own prices are, if any were used.

    Args:
        prices: what `prices_json` returned.
        asked: the labels of the models to which requests were sent.
    """
    if (day := oldest_day(prices, asked)) is None:
        return []
    told = f"by the package's own prices, the oldest of {day} (--llmeval-prices FILE sets others)"
    return [f"cost: {told}"]
