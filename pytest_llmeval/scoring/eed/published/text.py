r"""The published metric's clean-up of LaTeX text, quirks included.

A new implementation of the behaviour of the public reference (phybench-official/phybench, commit
d9db3ec). Like the reference it loses text: ``\left`` is cut as ``\le``, and braces remove the text
around them. Only ``mode="published"`` uses it.
"""

from __future__ import annotations

import re

_STRIPS = 10  # most overall braces that are stripped
_FRACTIONS = 100  # most exponents that are fractions without braces

_RELATIONS = ("=", r"\approx", r"\ge", r"\le", r"\geq", r"\leq", "<", ">")
_KILLED = (r"\begin", r"\end")
_UNWRAPPED = (r"\text", r"\mathbf", r"\mathrm", r"\pmb", r"\hat", r"\overline", r"\boldsymbol")
# The order matters: `\text` goes before `\mathrm`, `\Bigr` before `\Big`.
_DELETED = (
    *(r"\,", "$", ",", "`", "latex", r"\left", r"\right", r"\text", r"\mathrm", r"\Bigr", r"\Bigl"),
    *("\n", r"\]", r"\[", r"\Big", r"\bigl", r"\bigr", r"\biggl", r"\biggr", r"\displaystyle"),
    *(r"\boldsymbol", r"\infty"),
)
_REPLACED = (
    (r"\operatorname{asin}", r"\asin"),
    (r"\operatorname{sech}", r"\sech"),
    (r"\operatorname{acos}", r"\acos"),
    (r"\operatorname{sinh}", r"\sinh"),
    (r"\dfrac", r"\frac"),
    (r"\tfrac", r"\frac"),
    (r"\Exp", r"\exp"),
    (r"\times", r"\bar{times}"),
    (r"\partial", r"\bar{partial}"),
    (r"\perp", r"\bar{perp}"),
    (r"\epsilon", r"\varepsilon"),
    (r"\varOmega", r"\Omega"),
    ("I", r"\bar{I}"),
    ("_e", "_{e}"),
    ("e_", r"\bar{e}_"),
    ("E_", r"\bar{E}_"),
    (r"\pm", "+"),
    (r"\mp", "-"),
    ("{+}", "{p}"),
    ("{-}", "{m}"),
    ("_+", "_p"),
    ("_-", "_m"),
)
_BAR = r"\bar"
_ARGUMENT = r"(\\[a-zA-Z]+|\d|[a-zA-Z]|\{[^{}]*\})"
_BARE_FRACTION = re.compile(r"\\frac" + _ARGUMENT + _ARGUMENT)
_VECTOR = re.compile(r"\\vec\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}")
_INDEXED_VECTOR = re.compile(r"\\vec\{([^{}]+)_\{([^{}]+)\}\}")
_BARE_VECTOR = re.compile(r"\\vec\s*(\\?[a-zA-Zα-ωΑ-Ω]+)")


class CleanUpFailed(ValueError):  # noqa: N818 - the name is part of stored reasons
    """The clean-up failed, as in the reference: the pair scores 0."""


def clean_up(text: str) -> str:
    """Return the text that the reference passes to its LaTeX reader."""
    text = _formula(text)
    for command in _KILLED:
        text = _without_command(text, command, keep=False)
    for command in _UNWRAPPED:
        text = _without_command(text, command, keep=True)
    for token in _DELETED:
        text = text.replace(token, "")
    for old, new in _REPLACED:
        text = text.replace(old, new)
    text = _BARE_FRACTION.sub(lambda match: rf"\frac{_braced(match[1])}{_braced(match[2])}", text)
    text = _VECTOR.sub(
        lambda match: rf"\vec{{{_without_command(match[1], _BAR, keep=True)}}}", text
    )
    text = _INDEXED_VECTOR.sub(r"\\vec{\1}_{\2}", text)
    text = _BARE_VECTOR.sub(r"\\vec{\1}", text)
    return _brace_fraction_exponents(text).removesuffix(".")


def _formula(text: str) -> str:
    r"""Return the content of the box, up to a ``\quad``, behind the last relation."""
    text = text.replace(r"\{", "(").replace(r"\}", ")")
    if not _nests(text):
        return text
    text = _strip_overall_braces(_without_command(text, r"\boxed", keep=True))
    text = text.split(r"\quad", 1)[0]
    return _strip_overall_braces(_cut_relation(text))


def _nests(text: str) -> bool:
    """Return whether all brackets are balanced."""
    closing = {"(": ")", "[": "]", "{": "}"}
    expected: list[str] = []
    for character in text:
        if character in closing:
            expected.append(closing[character])
        elif character in ")]}" and (not expected or expected.pop() != character):
            return False
    return not expected


def _matching_brace(text: str, start: int, *, escapes: bool) -> int:
    """Return the position of the brace that closes the one at `start`.

    With `escapes`, a character behind a backslash is skipped.
    """
    depth, index = 0, start
    while index < len(text):
        if escapes and text[index] == "\\":
            index += 2
            continue
        depth += {"{": 1, "}": -1}.get(text[index], 0)
        if depth == 0:
            return index
        index += 1
    msg = f"the brace at {start} never closes"
    raise CleanUpFailed(msg)


def _without_command(text: str, command: str, *, keep: bool) -> str:
    """Return the text without a command, and without its argument unless `keep`.

    Raises:
        CleanUpFailed: the command occurs twice, which the reference cannot handle.
    """
    start = text.find(command)
    if start < 0:
        return text
    after = start + len(command)
    if text[after : after + 1] == "{":
        end = _matching_brace(text, after, escapes=False)
        text = text[:start] + (text[after + 1 : end] if keep else "") + text[end + 1 :]
    else:
        text = text[:start] + text[after + 1 :]
    if command in text:
        msg = f"{command} occurs more than once"
        raise CleanUpFailed(msg)
    return text


def _strip_overall_braces(text: str) -> str:
    for _ in range(_STRIPS):
        stripped = _strip_overall_brace(text)
        if stripped == text:
            break
        text = stripped
    return text


def _strip_overall_brace(text: str) -> str:
    opening = re.search(r"(?<!\\)\{", text)
    if opening is None or _is_argument(text[: opening.start()]):
        return text
    end = _matching_brace(text, opening.start(), escapes=True)
    return text if "}" in text[end + 1 :] else text[opening.end() : end]


def _is_argument(left: str) -> bool:
    r"""Return whether a brace is the argument of a command, ``^`` or ``_`` to its left."""
    while left:
        if left[-1] in " \t":
            left = left[:-1]
        elif left[-1] == "]" and "[" in left:
            left = left[: left.rindex("[")]
        else:
            break
    return left.endswith(("^", "_")) or re.search(r"\\[a-zA-Z]+$", left) is not None


def _cut_relation(text: str) -> str:
    cut = text
    for relation in _RELATIONS:
        place = text.rfind(relation)
        if place >= 0:
            cut = text[place + 1 :]
    return cut.strip()


def _braced(argument: str) -> str:
    return argument if argument.startswith("{") else f"{{{argument}}}"


def _brace_fraction_exponents(text: str) -> str:
    for _ in range(_FRACTIONS):
        start = text.find(r"^\frac{")
        if start < 0:
            break
        try:
            end = _matching_brace(text, start + len(r"^\frac"), escapes=False)
            if text[end + 1 : end + 2] != "{":
                break
            end = _matching_brace(text, end + 1, escapes=False)
        except CleanUpFailed:
            break
        text = f"{text[:start]}^{{{text[start + 1 : end + 1]}}}{text[end + 1 :]}"
    return text
