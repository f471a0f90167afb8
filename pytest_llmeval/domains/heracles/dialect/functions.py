"""The functions of Neo4j 5: what they take and give. Source: ``SHOW FUNCTIONS`` of Neo4j 5.26."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

AGGREGATES: Final = frozenset(
    [
        "avg",
        "collect",
        "count",
        "max",
        "min",
        "percentilecont",
        "percentiledisc",
        "stdev",
        "stdevp",
        "sum",
    ]
)

# name parameters -> result. A parameter is the types it may have, as Neo4j's messages order them;
# `?` ends those that may be left out. `item` is what the list given holds; `same` is the type of
# the first argument.
_SIGNATURES: Final = """
abs Float|Integer -> same
acos Float -> Float
asin Float -> Float
atan Float -> Float
atan2 Float Float -> Float
avg Float|Integer|Duration -> Any
btrim String String? -> String
ceil Float -> Float
char_length String -> Integer
character_length String -> Integer
collect Any -> List<same>
cos Float -> Float
cot Float -> Float
count Any -> Integer
date Any? -> Date
date.realtime Any? -> Date
date.statement Any? -> Date
date.transaction Any? -> Date
date.truncate String Any? Any? -> Date
datetime Any? -> DateTime
datetime.fromepoch Any Any -> DateTime
datetime.fromepochmillis Any -> DateTime
datetime.realtime Any? -> DateTime
datetime.statement Any? -> DateTime
datetime.transaction Any? -> DateTime
datetime.truncate String Any? Any? -> DateTime
degrees Float -> Float
duration Any -> Duration
duration.between Any Any -> Duration
duration.indays Any Any -> Duration
duration.inmonths Any Any -> Duration
duration.inseconds Any Any -> Duration
e -> Float
elementid Node|Relationship -> String
endnode Relationship -> Node
exists Any -> Boolean
exp Float -> Float
floor Float -> Float
haversin Float -> Float
head List -> item
id Node|Relationship -> Integer
isempty String|Map|List -> Boolean
isnan Float|Integer -> Boolean
keys Map|Node|Relationship -> List<String>
labels Node -> List<String>
last List -> item
left String Integer -> String
length Path -> Integer
localdatetime Any? -> LocalDateTime
localdatetime.truncate String Any? Any? -> LocalDateTime
localtime Any? -> LocalTime
localtime.truncate String Any? Any? -> LocalTime
log Float -> Float
log10 Float -> Float
lower String -> String
ltrim String String? -> String
max Any -> same
min Any -> same
nodes Path -> List<Node>
normalize String Any? -> String
nullif Any Any -> Any
percentilecont Float Float -> Float
percentiledisc Float|Integer Float -> Any
pi -> Float
point Map|Node|Relationship -> Point
point.distance Any Any -> Float
point.withinbbox Any Any Any -> Boolean
properties Map|Node|Relationship -> Map
radians Float -> Float
rand -> Float
randomuuid -> String
range Integer Integer Integer? -> List<Integer>
relationships Path -> List<Relationship>
replace String String String -> String
reverse String|List -> same
right String Integer -> String
round Float Float|Integer? String? -> Float
rtrim String String? -> String
sign Float|Integer -> Integer
sin Float -> Float
size String|List -> Integer
split String String|List -> List<String>
sqrt Float -> Float
startnode Relationship -> Node
stdev Float -> Float
stdevp Float -> Float
substring String Integer Integer? -> String
sum Float|Integer|Duration -> Any
tail List -> same
tan Float -> Float
time Any? -> Time
time.truncate String Any? Any? -> Time
timestamp -> Integer
toboolean Any -> Boolean
tobooleanlist List -> List<Boolean>
tobooleanornull Any -> Boolean
tofloat Any -> Float
tofloatlist List -> List<Float>
tofloatornull Any -> Float
tointeger Any -> Integer
tointegerlist List -> List<Integer>
tointegerornull Any -> Integer
tolower String -> String
tostring Boolean|Float|Integer|Point|String|Duration|Date|Time|LocalTime|LocalDateTime|DateTime -> String
tostringlist List -> List<String>
tostringornull Any -> String
toupper String -> String
trim String -> String
type Relationship -> String
upper String -> String
valuetype Any -> String
vector.similarity.cosine List List -> Float
vector.similarity.euclidean List List -> Float
"""

# A value of the wrong type from the data makes these fail while they run; the others give null or
# take it.
_STRICT: Final = frozenset(
    [
        "abs",
        "acos",
        "asin",
        "atan",
        "atan2",
        "avg",
        "btrim",
        "ceil",
        "cos",
        "degrees",
        "exp",
        "floor",
        "head",
        "last",
        "left",
        "log",
        "log10",
        "lower",
        "ltrim",
        "radians",
        "replace",
        "right",
        "round",
        "rtrim",
        "sign",
        "sin",
        "size",
        "split",
        "sqrt",
        "stdev",
        "stdevp",
        "substring",
        "sum",
        "tail",
        "tan",
        "tolower",
        "toupper",
        "trim",
        "upper",
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What a function takes and gives, by the names of types; `required` of the `parameters` must be given.

    `strict`: it fails when the data gives it a wrong type.
    """

    parameters: tuple[tuple[str, ...], ...]
    required: int
    result: str
    strict: bool


def signature(name: str) -> Signature | None:
    """Return the signature of the function `name`, in any case; None when Neo4j has no such function."""
    return _signatures().get(name.lower())


@cache
def _signatures() -> dict[str, Signature]:
    found = {}
    for line in _SIGNATURES.strip().splitlines():
        given, _, result = line.partition(" -> ")
        name, *parameters = given.split()
        found[name] = Signature(
            parameters=tuple(tuple(parameter.rstrip("?").split("|")) for parameter in parameters),
            required=sum(not parameter.endswith("?") for parameter in parameters),
            result=result,
            strict=name in _STRICT,
        )
    return found
