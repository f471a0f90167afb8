"""The corrected reader: LaTeX as physicists write it, read into sympy with positive symbols.

A recursive-descent parser of its own. What it cannot give a meaning (a relation, a tuple, a derivative of an unknown)
becomes an undefined function of its parts, which is equal to itself and to nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sympy

from pytest_llmeval.eed import guards
from pytest_llmeval.eed.commands import (
    ACCENTS,
    ALPHABETS,
    FONTS,
    FUNCTIONS,
    GREEK,
    INVERSE,
    TEXT,
    VECTOR_FONTS,
)
from pytest_llmeval.eed.guards import Refused
from pytest_llmeval.eed.tokens import Token

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_END = Token("mark", "")
_SIGNS = ("+", "-")
_PERCENT = sympy.Rational(1, 100)
_DEGREE = sympy.pi / 180
_LETTER_CONSTANTS = {"e": sympy.E}
_COMMAND_CONSTANTS = {"pi": sympy.pi, "infty": sympy.oo}
_ROW_ENVIRONMENTS = ("cases", "dcases", "matrix", "pmatrix", "bmatrix", "vmatrix", "array")


def symbol(name: str) -> sympy.Symbol:
    """Return the positive symbol of that name."""
    return sympy.Symbol(name, positive=True)


def opaque(name: str, *arguments: sympy.Basic) -> sympy.Expr:
    """Return an undefined function: what has no meaning here but must stay what it is."""
    return sympy.Function(name)(*arguments)


def parse(tokens: Sequence[Token]) -> sympy.Expr:
    """Return the expression that the tokens write; Refused, with the reason, when they write none."""
    if not tokens:
        msg = "no formula"
        raise Refused(msg)
    reader = _Reader(tokens)
    expression = reader.expression()
    if not reader.done:
        msg = f"unexpected {_show(reader.here)}"
        raise Refused(msg)
    return expression


def _show(token: Token) -> str:
    if token is _END:
        return "end of the formula"
    return f"\\{token.text}" if token.kind == "command" else repr(token.text)


class _Reader:
    """One pass over the tokens; every method reads what it is named for and leaves `here` behind it."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._position = 0
        self._open_bars = 0

    @property
    def here(self) -> Token:
        return self.peek(0)

    @property
    def done(self) -> bool:
        return self._position >= len(self._tokens)

    def peek(self, offset: int) -> Token:
        position = self._position + offset
        return self._tokens[position] if position < len(self._tokens) else _END

    def take(self) -> Token:
        token = self.here
        self._position += 1
        return token

    def expect(self, mark: str) -> None:
        if not self.here.is_mark(mark):
            msg = f"expected {mark!r}, found {_show(self.here)}"
            raise Refused(msg)
        self.take()

    # sums and products

    def expression(self) -> sympy.Expr:
        """Read a sum, with a plus-minus sign as a symbol of its own."""
        total = self.sign() * self.term()
        while self.here.is_mark(*_SIGNS) or self.here.is_command("pm", "mp"):
            total = total + self.sign() * self.term()
        return total

    def sign(self) -> sympy.Expr:
        value: sympy.Expr = sympy.Integer(1)
        while self.here.is_mark(*_SIGNS) or self.here.is_command("pm", "mp"):
            token = self.take()
            if token.kind == "command":
                value = value * symbol("pm") * (1 if token.text == "pm" else -1)
            elif token.text == "-":
                value = -value
        return value

    def term(self) -> sympy.Expr:
        """Read a product; ``/`` divides by all that is written together behind it, but 1/2 m is m/2."""
        start = self._position
        value = self.product()
        while True:
            if self.here.is_mark("*") or self.here.is_command("cdot", "times", "wedge"):
                value = self._multiplied(value, start)
            elif self.here.is_mark("/"):
                self.take()
                fraction = value.is_Rational and self.here.kind == "number"
                sign = self.sign()
                divisor = self.factor() if fraction else self.product()
                value = value * sign / divisor
            elif self.starts_factor():
                value = value * self.product()
            else:
                return value

    def _multiplied(self, value: sympy.Expr, start: int) -> sympy.Expr:
        operator = self.take()
        vectors = operator.text in {"times", "wedge"} and self._vector_at(start) and self._vector_at(self._position)
        factor = self.sign() * self.product()
        return opaque("cross", value, factor) if vectors else value * factor

    def _vector_at(self, position: int) -> bool:
        return position < len(self._tokens) and self._tokens[position].is_command(*VECTOR_FONTS)

    def product(self) -> sympy.Expr:
        """Read factors that are written together."""
        derivative = self.derivative()
        value = derivative if derivative is not None else self.factor()
        while self.starts_factor():
            derivative = self.derivative()
            value = value * (derivative if derivative is not None else self.factor())
        return value

    def starts_factor(self) -> bool:
        token = self.here
        if token is _END:
            return False
        if token.kind in ("number", "letter", "text"):
            return True
        if token.kind == "mark":
            return token.text in _CLOSING or (token.text == "|" and not self._open_bars)
        return token.text not in _NO_FACTOR

    # factors

    def factor(self) -> sympy.Expr:
        """Read one factor with its exponents, primes and the like."""
        return self._postfixed(self.base())

    def _postfixed(self, value: sympy.Expr) -> sympy.Expr:
        while True:
            if self.here.is_mark("^"):
                value = self._raised(value)
            elif self.here.is_mark("_"):
                self.take()
                value = opaque(f"at_{self.script_text()}", value)
            elif self.here.is_mark("!"):
                self.take()
                value = guards.factorial(value)
            elif self.here.is_mark("%"):
                self.take()
                value = value * _PERCENT
            else:
                return value

    def _raised(self, value: sympy.Expr) -> sympy.Expr:
        self.take()
        if self._script_is("circ"):
            return value * _DEGREE
        decoration = self._decoration()
        if decoration:
            return opaque(f"with_{decoration}", value)
        return guards.power(value, self.exponent())

    def _script_is(self, name: str) -> bool:
        """Take the script if it is just this command, braced or not."""
        braced = self.here.is_mark("{")
        if self.peek(int(braced)).is_command(name) and (not braced or self.peek(2).is_mark("}")):
            self._position += 3 if braced else 1
            return True
        return False

    def _decoration(self) -> str:
        """Take a script that marks a symbol instead of raising it: a prime, a star, a dagger, a sign."""
        braced = self.here.is_mark("{")
        last = 1 if braced else 0
        names = []
        while (token := self.peek(last)).is_command("prime", "dagger", "star", "parallel", "perp") or token.is_mark(
            "*", "'", "+", "-"
        ):
            names.append(token.text)
            last += 1
            if not braced:
                break
        if not names or (braced and not self.peek(last).is_mark("}")):
            return ""
        if not braced and names[0] in _SIGNS and self.peek(1).kind in ("number", "letter", "command"):
            return ""  # e^-x, although LaTeX would not raise the x
        self._position += last + int(braced)
        return "".join("'" if name == "prime" else name for name in names)

    def exponent(self) -> sympy.Expr:
        """Read what stands behind ``^``: a group, or a sign and one factor."""
        if self.here.is_mark("{"):
            return self.group()
        sign = self.sign()
        return sign * self.base()

    def argument(self) -> sympy.Expr:
        r"""Read what a command such as ``\frac`` takes: a group, or a single digit, letter or command."""
        if self.here.is_mark("{"):
            return self.group()
        if self.here.kind == "number" and len(self.here.text) > 1:
            self._split_number()
        return self.base()

    def _split_number(self) -> None:
        r"""Cut the first digit off, because ``\frac12`` is one half."""
        digits = self.here.text
        pieces = [Token("number", digits[0]), Token("number", digits[1:])]
        self._tokens = [*self._tokens[: self._position], *pieces, *self._tokens[self._position + 1 :]]

    def base(self) -> sympy.Expr:
        token = self.take()
        if token.kind == "number":
            return _number(token.text)
        if token.kind == "letter" and token.text.isascii():
            return self.named(token.text)
        if token.kind == "text":
            return self.text(token.text)
        if token.kind == "command":
            return self.command(token.text)
        if token.is_mark("{"):
            self._position -= 1
            return self._subscripted_group()
        if token.is_mark("("):
            return self.bracketed(")")
        if token.is_mark("["):
            return self.bracketed("]")
        if token.is_mark("|"):
            return self.absolute()
        msg = f"unexpected {_show(token)}"
        raise Refused(msg)

    def _subscripted_group(self) -> sympy.Expr:
        """Read a braced group; ``{x}_{0}`` is x_0."""
        value = self.group()
        if value.is_Symbol and self.here.is_mark("_", "'"):
            return self.named(value.name)
        return value

    def group(self) -> sympy.Expr:
        self.expect("{")
        bars, self._open_bars = self._open_bars, 0
        value = self.listed("}")
        self.expect("}")
        self._open_bars = bars
        return value

    def bracketed(self, closing: str) -> sympy.Expr:
        bars, self._open_bars = self._open_bars, 0
        value = self.listed(closing)
        if not self.here.is_mark(")", "]"):  # [a, b) is an interval
            msg = f"expected {closing!r}, found {_show(self.here)}"
            raise Refused(msg)
        self.take()
        self._open_bars = bars
        return value

    def listed(self, closing: str) -> sympy.Expr:
        """Read one expression, or several between commas as a tuple."""
        values = [self.expression()]
        while self.here.is_mark(",", ";"):
            self.take()
            values.append(self.expression())
        if self.done:
            msg = f"expected {closing!r}, found {_show(self.here)}"
            raise Refused(msg)
        return values[0] if len(values) == 1 else opaque("tuple", *values)

    def absolute(self) -> sympy.Expr:
        self._open_bars += 1
        double = self.here.is_mark("|") and self.peek(1) is not _END
        if double:  # \| reads as two bars: a norm
            self.take()
        value = self.expression()
        self.expect("|")
        if double:
            self.expect("|")
        self._open_bars -= 1
        return sympy.Abs(value)

    # names

    def named(self, name: str) -> sympy.Expr:
        """Return the symbol of that name with the primes and subscripts that follow."""
        power: sympy.Expr | None = None
        plain = name
        while True:
            if self.here.is_mark("'"):
                self.take()
                name += "'"
            elif self.here.is_mark("_"):
                self.take()
                name += f"_{self.script_text()}"
            elif self.here.is_mark("^") and self.peek(1).is_command("prime"):
                self._position += 2
                name += "'"
            elif power is None and self.here.is_mark("^") and self._subscript_follows():
                self.take()
                power = self.exponent()
            else:
                break
        value = _LETTER_CONSTANTS.get(name) if name == plain else None
        value = symbol(name) if value is None else value
        return value if power is None else guards.power(value, power)

    def _subscript_follows(self) -> bool:
        """Tell whether x^2_1 stands here: an exponent of one token or group, then a subscript."""
        offset = 1
        if self.peek(1).is_mark("{"):
            depth = 0
            while (token := self.peek(offset)) is not _END:
                depth += token.is_mark("{") - token.is_mark("}")
                if depth == 0:
                    break
                offset += 1
        return self.peek(offset + 1).is_mark("_") and not self.peek(1).is_command("circ", "prime")

    def script_text(self) -> str:
        """Read a subscript as text: styling and spaces make no difference, everything else does."""
        if not self.here.is_mark("{"):
            if self.here.kind == "number" and len(self.here.text) > 1:
                self._split_number()
            token = self.take()
            if token.is_command(*FONTS) and self.here.is_mark("{"):
                return self.script_text()
            return _script_piece(token)
        self.take()
        depth, pieces = 1, []
        while not self.done:
            token = self.take()
            depth += token.is_mark("{") - token.is_mark("}")
            if depth == 0:
                return "".join(pieces)
            pieces.append(_script_piece(token))
        msg = "expected '}' behind a subscript"
        raise Refused(msg)

    def text(self, words: str) -> sympy.Expr:
        name = words.strip()
        if name in FUNCTIONS:
            return self.function(name)
        if not (name.isalnum() and name.isascii()):
            msg = f"text inside the formula: {words!r}"
            raise Refused(msg)
        return self.named(name)

    # commands

    def command(self, name: str) -> sympy.Expr:
        if name in _COMMAND_CONSTANTS:
            return _COMMAND_CONSTANTS[name] if not self.here.is_mark("_") else self.named(name)
        if name == "Gamma" and self.here.is_mark("("):
            self.take()
            return sympy.gamma(guards.small(self.bracketed(")")))
        if name in GREEK:
            return self.named(name)
        if name in FUNCTIONS:
            return self.function(name)
        if name in ACCENTS or name in ALPHABETS:
            letter, underscore, subscript = self.script_text().partition("_")
            return self.named(f"{ACCENTS.get(name) or ALPHABETS[name]}{{{letter}}}{underscore}{subscript}")
        if name in FONTS:
            return self.styled(name)
        reader = _COMMANDS.get(name)
        if reader is None:
            msg = f"unknown command \\{name}"
            raise Refused(msg)
        return reader(self)

    def styled(self, font: str) -> sympy.Expr:
        r"""Read ``\mathrm{...}`` and its like: letters are one name, or a function, anything else is a group."""
        if not self.here.is_mark("{"):
            return self.base()
        end = self._closing()
        inside = self._tokens[self._position + 1 : end]
        if inside and all(token.kind in ("letter", "number") for token in inside):
            self._position = end + 1
            name = "".join(token.text for token in inside)
            if name in FUNCTIONS:
                return self.function(name)
            if font == "operatorname":
                return self.function(name)
            return self.named(name)
        return self._subscripted_group()

    def _closing(self) -> int:
        """Return where the group that starts here ends."""
        depth = 0
        for position in range(self._position, len(self._tokens)):
            token = self._tokens[position]
            depth += token.is_mark("{") - token.is_mark("}")
            if depth == 0:
                return position
        msg = "expected '}'"
        raise Refused(msg)

    def fraction(self) -> sympy.Expr:
        return self.argument() / self.argument()

    def root(self) -> sympy.Expr:
        degree: sympy.Expr = sympy.Integer(2)
        if self.here.is_mark("["):
            self.take()
            degree = self.bracketed("]")
        return guards.power(self.argument(), 1 / degree)

    def binomial(self) -> sympy.Expr:
        return sympy.binomial(guards.small(self.argument()), self.argument())

    def mean(self) -> sympy.Expr:
        value = self.listed("rangle")
        if not self.here.is_command("rangle"):
            msg = f"expected \\rangle, found {_show(self.here)}"
            raise Refused(msg)
        self.take()
        return opaque("mean", value)

    def rounded(self, closing: str, function: Callable[[sympy.Expr], sympy.Expr]) -> sympy.Expr:
        value = self.expression()
        if not self.take().is_command(closing):
            msg = f"expected \\{closing}"
            raise Refused(msg)
        return function(value)

    def environment(self) -> sympy.Expr:
        """Read ``cases`` and matrices: an undefined function of their rows."""
        name = self.script_text().rstrip("*")
        if name not in _ROW_ENVIRONMENTS:
            msg = f"unknown environment {name}"
            raise Refused(msg)
        if name == "array" and self.here.is_mark("{"):
            self.script_text()
        rows: list[sympy.Expr] = []
        while not self.here.is_command("end"):
            if self.done:
                msg = f"environment {name} never ends"
                raise Refused(msg)
            if self.here.is_mark("&", ",") or self.here.is_command("newline", "quad", "qquad"):
                self.take()
                continue
            rows.append(self._cell())
        self.take()
        self.script_text()
        return opaque(name, *rows)

    def _cell(self) -> sympy.Expr:
        """Read one cell; conditions, which hold relations or words, only by their text."""
        start = self._position
        depth = 0
        while not self.done:
            depth += self.here.is_mark("{", "(") - self.here.is_mark("}", ")")
            if depth == 0 and (self.here.is_mark("&") or self.here.is_command("newline", "end")):
                break
            self.take()
        cell = self._tokens[start : self._position]
        try:
            return parse(_without_tail(cell))
        except Refused:
            return symbol("".join(_script_piece(token) for token in cell) or "empty")

    # functions

    def function(self, name: str) -> sympy.Expr:
        """Read a function's exponent, base and argument."""
        kind = FUNCTIONS.get(name, name)
        base: sympy.Expr | None = None
        power: sympy.Expr | None = None
        while self.here.is_mark("^", "_"):
            if self.take().text == "^":
                power = self.exponent()
            elif kind == "log":
                base = self.argument()
            else:
                kind = f"{kind}_{self.script_text()}"
        if power == -1 and kind in INVERSE:
            kind, power = INVERSE[kind], None
        value = _apply(kind, self.function_arguments(), base)
        return value if power is None else guards.power(value, power)

    def function_arguments(self) -> tuple[sympy.Expr, ...]:
        """Read what the function is of: a bracket, or the factors written together up to the next function."""
        if self.here.is_mark("(", "["):
            bracket = self.take().text
            return _arguments(self.bracketed(_CLOSING[bracket]))
        if self.here.is_mark("{"):
            return _arguments(self._postfixed(self.group()))
        value = self.sign() * self.factor()
        while self.starts_factor() and not self._argument_ends(value):
            value = value * self.factor()
        return (value,)

    def _argument_ends(self, so_far: sympy.Expr) -> bool:
        r"""Tell whether a bracket, a function, or behind symbols a root or fraction, stands next to the argument."""
        token = self.here
        if token.is_command("sqrt", "frac"):
            return not so_far.is_number
        return token.is_mark("(", "[") or (token.kind == "command" and token.text in FUNCTIONS)

    def limit(self) -> sympy.Expr:
        self.expect("_")
        end = self._closing()
        inside = self._tokens[self._position + 1 : end]
        self._position = end + 1
        arrow = next((k for k, token in enumerate(inside) if token.is_command("to", "rightarrow")), None)
        if arrow is None:
            msg = "a limit without an arrow"
            raise Refused(msg)
        variable, goal = parse(inside[:arrow]), parse(inside[arrow + 1 :])
        if not variable.is_Symbol:
            msg = "a limit over no symbol"
            raise Refused(msg)
        return sympy.Limit(self.term(), variable, goal)

    def counted(self, kind: Callable[..., sympy.Expr]) -> sympy.Expr:
        r"""Read ``\sum`` and ``\prod``: subscripts that hold the index make functions of it."""
        lower, upper = self._limits()
        equals = next((k for k, token in enumerate(lower) if token.is_mark("=")), None)
        if equals is None or upper is None:
            name = "".join(_script_piece(token) for token in lower)
            return opaque(f"{kind.__name__}_{name}", self.term())
        index = parse(lower[:equals])
        if not index.is_Symbol:
            msg = "a sum over no symbol"
            raise Refused(msg)
        body = _indexed(self.term(), index)
        return kind(body, (index, parse(lower[equals + 1 :]), parse(upper)))

    def _limits(self) -> tuple[Sequence[Token], Sequence[Token] | None]:
        lower: Sequence[Token] = ()
        upper: Sequence[Token] | None = None
        while self.here.is_mark("_", "^"):
            mark = self.take().text
            if self.here.is_mark("{"):
                end = self._closing()
                tokens, self._position = self._tokens[self._position + 1 : end], end + 1
            else:
                tokens = [self.take()]
            lower, upper = (tokens, upper) if mark == "_" else (lower, tokens)
        return lower, upper

    def integral(self) -> sympy.Expr:
        """Read an integral up to its differential."""
        lower, upper = self._limits()
        start = self._position
        place = self._differential()
        self._position = place + 1
        if self.here.is_mark("{"):  # \mathrm{d} leaves its braces behind
            self.take()
        variable = self.factor()
        end = self._position
        inside = self._tokens[start:place]
        integrand = parse(inside) if inside else sympy.Integer(1)
        self._position = end
        if not variable.is_Symbol:
            msg = "an integral over no symbol"
            raise Refused(msg)
        if upper is None or not lower:
            return opaque("integral", integrand, variable)
        return sympy.Integral(integrand, (variable, parse(lower), parse(upper)))

    def _differential(self) -> int:
        """Return where the d of the differential stands."""
        depth = 0
        for position in range(self._position, len(self._tokens) - 1):
            token, following = self._tokens[position], self._tokens[position + 1]
            depth += token.is_mark("{", "(") - token.is_mark("}", ")")
            if depth < 0:
                break
            if depth == 0 and token == Token("letter", "d") and following.kind in ("letter", "command"):
                return position
        msg = "an integral without a differential"
        raise Refused(msg)

    def derivative(self) -> sympy.Expr | None:
        r"""Read ``\frac{dV}{dx}`` and ``\frac{\partial V}{\partial x}``; None when something else stands here."""
        if not (self.here.is_command("frac") and self.peek(1).is_mark("{")):
            return None
        start = self._position
        self.take()
        end = self._closing()
        upper, self._position = self._tokens[start + 2 : end], end + 1
        if not self.here.is_mark("{"):
            self._position = start
            return None
        end = self._closing()
        lower = self._tokens[self._position + 1 : end]
        if not (_is_differential(upper) and _is_differential(lower) and len(lower) > 1):
            self._position = start
            return None
        self._position = end + 1
        variable = symbol("".join(_script_piece(token) for token in lower[1:]))
        order, inside = _order(upper[1:])
        if not inside:
            return opaque(f"d{order}", variable)
        return opaque(f"derivative{order}", parse(inside), variable)


