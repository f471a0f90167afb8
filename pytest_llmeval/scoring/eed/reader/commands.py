"""The LaTeX commands of the corrected reader: letters, functions, spacing, relations."""
# ruff: noqa: SIM905 - long lists of words

from __future__ import annotations

import re
import unicodedata

GREEK = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta vartheta iota kappa lambda mu nu xi omicron "
    "rho varrho sigma varsigma tau upsilon phi varphi chi psi omega varpi digamma Gamma Delta "
    "Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega hbar ell nabla partial Re Im aleph imath "
    "jmath perp parallel dagger star prime oplus otimes odot angle triangle square Box emptyset "
    "wp top bot flat sharp natural mho uparrow downarrow updownarrow "
    "leftrightarrow".split()
)
"""Commands that are symbols under their own name."""

SAME_LETTER = {
    "varepsilon": "epsilon", "varOmega": "Omega", "hslash": "hbar", "varPhi": "Phi",
    "varGamma": "Gamma", "mathellipsis": "ldots", "Vert": "|", "lVert": "|", "rVert": "|",
    "lvert": "|", "rvert": "|", "vert": "|", "mid": "|", "dfrac": "frac", "tfrac": "frac",
    "cfrac": "frac", "le": "leq", "ge": "geq", "lt": "<", "gt": ">", "leqslant": "leq",
    "geqslant": "geq", "ne": "neq", "varnothing": "emptyset", "lbrace": r"\{", "rbrace": r"\}",
    "lbrack": "[", "rbrack": "]",
    "lparen": "(", "rparen": ")", "colon": ":", "dots": "ldots", "land": "wedge", "lor": "vee",
    "div": "/", "ast": "*", "cdotp": "cdot", "bullet": "cdot", "dotsc": "ldots", "tbinom": "binom",
    "dbinom": "binom", "implies": "Rightarrow", "Longrightarrow": "Rightarrow",
    "longrightarrow": "to", "rightarrow": "to", "backslash": "setminus",
    "smallsetminus": "setminus", "iint": "int", "iiint": "int", "oiint": "oint", "Ket": "ket",
    "Bra": "bra", "Braket": "braket", "ip": "braket", "expval": "mean", "mel": "braket",
}  # fmt: skip
"""Commands with the meaning of another one."""

ACCENTS = {
    "hat": "hat", "widehat": "hat", "bar": "bar", "overline": "bar", "tilde": "tilde",
    "widetilde": "tilde", "dot": "dot", "ddot": "ddot", "dddot": "dddot", "vec": "vec",
    "overrightarrow": "vec", "check": "check", "breve": "breve", "acute": "acute", "grave": "grave",
    "mathring": "ring", "underline": "bar",
}  # fmt: skip
"""Accents, which make a symbol another symbol, by command."""

ALPHABETS = {"mathcal": "cal", "mathscr": "cal", "mathfrak": "frak", "mathbb": "bb"}
"""Alphabets whose letters are other symbols."""

VECTOR_FONTS = frozenset(
    {"mathbf", "boldsymbol", "bm", "pmb", "textbf", "bf", "vec", "overrightarrow"}
)
"""Fonts of vectors, between which ``\\times`` is the cross product."""

FONTS = VECTOR_FONTS - {"vec", "overrightarrow"} | frozenset(
    "mathrm mathit mathsf mathtt mathnormal textit textrm textsf texttt textup operatorname mbox "
    "text hbox textnormal emph textstyle mathop mathord mathbin mathrel".split()
)
"""Commands that change only the appearance of their argument."""

TEXT = frozenset({"text", "mbox", "hbox", "textnormal", "textrm", "textit"})
"""Fonts whose argument may be prose."""

_WITH_INVERSE = "sin cos tan cot sec csc sinh cosh tanh coth".split()
FUNCTIONS = {
    **{name: name for name in [*_WITH_INVERSE, "sech", "csch", "exp", "erf", "erfc"]},
    **{f"arc{name}": f"a{name}" for name in _WITH_INVERSE},
    **{f"ar{name}": f"a{name}" for name in ("sinh", "cosh", "tanh", "coth")},
    **{f"a{name}": f"a{name}" for name in _WITH_INVERSE},
    "ln": "log", "log": "log", "lg": "log10", "tg": "tan", "ctg": "cot", "sh": "sinh", "ch": "cosh",
    "th": "tanh", "arctg": "atan", "arsh": "asinh", "arch": "acosh", "arth": "atanh", "sgn": "sign",
    "sign": "sign", "Exp": "exp", "max": "Max", "min": "Min", "gcd": "gcd", "lcm": "lcm",
    "det": "det", "tr": "tr", "diag": "diag", "Tr": "tr",
    "arg": "arg", "sinc": "sinc", "sup": "sup", "inf": "inf",
    "dim": "dim", "ker": "ker", "arcosech": "acsch", "arsech": "asech",
}  # fmt: skip
"""Names of functions in expressions, by command."""

INVERSE = {name: f"a{name}" for name in [*_WITH_INVERSE, "sech", "csch"]}
"""The inverse of each function, which ``^{-1}`` denotes."""

PLAIN_FUNCTIONS = (
    "arcsinh", "arccosh", "arctanh", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "coth",
    "sin", "cos", "tan", "cot", "sec", "csc", "sqrt", "exp", "log", "ln",
)  # fmt: skip
"""Functions that are recognized without a backslash, too."""

