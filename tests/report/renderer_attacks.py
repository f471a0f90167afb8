"""Texts that attack what renders Markdown and LaTeX: by what they lead to, and by their shape."""

from __future__ import annotations

from typing import Final

LEADING_OUT: Final = (
    "[a](javascript:window.hacked=1) <javascript:window.hacked=2> [b](data:text/html,<script>1)",
    "![a](http://127.1:9/x.png) ![b](data:image/svg+xml,<svg/onload=window.hacked=3>)",
    "<div style='position:fixed;inset:0'>\n\n# x\n\n</div>\n\n<img src=x onerror=window.hacked=4>",
    "[a]: http://127.1:9/ 'onclick=window.hacked=5'\n\n[a] <http://127.1:9/> http://127.1:9/",
    "```js onclick=window.hacked=6\n</code></pre><script>window.hacked=7</script>\n```",
    "| a<script>window.hacked=8</script> | b |\n|:-:|-:|\n| ![](//127.1:9/) | [x](//127.1:9/) |",
    "&lt;script&gt;window.hacked=9&lt;/script&gt; &#x202e;gnirts &#0; &#x200b;",
    r"$\href{javascript:window.hacked=10}{x}$ \(\url{http://127.1:9/}\)",
    r"$$\includegraphics[width=9em]{http://127.1:9/x.png}$$",
    r"$\htmlData{onclick=window.hacked=11}{x}$ $\htmlId{sample}{x}$ $\class{pill}{x}$",
    r"$\style{position:fixed;inset:0;background:red}{x}$ $\htmlStyle{color:red}{x}$",
    r"$\rule{9999em}{9999em}$ $\hspace{9999em}x$ $\raise 999em x$ $\kern-999em x$ $\Huge x$",
    r"$\text{<img src=x onerror=window.hacked=12>}$ $\unicode{x202e}\char`\^^Jx$",
    r"$\color{white}{x}$ $\colorbox{red}{x}$ $\phantom{x}$ $\texttip{x}{y}$ $\toggle{x}\endtoggle$",
    r"$\label{sample}\tag{</math><script>window.hacked=13</script>} x$ $\ref{sample}$",
    r"$\def\a{\href{javascript:1}{x}}\a$ $\gdef\frac#1{\a}$ $\frac12$ $\newcommand\sqrt{x}\sqrt$",
    r"\begin{align}\htmlData{x=1}{a}&=b\\\end{align}",
    "$x\u202ey$ $x\u200by$ \u202e**bold**\u2069 `co\u200bde` [li\u202enk](a\u202eb)",
)
"""Links, pictures, HTML, commands of LaTeX that reach beyond their formula, invisible signs."""

_SIZE: Final = 19_900
"""Characters: a little less than what a page renders."""


def _filled(piece: str, end: str = "") -> str:
    return piece * ((_SIZE - len(end)) // len(piece)) + end


_BOMB = "".join(
    rf"\def\{a}{{\{b}\{b}\{b}\{b}}}" for a, b in zip("abcdefghij", "bcdefghijk", strict=True)
)

ENTANGLED: Final = {
    "brackets": _filled("["),
    "pairs of brackets": _filled("[]"),
    "nested brackets": "[" * (_SIZE // 2) + "]" * (_SIZE // 2),
    "pictures": _filled("![["),
    "links": _filled("[a]("),
    "open links": _filled("[a](<b"),
    "references": _filled("[a]: b\n"),
    "reference": _filled("[a]: "),
    "stars": _filled("*"),
    "star words": _filled("*a "),
    "star pairs": _filled("**a *b "),
    "stars and lines": _filled("*_"),
    "strikes": _filled("~~a "),
    "quotes": _filled(">"),
    "quoted": _filled("> ", "a"),
    "growing quotes": "\n".join(">" * n + "a" for n in range(190)),
    "lists": _filled("- ", "a"),
    "growing lists": "\n".join(" " * n + "- a" for n in range(190)),
    "ticks": " ".join("`" * n for n in range(190)),
    "fences": _filled("```\n"),
    "table head": "a|" * 1_000 + "\n" + "-|" * 1_000 + "\n|" * 7_900,
    "table": "\n".join(["a|" * 300, "-|" * 300, *["a|" * 300] * 31]),
    "tags": _filled("<a "),
    "comments": _filled("<!--"),
    "entities": _filled("&amp"),
    "backslashes": _filled("\\"),
    "breaks": _filled("a  \n"),
    "lines": _filled("\n"),
    "mail": _filled("a.", "@"),
    "dollars": _filled("$"),
    "dollar words": _filled("$a "),
    "formulas": _filled("$a$ "),
    "display formulas": _filled("$$a$$\n"),
    "open formulas": _filled("\\[ x\n"),
    "open environments": _filled("\\begin{a}\n"),
    "fractions": "$" + r"\frac{1}{" * 40 + "x" + "}" * 40 + "$",
    "roots": "$" + r"\sqrt{" * 300 + "x" + "}" * 300 + "$",
    "braces": "$" + "{" * 900 + "x" + "}" * 900 + "$",
    "powers": "$" + "x^{" * 50 + "x" + "}" * 50 + "$",
    "matrices": "$" + r"\begin{matrix}a&" * 25 + "x" + r"\end{matrix}" * 25 + "$",
    "parentheses": "$" + r"\left(" * 200 + "x" + r"\right)" * 200 + "$",
    "bomb": f"${_BOMB}\\a$",
    "loop": r"$\def\a{\a\a}\a$",
    "wide matrix": "$" + r"\begin{matrix}" + "&" * 1_900 + r"\end{matrix}$",
    "accents": "$" + r"\hat" * 400 + "x$",
    "invisible": _filled("\u202e\u200b"),
}
"""Texts that renderers take very long for, by what they are made of."""
