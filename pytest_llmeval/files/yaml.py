"""A strict reader of YAML: safe, limited to JSON's types, with the line of every key.

It refuses, with file and line: repeated keys, tags except `!!str`, numbers that YAML 1.1 reads
differently from how they look (``012``, ``1:30``), aliases that expand without bound, deep nesting,
and files above a size. Dates are read as text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

import yaml

from pytest_llmeval.errors import TaskError
from pytest_llmeval.records import Json
from pytest_llmeval.safety.regular_files import read_regular

MAX_DEPTH = 100
"""Levels of nesting; libyaml crashes the process at about 10,000."""

MAX_ALIAS_NODES = 100_000
"""Nodes that aliases may add to the written ones; nine nested levels of ten aliases would add
10^9."""

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,4000})")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_PREFIX = "tag:yaml.org,2002:"
_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YamlDocument:
    """A parsed document.

    Attributes:
        value: the document in JSON types; None for an empty one.
    """

    def __init__(self, value: Json, root: yaml.Node | None) -> None:
        """Store the value and the root of its syntax tree."""
        self.value, self._root = value, root

    def line(self, path: Sequence[str | int]) -> int | None:
        """Return the line (from 1) of the key or list entry at `path`.

        If it does not exist, it is the line of its nearest existing parent; None for an empty
        document.
        """
        return self._found(path)[0]

    def text_line(self, path: Sequence[str | int]) -> int | None:
        """Return the line on which the text at `path` begins: below the key for a text after |."""
        line, node = self._found(path)
        if isinstance(node, yaml.ScalarNode):
            return _line(node) + (node.style in {"|", ">"})
        return line

    def _found(self, path: Sequence[str | int]) -> tuple[int | None, yaml.Node | None]:
        """Return line and node at `path`, or of its nearest existing parent."""
        node = self._root
        line = None if node is None else _line(node)
        for part in path:
            found = None if node is None else _child(node, part)
            if found is None:
                break
            line, node = found
        return line, node


def read_yaml(file: Path, *, max_bytes: int) -> YamlDocument:
    """Return the document in `file`; TaskError with file and line for anything refused."""
    return parse_yaml(read_text(file, max_bytes=max_bytes), file)


def parse_yaml(text: str, file: Path | str) -> YamlDocument:
    """Return the document in `text`.

    Args:
        text: the YAML text.
        file: its source, as error messages name it.

    Raises:
        TaskError: the text is not YAML, or holds what this module refuses.
    """
    try:
        _check_events(text, file)
        loader = _Loader(text)
        root = loader.get_single_node()
        if root is None:
            return YamlDocument(None, None)
        _check_aliases(root, file)
        return YamlDocument(loader.construct_document(root), root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _error(file, mark.line + 1 if mark else None, str(error.problem)) from None
    except yaml.reader.ReaderError as error:
        line = text.encode()[: error.position].count(b"\n") + 1
        code = error.character if isinstance(error.character, int) else ord(error.character)
        raise _error(file, line, f"the character U+{code:04X} is not allowed in YAML") from None


def read_text(file: Path, *, max_bytes: int) -> str:
    """Return the text of a UTF-8 file, without a byte order mark.

    Raises:
        TaskError: the file cannot be read, has more than `max_bytes`, or is not UTF-8.
    """
    try:
        data = read_regular(file, max_bytes=max_bytes)
    except OSError as error:
        raise _error(file, None, f"cannot be read: {error.strerror}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _error(
            file, line, f"is not UTF-8: byte 0x{data[error.start]:02x}; save it as UTF-8"
        ) from None


class _Loader(_BASE):  # type: ignore[misc]  # the C loader has no type
    """The safe loader, limited to JSON's types and to decimal numbers."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {
        first: [(tag, pattern) for tag, pattern in pairs if tag != f"{_PREFIX}timestamp"]
        for first, pairs in _BASE.yaml_implicit_resolvers.items()
    }

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002 - the base class's signature
    ) -> dict[Hashable, Any]:
        _check_keys(node)
        return cast("dict[Hashable, Any]", super().construct_mapping(node, deep=deep))

    def construct_number(self, node: yaml.ScalarNode) -> int | float:
        if _INTEGER.fullmatch(node.value):
            return int(node.value)
        if _FLOAT.fullmatch(node.value) and math.isfinite(float(node.value)):
            return float(node.value)
        raise _refusal(
            node,
            f"{node.value[:40]!r} is not a decimal number, but YAML would read a number; quote it",
        )


_Loader.add_constructor(f"{_PREFIX}int", _Loader.construct_number)
_Loader.add_constructor(f"{_PREFIX}float", _Loader.construct_number)


def _check_events(text: str, file: Path | str) -> None:
    """Refuse deep nesting and tags before nodes are constructed from the text."""
    depth = 0
    for event in yaml.parse(text, Loader=_BASE):
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.NodeEvent):
            depth += isinstance(event, yaml.CollectionStartEvent)
            line = cast("yaml.Mark", event.start_mark).line + 1
            if depth > MAX_DEPTH:
                raise _error(file, line, f"is nested deeper than {MAX_DEPTH}")
            tag = getattr(event, "tag", None)
            if tag not in (None, "!") and not (
                tag == f"{_PREFIX}str" and isinstance(event, yaml.ScalarEvent)
            ):
                raise _error(
                    file,
                    line,
                    f"the tag {tag.replace(_PREFIX, '!!')!r} is not allowed (only !!str is)",
                )


def _check_aliases(root: yaml.Node, file: Path | str) -> None:
    """Refuse a document whose aliases expand to too many nodes.

    The check takes linear time: the expanded size of each written node is computed once.
    """
    sizes: dict[yaml.Node, int | None] = {}

    def expanded(node: yaml.Node) -> int:
        if node in sizes:
            size = sizes[node]
            if size is None:
                raise _error(file, _line(node), "an alias contains itself")
            return size
        sizes[node] = None
        total = 1 + sum(expanded(child) for child in _children(node))
        if total > len(sizes) + MAX_ALIAS_NODES:
            raise _error(file, _line(node), f"aliases add more than {MAX_ALIAS_NODES:,} nodes here")
        sizes[node] = total
        return total

    expanded(root)


def _check_keys(node: yaml.MappingNode) -> None:
    lines: dict[str, int] = {}
    for key, _ in node.value:
        if key.tag == f"{_PREFIX}merge":
            continue
        if key.tag != f"{_PREFIX}str":
            text = f" {key.value[:40]!r}" if isinstance(key, yaml.ScalarNode) else ""
            raise _refusal(key, f"the key{text} is not text; quote it")
        if key.value in lines:
            problem = f"the key {key.value!r} is repeated; it is also on line {lines[key.value]}"
            raise _refusal(key, problem)
        lines[key.value] = _line(key)


def _error(file: Path | str, line: int | None, problem: str) -> TaskError:
    return TaskError(problem, file=file, line=line)


def _refusal(node: yaml.Node, problem: str) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return cast("list[yaml.Node]", node.value) if isinstance(node, yaml.SequenceNode) else []


def _child(node: yaml.Node, part: str | int) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        # Merged keys precede the mapping's own keys, which override them.
        return next(
            ((_line(key), value) for key, value in reversed(node.value) if key.value == part), None
        )
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return _line(node.value[part]), node.value[part]
    return None


def _line(node: yaml.Node) -> int:
    return cast("int", node.start_mark.line) + 1
