"""Random Cypher over a scene graph, as models write it; some queries have one mistake."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

HOPS = {
    "Building": [("-[:CONTAINS]->", "Room")],
    "Room": [
        ("-[:CONTAINS]->", "MeshPlace"),
        ("-[:CONTAINS]->", "Place"),
        ("-[:ROOM_CONNECTED]->", "Room"),
        ("-[:ROOM_CONNECTED]-", "Room"),
        ("<-[:CONTAINS]-", "Building"),
        ("-[:CONTAINS*1..2]->", "Object"),
        ("-[:ROOM_CONNECTED*1..2]->", "Room"),
    ],
    "Place": [("-[:PLACE_CONNECTED]->", "Place"), ("<-[:CONTAINS]-", "Room")],
    "MeshPlace": [("-[:CONTAINS]->", "Object"), ("<-[:CONTAINS]-", "Room")],
    "Object": [
        ("<-[:CONTAINS]-", "MeshPlace"),
        ("-[:OBJECT_CONNECTED]-", "Object"),
        ("<-[:CONTAINS*1..2]-", "Room"),
    ],
}
CLASSES = {
    "Room": ["office", "kitchen", "gallery", "corridor", "lounge"],
    "Object": ["chair", "table", "lamp", "box", "plant", "unicorn"],
    "MeshPlace": ["tile", "floor", "carpet"],
}
WITH_CLASS = tuple(CLASSES)


@dataclass
class Writer:
    """Writes one query from left to right, and knows which variables the next clause can use."""

    random: random.Random
    nodes: dict[str, str] = field(default_factory=dict)
    """Variable to label."""
    values: dict[str, str] = field(default_factory=dict)
    """Variable to ``number``, ``text`` or ``list``."""
    text: list[str] = field(default_factory=list)
    written: int = 0

    def query(self) -> str:
        self.match()
        steps = [
            self.match,
            self.optional,
            self.optional_count,
            self.count,
            self.shorten,
            self.subquery,
            self.collect,
        ]
        for step in self.random.sample(steps, self.random.choice((0, 1, 1, 2, 2, 3))):
            if not self.nodes:
                self.match()
            step()
        self.give_back()
        return " ".join(self.text)

    def name(self, letter: str) -> str:
        self.written += 1
        return f"{letter}{self.written}"

    def pick(self) -> str:
        return self.random.choice(sorted(self.nodes))

    def node(self, label: str, *, named: bool = True) -> tuple[str, str]:
        """Return a new variable and the pattern of its node."""
        variable = self.name(label[0].lower()) if named else ""
        shown = f":{label}" if self.random.random() < 0.9 else ""
        if label in CLASSES and self.random.random() < 0.35:
            shown += f" {{class: '{self.random.choice(CLASSES[label])}'}}"
        return variable, f"({variable}{shown})"

    def hop(self, start: str) -> tuple[str, str, str]:
        """Return one hop from a variable, and the variable and label of its end."""
        arrow, label = self.random.choice(HOPS[self.nodes[start]])
        variable, pattern = self.node(label)
        return f"{arrow}{pattern}", variable, label

    def path(self, start: str) -> str:
        """Return a path of one or two hops from a variable, and declare its new variables."""
        shown = f"({start})"
        for _ in range(self.random.choice((1, 1, 2))):
            more, variable, label = self.hop(start)
            shown += more
            self.nodes[variable] = label
            start = variable
        return shown

    def match(self) -> None:
        if self.nodes and self.random.random() < 0.8:
            start = self.pick()
            if self.random.random() < 0.15:
                return self.text.append(
                    f"MATCH {self.name('way')} = {self.path(start)}{self.where()}"
                )
            return self.text.append(f"MATCH {self.path(start)}{self.where()}")
        label = self.random.choice(("Room", "Room", "Object", "Place", "Building"))
        variable, pattern = self.node(label)
        self.nodes[variable] = label
        return self.text.append(f"MATCH {pattern}{self.where()}")

    def optional(self) -> None:
        shown = self.path(self.pick())
        self.text.append(f"OPTIONAL MATCH {shown}{self.where()}")
        if self.random.random() < 0.6:
            self.text.append(f"WITH {', '.join(sorted(self.nodes))}{self.carried()}{self.where()}")

    def optional_count(self) -> None:
        start = self.pick()
        more, variable, _ = self.hop(start)
        count = self.name("n")
        distinct = self.random.choice(("", "", "DISTINCT "))
        condition = self.random.choice(("", "", f" WHERE {count} > 1"))
        self.text.append(
            f"OPTIONAL MATCH ({start}){more} WITH {start}, count({distinct}{variable}) AS "
            f"{count}{condition}"
        )
        self.nodes, self.values = {start: self.nodes[start]}, {count: "number"}

    def count(self) -> None:
        node = self.pick()
        if self.nodes[node] not in WITH_CLASS:
            return
        kind, count = self.name("c"), self.name("n")
        repeated = f"{node}.class <> 'office'"
        condition = self.random.choice(
            ("", f" WHERE {count} > 2", f" WHERE {repeated}", f" WHERE {kind} <> 'chair'")
        )
        self.text.append(f"WITH {node}.class AS {kind}, count(*) AS {count}{condition}")
        self.nodes, self.values = {}, {kind: "text", count: "number"}

    def shorten(self) -> None:
        node = self.pick()
        kept = self.random.choice(("LIMIT 4", "SKIP 2", "SKIP 1 LIMIT 5"))
        down = self.random.choice(("", " DESC"))
        key = self.random.choice(
            (f"{node}.nodeSymbol{down}", f"{node}.center{down}, {node}.nodeSymbol")
        )
        self.text.append(f"WITH DISTINCT {node} ORDER BY {key} {kept}")
        self.nodes, self.values = {node: self.nodes[node]}, {}
        self.text[-1] += self.where()

    def subquery(self) -> None:
        node = self.pick()
        more, variable, _ = self.hop(node)
        count = self.name("n")
        head = self.random.choice((f"CALL ({node}) {{", f"CALL {{ WITH {node}"))
        self.text.append(f"{head} MATCH ({node}){more} RETURN count({variable}) AS {count} }}")
        self.values[count] = "number"

    def collect(self) -> None:
        node = self.pick()
        label, all_of_it, one = self.nodes[node], self.name("l"), self.name(node[0])
        self.text.append(
            f"WITH collect(DISTINCT {node}) AS {all_of_it} UNWIND {all_of_it} AS {one}"
        )
        self.nodes, self.values = {one: label}, {all_of_it: "list"}

    def carried(self) -> str:
        return "".join(f", {value}" for value in sorted(self.values))

    def where(self) -> str:
        if self.random.random() < 0.55 or not self.nodes:
            return ""
        parts = [self.condition() for _ in range(self.random.choice((1, 1, 2)))]
        return f" WHERE {self.random.choice((' AND ', ' OR ')).join(parts)}"

    def condition(self) -> str:
        node = self.pick()
        label = self.nodes[node]
        arrow, other = self.random.choice(HOPS[label])
        forms = [
            f"{node}.nodeSymbol <> 'R0'",
            f"{node}.center.x > {self.random.randint(0, 15)}",
            f"({node}){arrow}(:{other})",
            f"NOT ({node}){arrow}(:{other})",
            f"EXISTS {{ ({node}){arrow}(:{other}) }}",
            f"COUNT {{ ({node}){arrow}(:{other}) }} > 1",
            f"size([({node}){arrow}(q:{other}) | q]) > 2",
            f"{node} IS NOT NULL",
            (
                f"point.withinBBox({node}.center, "
                "point({x: 0, y: 0, z: 0}), point({x: 12, y: 9, z: 2}))"
            ),
        ]
        if label in CLASSES:
            forms += [
                f"{node}.class = '{self.random.choice(CLASSES[label])}'",
                f"{node}.class STARTS WITH 'c'",
            ]
        return self.random.choice(forms)

    def give_back(self) -> None:
        columns = [f"{value}" for value, kind in sorted(self.values.items()) if kind != "list"]
        columns += [
            self.random.choice(
                (f"{node}.nodeSymbol AS s_{node}", f"{node}.center AS p_{node}", node)
            )
            for node in sorted(self.nodes)
        ]
        self.random.shuffle(columns)
        node = self.pick() if self.nodes else ""
        forms: list[Callable[[], str]] = [
            lambda: f"RETURN {', '.join(columns[:3])}",
            lambda: f"RETURN DISTINCT {', '.join(columns[:2])}",
            lambda: "RETURN count(*) AS n",
        ]
        if node:
            forms += [
                lambda: f"RETURN {node}.nodeSymbol AS s, count(*) AS n ORDER BY n DESC, s",
                lambda: f"RETURN count(DISTINCT {node}) AS n, max({node}.center.z) AS top",
                lambda: (
                    f"RETURN DISTINCT {node}.nodeSymbol AS s, [({node})--(q:Room) | q.nodeSymbol] "
                    "AS rooms"
                ),
                lambda: f"RETURN DISTINCT {node}.nodeSymbol AS s, {self.case(node)} AS c",
            ]
        self.text.append(self.random.choice(forms)() if columns else "RETURN count(*) AS n")

    def case(self, node: str) -> str:
        return f"CASE WHEN {self.condition()} THEN 'yes' ELSE {node}.nodeSymbol END"


def spoil(query: str, chance: random.Random) -> str:
    """Return the query with one of the mistakes that models make."""
    mistakes: list[tuple[str, str]] = [
        (" AS ", " as_ "),
        (".nodeSymbol", ".center.lat"),
        ("RETURN ", "RETURN missing.center.x AS m, "),
        (" WHERE ", " WHERE nobody.class = 'x' AND "),
        (" <> ", " != "),
        ("count(", "length("),
        ("count(*)", "count(*) + distinct_.x"),
        (" = '", " = "),
        (" AS n ", " "),
        ("RETURN", "RETRUN"),
        ("(*)", "(*, 1)"),
        (".class", ".class.name"),
        ("EXISTS {", "exists("),
        (" IS NOT NULL", ""),
        (":Room", ":Room:"),
    ]
    fitting = [(right, wrong) for right, wrong in mistakes if right in query]
    right, wrong = chance.choice(fitting)
    return query.replace(right, wrong, 1)


def queries(seed: int, count: int, *, spoilt: float = 0.25) -> list[str]:
    """Return `count` different queries, of which a share is spoilt; the same for the same seed."""
    chance = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        query = Writer(chance).query()
        found[spoil(query, chance) if chance.random() < spoilt else query] = None
    return list(found)
