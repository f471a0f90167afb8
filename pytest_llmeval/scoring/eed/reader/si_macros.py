r"""The macros of siunitx, ``\SI{5}{\meter\per\second}``, as plain LaTeX."""

from __future__ import annotations

import re

_QUANTITY = re.compile(
    r"\\(?:SI|qty)\s*(?:\[[^\]]*\])?\s*\{(?P<value>[^{}]*)\}\s*\{(?P<unit>(?:[^{}]|\{[^{}]*\})*)\}"
    r"|\\(?:si|unit)\s*\{(?P<alone>(?:[^{}]|\{[^{}]*\})*)\}"
)
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


def without_si_macros(text: str) -> str:
    r"""Return LaTeX with each quantity of siunitx as its value and ``\text{}`` of its unit."""
    return _QUANTITY.sub(_plain, text) if "\\" in text else text


def _plain(found: re.Match[str]) -> str:
    unit = _MACRO.sub(_name, found["unit"] or found["alone"] or "").strip()
    return rf"{found['value'] or ''}\text{{ {unit} }}"


def _name(macro: re.Match[str]) -> str:
    name = macro[1]
    if name in _PREFIXES:
        return f" {_PREFIXES[name]}"
    return f"{_UNITS[name]} " if name in _UNITS else _MODIFIERS.get(name, macro[0])