_COMMANDS: dict[str, Callable[[_Reader], sympy.Expr]] = {
    "frac": _Reader.fraction,
    "sqrt": _Reader.root,
    "binom": _Reader.binomial,
    "langle": _Reader.mean,
    "begin": _Reader.environment,
    "lim": _Reader.limit,
    "int": _Reader.integral,
    "oint": _Reader.integral,
    "sum": lambda reader: reader.counted(sympy.Sum),
    "prod": lambda reader: reader.counted(sympy.Product),
    "lfloor": lambda reader: reader.rounded("rfloor", sympy.floor),
    "lceil": lambda reader: reader.rounded("rceil", sympy.ceiling),
    "infinity": lambda _reader: sympy.oo,
    "circ": lambda _reader: _DEGREE,
    "degree": lambda _reader: _DEGREE,
    "ldots": lambda _reader: symbol("ldots"),
    "cdots": lambda _reader: symbol("ldots"),
}
_NO_FACTOR = frozenset(
    "cdot times wedge vee pm mp rangle rfloor rceil end newline quad qquad approx simeq sim cong leq geq neq ll gg equiv "
    "to rightarrow Rightarrow propto in subset lesssim gtrsim implies iff".split()
)


def _number(text: str) -> sympy.Expr:
    if "." not in text:
        return sympy.Integer(int(text))
    return sympy.Integer(int(float(text))) if float(text).is_integer() else sympy.Float(text)


