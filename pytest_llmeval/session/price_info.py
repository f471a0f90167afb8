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

    That is ``as_of``, the day of the package's own table, or ``file``, the name of the user's.
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


def price_lines(prices: Mapping[str, Json], asked: Container[str]) -> list[str]:
    """Return a line that says of which day the package's own prices are, if any were used.

    Args:
        prices: what `prices_json` returned.
        asked: the labels of the models to which requests were sent.
    """
    days: dict[str, list[str]] = {}
    for label, price in prices.items():
        day = price.get("as_of") if isinstance(price, dict) else None
        if isinstance(day, str) and label in asked:
            days.setdefault(day, []).append(label)
    if not days:
        return []
    told = "; ".join(f"{day} for {', '.join(labels)}" for day, labels in sorted(days.items()))
    return [f"cost: by the package's own prices of {told} (--llmeval-prices FILE sets others)"]
