r"""The macros of siunitx and physics, ``\SI{5}{\meter\per\second}``, ``\pdv{f}{x}``, as LaTeX."""

from __future__ import annotations

import re

_QUANTITY = re.compile(
    r"\\(?:SI|qty)\s*(?:\[[^\]]*\])?\s*\{(?P<value>[^{}]*)\}\s*\{(?P<unit>(?:[^{}]|\{[^{}]*\})*)\}"
    r"|\\(?:si|unit)\s*\{(?P<alone>(?:[^{}]|\{[^{}]*\})*)\}"
)
_DERIVATIVE = re.compile(
    r"\\(?P<kind>p?dv|odv)\s*(?:\[(?P<order>\d)\])?\s*\{(?P<of>[^{}]*)\}\s*(?:\{(?P<by>[^{}]*)\})?"
)
_REPEATING = re.compile(r"(\d*)\.(\d*)\\(?:overline|bar|dot)\s*\{(\d{1,12})\}")
_MACRO = re.compile(r"\\([A-Za-z]+)\s*")
_PREFIXES = {
    "pico": "p", "nano": "n", "micro": "µ", "milli": "m", "centi": "c", "deci": "d", "kilo": "k",
    "mega": "M", "giga": "G", "tera": "T",
}  # fmt: skip
_UNITS = {
    "meter": "m", "metre": "m", "second": "s", "gram": "g", "kilogram": "kg", "newton": "N",
    "joule": "J", "watt": "W", "volt": "V", "ampere": "A", "ohm": "Ω", "tesla": "T", "hertz": "Hz",
    "pascal": "Pa", "kelvin": "K", "mole": "mol", "coulomb": "C", "farad": "F", "henry": "H",
    "weber": "Wb", "electronvolt": "eV", "celsius": "°C", "degreeCelsius": "°C", "minute": "min",
    "hour": "h", "liter": "L", "litre": "L", "bar": "bar", "radian": "rad", "angstrom": "Å",
}  # fmt: skip
_MODIFIERS = {"per": "/", "squared": "^2", "cubed": "^3", "cdot": "*", "percent": "%"}


def without_macros(text: str) -> str:
    r"""Return LaTeX with each quantity as its value and unit, each derivative as a fraction."""
    text = _REPEATING.sub(_exact, text)
    return _DERIVATIVE.sub(_fraction, _QUANTITY.sub(_plain, text)) if "\\" in text else text


def _exact(found: re.Match[str]) -> str:
    """Return a repeating decimal as a fraction."""
    whole, fixed, repeated = found[1] or "0", found[2], found[3]
    lower = 10 ** len(fixed) * (10 ** len(repeated) - 1)
    upper = int(whole + fixed + repeated) - int(whole + fixed)
    return rf"\frac{{{upper}}}{{{lower}}}"


def _fraction(found: re.Match[str]) -> str:
    sign = r"\partial" if found["kind"].startswith("p") else "d"
    order = f"^{found['order']}" if found["order"] else ""
    of, by = (found["of"], found["by"]) if found["by"] else ("", found["of"])
    return rf"\frac{{{sign}{order} {of}}}{{{sign} {by}{order}}}"


def _plain(found: re.Match[str]) -> str:
    unit = _MACRO.sub(_name, found["unit"] or found["alone"] or "").strip()
    return rf"{found['value'] or ''}\text{{ {unit} }}"


def _name(macro: re.Match[str]) -> str:
    name = macro[1]
    if name in _PREFIXES:
        return f" {_PREFIXES[name]}"
    return f"{_UNITS[name]} " if name in _UNITS else _MODIFIERS.get(name, macro[0])