def _script_piece(token: Token) -> str:
    if token.is_mark("{", "}") or token.is_command(*FONTS):
        return ""
    return "".join(token.text.split())


def _without_tail(tokens: Sequence[Token]) -> Sequence[Token]:
    while tokens and (tokens[-1].is_mark(",", ".", ";") or tokens[-1].is_command("quad", "qquad")):
        tokens = tokens[:-1]
    return tokens


def _is_differential(tokens: Sequence[Token]) -> bool:
    return bool(tokens) and (tokens[0] == Token("letter", "d") or tokens[0].is_command("partial"))


def _order(tokens: Sequence[Token]) -> tuple[str, Sequence[Token]]:
    """Split a numerator such as d^2 V behind its d: the order as text, and what is differentiated."""
    if len(tokens) > 1 and tokens[0].is_mark("^"):
        if tokens[1].is_mark("{"):
            close = next((k for k, token in enumerate(tokens) if token.is_mark("}")), len(tokens) - 1)
            return "".join(_script_piece(token) for token in tokens[2:close]), tokens[close + 1 :]
        return tokens[1].text, tokens[2:]
    return "", tokens


def _arguments(value: sympy.Expr) -> tuple[sympy.Expr, ...]:
    return value.args if type(value).__name__ == "tuple" else (value,)


def _apply(kind: str, arguments: tuple[sympy.Expr, ...], base: sympy.Expr | None) -> sympy.Expr:
    """Apply a function by the name it has here."""
    if kind == "log":
        return sympy.log(*arguments) if base is None else sympy.log(*arguments, base)
    if kind == "log10":
        return sympy.log(*arguments, 10)
    if kind == "exp":
        return guards.power(sympy.E, *arguments)
    known = getattr(sympy, kind, None) if kind in _SYMPY_FUNCTIONS else None
    if known is not None and (kind in ("Max", "Min") or len(arguments) == 1):
        return known(*arguments)
    return opaque(kind, *arguments)


_SYMPY_FUNCTIONS = frozenset({*INVERSE, *INVERSE.values(), "erf", "erfc", "sign", "Max", "Min"})


def _indexed(body: sympy.Expr, index: sympy.Symbol) -> sympy.Expr:
    """Make q_n a function of n where n is summed over."""
    suffix = f"_{index.name}"
    changes = {
        item: opaque(item.name.removesuffix(suffix), index) for item in body.free_symbols if item.name.endswith(suffix)
    }
    return body.xreplace(changes)
