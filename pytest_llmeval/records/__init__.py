"""The records that pass between the parts: frozen, plain, and each with its JSON form."""

from pytest_llmeval.records.completion import Completion
from pytest_llmeval.records.message import Image, ImagePart, Json, Message, Part, TextPart, ToolCall
from pytest_llmeval.records.request import Operation, Reply, Request, Role, StopReason, Usage
from pytest_llmeval.records.row import Outcome, Row, RowKey
from pytest_llmeval.records.sample import Sample
from pytest_llmeval.records.score import (
    ERROR_KINDS,
    TAXONOMY,
    ErrorKind,
    ErrorLabel,
    Score,
    Verdict,
)
from pytest_llmeval.records.transcript import (
    Asked,
    Event,
    FailedCall,
    GraphQuery,
    ModelCall,
    StageNote,
    Transcript,
)

__all__ = [
    "ERROR_KINDS",
    "TAXONOMY",
    "Asked",
    "Completion",
    "ErrorKind",
    "ErrorLabel",
    "Event",
    "FailedCall",
    "GraphQuery",
    "Image",
    "ImagePart",
    "Json",
    "Message",
    "ModelCall",
    "Operation",
    "Outcome",
    "Part",
    "Reply",
    "Request",
    "Role",
    "Row",
    "RowKey",
    "Sample",
    "Score",
    "StageNote",
    "StopReason",
    "TextPart",
    "ToolCall",
    "Transcript",
    "Usage",
    "Verdict",
]
