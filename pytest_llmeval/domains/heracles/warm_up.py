"""Queries that warm a database up before a model's first one."""

from __future__ import annotations

from typing import Final

WARM_UP: Final = (
    "MATCH (n) RETURN count(n)",
    "MATCH (o:Object) WITH o LIMIT 50 RETURN o ORDER BY o.nodeSymbol DESC",
    (
        "MATCH (r:Room) WITH r LIMIT 2 MATCH (r)-[:CONTAINS]->(:Place)-[:CONTAINS]->(o:Object) "
        "WITH r, o LIMIT 50 RETURN r.nodeSymbol, count(DISTINCT o) AS n"
    ),
    (
        "MATCH (a:Object) WITH a LIMIT 5 MATCH (b:Object) WITH a, b LIMIT 50 "
        "WHERE a.class = b.class AND a.nodeSymbol < b.nodeSymbol "
        "RETURN a.nodeSymbol, point.distance(a.center, b.center) AS d ORDER BY d LIMIT 3"
    ),
    (
        "MATCH (o:Object) WITH o LIMIT 50 WITH o.class AS class, collect(o.nodeSymbol) AS found "
        "WHERE size(found) > 1 RETURN class, found[0], [x IN found WHERE x STARTS WITH 'O']"
    ),
    (
        "MATCH (o:Object) WITH o LIMIT 50 OPTIONAL MATCH (o)<-[:CONTAINS]-(p:Place) "
        "WITH o, p UNWIND [o.center.x, o.center.y] AS c RETURN avg(c), max(c), min(c)"
    ),
    (
        "MATCH (a:Room) WITH a LIMIT 2 MATCH p = (a)-[:ROOM_CONNECTED*..2]-(b) "
        "WITH p, b LIMIT 20 WHERE NOT EXISTS { (b)-->(:Building) } RETURN length(p)"
    ),
)
"""What models write most: counts, paths, distances, grouping, sorting, subqueries; each over few
nodes, however large the scene is.

A Neo4j that was just started spends seconds of CPU time on the first of each kind.
"""