IGNORED = frozenset(
    "displaystyle textstyle scriptstyle scriptscriptstyle limits nolimits left right middle big "
    "Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm Bigm nonumber notag rm bf it "
    "sf tt cal boldmath unboldmath ensuremath mathstrut strut null relax tag label thinspace "
    "checkmark medspace thickspace negthinspace hfill hspace phantom vphantom hphantom color "
    "textcolor allowbreak protect smash normalsize large Large small".split()
)
"""Commands without a meaning."""

DROPPED_ARGUMENT = frozenset(
    {"color", "textcolor", "tag", "label", "hspace", "phantom", "vphantom", "hphantom"}
)
"""Ignored commands whose argument is ignored as well."""

EQUALS = frozenset("= equiv coloneqq triangleq doteq".split())
CONCLUSIONS = frozenset({"Rightarrow", "to", "therefore", "iff", "Leftrightarrow"})
"""Commands behind which the conclusion stands."""

APPROXIMATELY = frozenset({"approx", "simeq", "sim", "cong", "approxeq", "thickapprox"})
INEQUALITIES = {
    "<": ("<", False), ">": ("<", True), "leq": ("<=", False), "geq": ("<=", True),
    "neq": ("!=", False), "ll": ("<<", False), "gg": ("<<", True), "propto": ("propto", False),
    "subset": ("subset", False), "lesssim": ("<~", False),
    "gtrsim": ("<~", True),
}  # fmt: skip
"""Inequalities and the like: the name of the relation, and whether its sides are swapped."""

_UNICODE = {
    "−": "-", "–": "-", "—": "-", "×": r"\times ", "·": r"\cdot ", "⋅": r"\cdot ", "∙": r"\cdot ",
    "÷": "/", "∕": "/", "⁄": "/", "≈": r"\approx ", "≃": r"\simeq ", "≤": r"\leq ", "≥": r"\geq ",
    "≠": r"\neq ", "∞": r"\infty ", "√": r"\sqrt ", "∂": r"\partial ", "∇": r"\nabla ",
    "±": r"\pm ", "∓": r"\mp ", "ℏ": r"\hbar ", "ħ": r"\hbar ", "°": r"^\circ ", "′": "'",
    "″": "''", "∫": r"\int ", "∑": r"\sum ", "∏": r"\prod ", "∥": r"\parallel ", "⊥": r"\perp ",
    "⟨": r"\langle ", "⟩": r"\rangle ", "ℓ": r"\ell ", "→": r"\to ", "∈": r"\in ",
    "∝": r"\propto ", "≡": r"\equiv ", "（": "(", "）": ")", "，": ",", "。": ".", "＝": "=",
    "＋": "+", "\u00a0": " ", "\u2009": " ", "\u200b": "", "\ufeff": "", "µ": r"\mu ",
    "ϵ": r"\epsilon ", "ϕ": r"\phi ", "φ": r"\varphi ", "ϑ": r"\vartheta ", "ε": r"\epsilon ",
    "∪": r"\cup ", "∩": r"\cap ", "∖": r"\setminus ", "∅": r"\emptyset ", "ℝ": r"\mathbb{R}",
    "ℤ": r"\mathbb{Z}", "ℕ": r"\mathbb{N}", "↑": r"\uparrow ", "↓": r"\downarrow ",
    "†": r"\dagger ", "⊗": r"\otimes ", "⇒": r"\Rightarrow ", "∴": r"\therefore ",
    "〈": r"\langle ", "〉": r"\rangle ", "‖": "|",
    "½": r"\frac{1}{2}", "¼": r"\frac{1}{4}", "¾": r"\frac{3}{4}",
}  # fmt: skip
_MARKS = {"\u0308": "ddot", "\u0307": "dot", "\u20d7": "vec", "\u0302": "hat", "\u0304": "bar"}
_ACCENTED = re.compile(rf"([A-Za-z])([{''.join(_MARKS)}])")
_ROOT_OF_NUMBER = re.compile(r"√\s*(\d+(?:\.\d+)?)")
_SUPERSCRIPT = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+")
_SUBSCRIPT = re.compile("[₀₁₂₃₄₅₆₇₈₉₊₋ₐₑₒₓₕₖₗₘₙₚₛₜᵢⱼᵣᵤᵥ]+")


def to_latex(text: str) -> str:
    """Return the text with Unicode mathematics written as LaTeX."""
    if text.isascii():
        return text
    text = _ACCENTED.sub(_accented, unicodedata.normalize("NFD", text))
    text = _ROOT_OF_NUMBER.sub(r"\\sqrt{\1}", text)
    text = _SUPERSCRIPT.sub(lambda match: f"^{{{_plain(match[0])}}}", text)
    text = _SUBSCRIPT.sub(lambda match: f"_{{{_plain(match[0])}}}", text)
    return "".join(
        _UNICODE.get(character) or _letter(character) for character in text if character != "\u200b"
    )


def _accented(found: re.Match[str]) -> str:
    return rf"\{_MARKS[found[2]]}{{{found[1]}}}"


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("−", "-")


def _letter(character: str) -> str:
    """Return the command of a Greek letter, the plain form of a styled one, else the character."""
    if character.isascii():
        return character
    name = unicodedata.name(character, "")
    for case, change in (("SMALL", str.lower), ("CAPITAL", str.capitalize)):
        prefix = f"GREEK {case} LETTER "
        if name.startswith(prefix) and name.removeprefix(prefix).isalpha():
            return f"\\{change(name.removeprefix(prefix).replace('LAMDA', 'LAMBDA'))} "
    plain = unicodedata.normalize("NFKC", character)
    return plain if plain.isascii() else character
