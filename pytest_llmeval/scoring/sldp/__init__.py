"""SLDP: a small language of sets, lists, dicts and points for answers; its parser and equality."""

from pytest_llmeval.scoring.sldp.difference import sldp_diff
from pytest_llmeval.scoring.sldp.equality import SLDP_GRADER, TooCostlyError, sldp_equals
from pytest_llmeval.scoring.sldp.parser import LONGEST_ANSWER, parse_sldp
from pytest_llmeval.scoring.sldp.syntax_error import SldpSyntaxError
from pytest_llmeval.scoring.sldp.values import (
    DictValue,
    Key,
    ListValue,
    NumberValue,
    PointValue,
    SetValue,
    StringValue,
    Value,
    render_sldp,
)

__all__ = [
    "LONGEST_ANSWER",
    "SLDP_GRADER",
    "DictValue",
    "Key",
    "ListValue",
    "NumberValue",
    "PointValue",
    "SetValue",
    "SldpSyntaxError",
    "StringValue",
    "TooCostlyError",
    "Value",
    "parse_sldp",
    "render_sldp",
    "sldp_diff",
    "sldp_equals",
]
