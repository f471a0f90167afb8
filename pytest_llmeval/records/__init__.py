"""The values that modules and processes exchange: frozen records, each with a JSON form."""

from pytest_llmeval.records.completion import Completion
from pytest_llmeval.records.display import Display, display_of
from pytest_llmeval.records.message import Image, ImagePart, Message, Part, TextPart, ToolCall
from pytest_llmeval.records.record import Json, Record
from pytest_llmeval.records.request import Operation, Reply, Request, Role, StopReason, Usage
from pytest_llmeval.records.row import Outcome, Row, RowKey
from pytest_llmeval.records.sample import Sample
from pytest_llmeval.records.score import Score, Verdict
from pytest_llmeval.records.target import (
    Target,
    TargetForm,
    target_form,
    target_text,
    target_texts,
)
from pytest_llmeval.records.transcript import (
    Asked,
    Event,
    FailedCall,
    ModelCall,
    StageNote,
    ToolUse,
    Transcript,
)

__all__ = [
    "Asked",
    "Completion",
    "Display",
    "Event",
    "FailedCall",
    "Image",
    "ImagePart",
    "Json",
    "Message",
    "ModelCall",
    "Operation",
    "Outcome",
    "Part",
    "Record",
    "Reply",
    "Request",
    "Role",
    "Row",
    "RowKey",
    "Sample",
    "Score",
    "StageNote",
    "StopReason",
    "Target",
    "TargetForm",
    "TextPart",
    "ToolCall",
    "ToolUse",
    "Transcript",
    "Usage",
    "Verdict",
    "display_of",
    "target_form",
    "target_text",
    "target_texts",
]
