"""Queries that ArcadeDB answers otherwise than Neo4j, put so that both give Neo4j's rows.

Each method mends one class of docs/graph-engines.md, by a change that leaves Neo4j's own rows as
they are. What cannot be mended is told in `doubts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from pytest_llmeval.domains.heracles.dialect.aggregation import groups
from pytest_llmeval.domains.heracles.dialect.analysis import Analysis
from pytest_llmeval.domains.heracles.dialect.edits import Edits
from pytest_llmeval.domains.heracles.dialect.scope import Scope
from pytest_llmeval.domains.heracles.dialect.shapes import (
    bare_matches,
    conjuncts,
    counted_matches,
    has_pattern_in_alternative,
    has_relationship_twice,
    is_flat,
    limits_length,
    looping_nodes,
    plain_patterns,
    quoted,
    variable_names,
)
from pytest_llmeval.domains.heracles.dialect.syntax import (
    Binary,
    Call,
    CallProcedure,
    CallSubquery,
    Constant,
    Expression,
    Group,
    MapOf,
    Match,
    NodePattern,
    Part,
    Path,
    PatternComprehension,
    PatternPredicate,
    Projection,
    Property,
    Query,
    RelationshipPattern,
    Slice,
    Subquery,
    Variable,
)
from pytest_llmeval.domains.heracles.dialect.wording import Wording

_NO_POINTS: Final = (
    "Node",
    "Relationship",
    "Path",
    "String",
    "Integer",
    "Float",
    "Number",
    "Boolean",
    "List",
)
_SAME_PROCEDURES: Final = ("db.labels", "db.relationshiptypes")
_HOP: Final = 3
"""Elements of a path of one hop: a node, a relationship, a node."""

_ONE: Final = re.compile(r"(ANY|ANY SHORTEST|SHORTEST 1|ANY 1)( PATHS?)?")
_LENGTHS: Final = {"+": "*1..", "*": "*0..", None: "*1..1"}
_ALL: Final = re.compile(r"ALL SHORTEST( PATHS?)?")
_DESCENDING: Final = re.compile(r"\s*DESC(ENDING)?\b", re.IGNORECASE)


class Rewriting:
    """The changes to one query, and what stays in doubt about its rows."""

    def __init__(self, wording: Wording, analysis: Analysis) -> None:
        """Collect the changes that the analysed query needs."""
        self._wording, self._analysis = wording, analysis
        self._edits = Edits(wording.text)
        self.doubts: list[str] = []
        self._bare_matches = set(bare_matches(analysis.query))
        self._counted_matches = set(counted_matches(analysis.query))
        self._plain_patterns = set(plain_patterns(analysis.query))
        for part in analysis.query.walk():
            self._visit(part)

    def text(self) -> str:
        """Return the query to send."""
        changed = self._edits.applied()
        if changed is None:
            self.doubts.append("it needs more changes in one place than are known")
        return self._wording.text if changed is None else changed

    def _visit(self, part: Part) -> None:
        match part:
            case Query():
                self._columns_of_union(part)
            case Match():
                self._match(part)
            case Projection():
                self._projection(part)
            case CallSubquery():
                self._import_everything(part)
            case CallProcedure(name=name) if name.lower() not in _SAME_PROCEDURES:
                self.doubts.append(f"it calls {name}")
            case PatternPredicate():
                self._pattern_predicate(part)
            case PatternComprehension():
                self._pattern_comprehension(part)
            case Subquery():
                self._subquery(part)
            case RelationshipPattern(dynamic=True) | NodePattern(dynamic=True):
                self.doubts.append("it computes a label or type")
            case _:
                self._visit_value(part)

    def _visit_value(self, part: Part) -> None:
        match part:
            case Call():
                self._function(part)
            case Binary(operator="+", left=left, right=right):
                self._text_with_point(left, right)
                self._text_with_point(right, left)
            case Property(key="crs"):
                self._edits.wrap(part, "toLower(", ")")
            case Constant(type="Integer") if "_" in self._wording[part]:
                self._edits.replace(part.start, part.end, self._wording[part].replace("_", ""))
            case Slice() if self._analysis.types[part.subject].data not in {"", "List"}:
                self.doubts.append("it takes a slice of a value that is no list")

    # Clauses

    def _match(self, part: Match) -> None:
        # Before the conditions: what closes a path stands before a WHERE behind it.
        for path in part.paths:
            self._selector(path)
        conditions = [
            f"{name} = {fresh}" for path in part.paths for name, fresh in self._rename_loops(path)
        ]
        if part not in self._bare_matches:
            nullable = self._nullable(part.paths, self._analysis.scopes[part])
            if part.optional:
                conditions += [f"{name} IS NOT NULL" for name in nullable]
            elif nullable:
                wanted = " AND ".join(f"{name} IS NOT NULL" for name in nullable)
                self._edits.insert(part.start, f"WITH * WHERE {wanted} ")
        if has_relationship_twice(part):
            conditions.append("false")
        if part in self._counted_matches and not conditions:
            conditions.append("true")
        if part.where is not None and not part.optional and self._asks_path_for_end(part):
            self._edits.insert(part.where_start, "WITH * ")
        self._add_conditions(part, conditions)
        if part.optional and has_pattern_in_alternative(part.where):
            self.doubts.append("an OPTIONAL MATCH joins a pattern comprehension by OR")
        self._check_shortest_path(part)
        self._check_forward_references(part)

    def _add_conditions(self, part: Match, conditions: list[str]) -> None:
        if not conditions:
            return
        wanted = " AND ".join(conditions)
        if part.where is None:
            self._edits.insert(part.patterns_end, f" WHERE {wanted}")
        else:
            self._edits.wrap(part.where, f"{wanted} AND (", ")")

    def _asks_path_for_end(self, part: Match) -> bool:
        """Whether a condition names a path of several hops and a node at its end: ArcadeDB then sees no node."""
        for path in part.paths:
            hops = list(path.relationships())
            if path.variable is None or path.function or part in self._bare_matches:
                continue
            if all(hop.is_single for hop in hops) and not any(
                isinstance(item, Group) for item in path.elements
            ):
                continue
            ends = set(path.node_names())
            for condition in conjuncts(part.where):
                names = set(variable_names(condition))
                if path.variable.name in names and names & ends:
                    return True
        return False

    def _selector(self, path: Path) -> None:
        """SHORTEST 1 and the like of one hop, by the functions that both know."""
        if not path.selector:
            return
        function = (
            "shortestPath"
            if _ONE.fullmatch(path.selector)
            else "allShortestPaths"
            if _ALL.fullmatch(path.selector)
            else ""
        )
        hop = path.elements[1] if len(path.elements) == _HOP else None
        length = (
            _LENGTHS.get(hop.quantifier)
            if isinstance(hop, RelationshipPattern) and not hop.length
            else None
        )
        if not (
            function and length and isinstance(hop, RelationshipPattern) and self._ends_differ(path)
        ):
            self.doubts.append(f"it asks for {path.selector} paths")
            return
        left, right = {"->": ("-", "->"), "<-": ("<-", "-"), "-": ("-", "-")}[hop.arrows]
        name = hop.variable.name if hop.variable is not None else ""
        types = self._wording.text[hop.types_start : hop.types_start + len(hop.types)]
        start = path.variable.end if path.variable is not None else path.start
        self._edits.replace(
            start, path.body, f" = {function}(" if path.variable is not None else f"{function}("
        )
        self._edits.replace(hop.start, hop.end, f"{left}[{name}{types}{length}]{right}")
        self._edits.insert(path.end, ")")

    def _ends_differ(self, path: Path) -> bool:
        """Whether a property is given for both ends of a path, and not the same.

        The functions know no path from a node to itself.
        """
        start, end = (dict(self._constants(node)) for node in (path.elements[0], path.elements[-1]))
        return any(start[key] != end[key] for key in start.keys() & end.keys())

    def _constants(self, node: Part) -> Iterator[tuple[str, str]]:
        """Yield the properties given for a node, wherever a pattern names it."""
        name = (
            node.variable.name
            if isinstance(node, NodePattern) and node.variable is not None
            else None
        )
        for part in self._analysis.query.walk():
            named = (
                isinstance(part, NodePattern)
                and part.variable is not None
                and part.variable.name == name
            )
            if (
                (part is node or named)
                and isinstance(part, NodePattern)
                and isinstance(part.properties, MapOf)
            ):
                for key, value in zip(part.properties.keys, part.properties.values, strict=True):
                    yield key, self._wording[value]

    def _check_shortest_path(self, part: Match) -> None:
        for path in part.paths:
            named = {
                variable.name
                for variable in (path.variable, *(hop.variable for hop in path.relationships()))
                if variable is not None
            }
            if (path.function or path.selector) and any(
                named & set(variable_names(condition)) and not limits_length(condition)
                for condition in conjuncts(part.where)
            ):
                self.doubts.append("a condition picks among shortest paths")

    def _check_forward_references(self, part: Match) -> None:
        """Properties in a pattern that name a variable of a later pattern: ArcadeDB takes it for null."""
        known = set(self._analysis.scopes[part])
        for path in part.paths:
            own = set(path.node_names())
            for node in path.nodes():
                if (
                    node.properties is not None
                    and set(variable_names(node.properties)) - known - own
                ):
                    self.doubts.append("a pattern names a variable of a later one")
            known |= own

    def _projection(self, part: Projection) -> None:
        if part.kind == "WITH" and part.limits and part.where is not None:
            self._edits.insert(part.where_start, "WITH * ")
        if part.where is not None and groups(part):
            columns = {
                self._wording.normal(item.expression): item.alias
                for item in part.items
                if item.alias
            }
            self._name_columns(columns, part.where)
        if part.kind == "RETURN" and part.star is not None:
            names = sorted(self._analysis.scopes[part])
            if len(names) + len(part.items) > 1:
                self._edits.replace(part.star, part.star + 1, ", ".join(map(quoted, names)))
        for order in part.order:
            self._order_by_point(order)

    def _name_columns(self, columns: Mapping[str, Variable], where: Part) -> None:
        """Name the column, in a WHERE behind groups that repeats what the column holds."""
        column = columns.get(self._wording.normal(where))
        if column is None:
            for child in where.children():
                self._name_columns(columns, child)
        elif self._wording[where] != self._wording[column]:
            self._edits.replace(where.start, where.end, self._wording[column])

    def _order_by_point(self, part: Expression) -> None:
        if self._analysis.types[part].value != "Point":
            return
        if not self._is_spatial(part):
            self.doubts.append("it orders by a point")
            return
        downward = " DESC" if _DESCENDING.match(self._wording.text, part.end) else ""
        point = self._wording[part]
        self._edits.replace(
            part.start, part.end, f"({point}).x{downward}, ({point}).y{downward}, ({point}).z"
        )

    def _import_everything(self, part: CallSubquery) -> None:
        first = part.query.parts[0].clauses[0]
        if (
            part.imports is None
            and isinstance(first, Projection)
            and first.star is not None
            and not first.implied
        ):
            names = ", ".join(map(quoted, self._analysis.scopes[part]))
            if names and first.kind == "WITH":
                self._edits.replace(first.star, first.star + 1, names)

    def _columns_of_union(self, part: Query) -> None:
        """Put the columns of each part in the order of the first."""
        ends = [single.clauses[-1] for single in part.parts]
        columns = [
            [self._wording.column(item) for item in end.items]
            if isinstance(end, Projection)
            else []
            for end in ends
        ]
        for end, names in zip(ends[1:], columns[1:], strict=True):
            if names == columns[0] or not isinstance(end, Projection) or end.star is not None:
                continue
            by_name = {self._wording.column(item): self._wording[item] for item in end.items}
            ordered = ", ".join(by_name[name] for name in columns[0])
            self._edits.replace(end.items[0].start, end.items[-1].end, ordered)

    # Patterns

    def _nullable(self, paths: tuple[Path, ...], scope: Scope) -> list[str]:
        names = dict.fromkeys(name for path in paths for name in path.node_names())
        return [quoted(name) for name in names if name in scope and scope[name].nullable]

    def _rename_loops(self, path: Path) -> Iterator[tuple[str, str]]:
        """Give the second node of each hop from a node to itself a name of its own, and yield both names."""
        for index, node in enumerate(looping_nodes(path)):
            assert node.variable is not None  # noqa: S101 - by `looping_nodes`
            fresh = quoted(f"{node.variable.name} again{index or ''}")
            self._edits.replace(node.variable.start, node.variable.end, fresh)
            yield self._wording[node.variable], fresh

    def _pattern_predicate(self, part: PatternPredicate) -> None:
        if part.path.function:
            return
        nullable = self._nullable((part.path,), self._analysis.scopes[part])
        loops = [f"{name} = {fresh}" for name, fresh in self._rename_loops(part.path)]
        if part in self._plain_patterns and not nullable and not loops:
            return
        where = f" WHERE {' AND '.join(loops)}" if loops else ""
        not_null = "".join(f"{name} IS NOT NULL AND " for name in nullable)
        self._edits.wrap(part, f"({not_null}EXISTS {{ ", f"{where} }})")

    def _pattern_comprehension(self, part: PatternComprehension) -> None:
        nullable = self._nullable((part.path,), self._analysis.scopes[part])
        if nullable:
            nothing = " OR ".join(f"{name} IS NULL" for name in nullable)
            self._edits.wrap(part, f"CASE WHEN {nothing} THEN [] ELSE ", " END")
        loops = [f"{name} = {fresh}" for name, fresh in self._rename_loops(part.path)]
        if loops and part.where is not None:
            self._edits.wrap(part.where, f"{' AND '.join(loops)} AND (", ")")
        elif loops:
            self._edits.insert(part.path.end, f" WHERE {' AND '.join(loops)}")

    def _subquery(self, part: Subquery) -> None:
        """Let a subquery that starts from a null find nothing; ArcadeDB starts it from anywhere."""
        clauses = part.query.parts[0].clauses
        first = clauses[0]
        if not isinstance(first, Match) or first.optional:
            return
        nullable = self._nullable(first.paths, self._analysis.scopes[part])
        if not nullable:
            return
        nothing = " OR ".join(f"{name} IS NULL" for name in nullable)
        counting = any(isinstance(clause, Projection) and groups(clause) for clause in clauses)
        if counting or len(part.query.parts) > 1:
            self.doubts.append("a subquery starts from what may be null")
        elif part.kind == "EXISTS":
            self._edits.wrap(part, f"(NOT ({nothing}) AND ", ")")
        else:
            empty = {"COUNT": "0", "COLLECT": "[]"}[part.kind]
            self._edits.wrap(part, f"CASE WHEN {nothing} THEN {empty} ELSE ", " END")

    # Values

    def _function(self, part: Call) -> None:
        name = part.name.lower()
        kinds = [self._analysis.types.get(argument) for argument in part.arguments]
        if (
            name in {"min", "max"}
            and kinds[0] is not None
            and kinds[0].value in {"Node", "Relationship", "Point"}
        ):
            self.doubts.append(f"it takes the {name}imum of nodes or points")
        elif name == "point.withinbbox":
            self._within_box(part)
        elif name == "tostring" and kinds[0] is not None and kinds[0].value == "Point":
            self._point_as_text(part, part.arguments[0])
        elif name == "exists":
            self._exists(part)
        elif name == "point.distance" and any(
            kind is not None and kind.value in _NO_POINTS for kind in kinds
        ):
            # Neo4j's answer to what is no point; ArcadeDB breaks.
            self._edits.replace(part.start, part.end, "null")

    def _exists(self, part: Call) -> None:
        """``exists((a)-->(b))`` whose pattern becomes EXISTS { } needs no call around it."""
        pattern = part.arguments[0]
        if isinstance(pattern, PatternPredicate):
            self._edits.replace(part.start, pattern.start, "")
            self._edits.replace(pattern.end, part.end, "")

    def _within_box(self, part: Call) -> None:
        if all(is_flat(argument) for argument in part.arguments):
            return
        if not all(self._is_spatial(argument) for argument in part.arguments):
            self.doubts.append("it asks for points in a box, of dimensions that are not known")
            return
        point, lower, upper = (self._wording[argument] for argument in part.arguments)
        inside = " AND ".join(
            f"({lower}).{axis} <= ({point}).{axis} AND ({point}).{axis} <= ({upper}).{axis}"
            for axis in "xyz"
        )
        self._edits.replace(part.start, part.end, f"({inside})")

    def _text_with_point(self, text: Expression, point: Expression) -> None:
        kinds = self._analysis.types
        if kinds[text].value == "String" and kinds[point].value == "Point":
            self._point_as_text(point, point)

    def _point_as_text(self, part: Part, point: Expression) -> None:
        if not self._is_spatial(point):
            self.doubts.append("it writes a point as text")
            return
        axes = " + ', ".join(
            f"{axis}: ' + toString(({self._wording[point]}).{axis})" for axis in "xyz"
        )
        self._edits.replace(
            part.start, part.end, f"('point({{{axes} + \", crs: 'cartesian-3d'}})\")"
        )

    def _is_spatial(self, part: Expression) -> bool:
        """Whether a part is certainly a point of three coordinates: one of the scene, or one that is written out."""
        return self._analysis.types[part].data == "Point"
