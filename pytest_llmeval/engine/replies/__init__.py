"""Stored replies of models: one record, kept in SQLite files and in JSON Lines recordings."""

from pytest_llmeval.engine.replies.place import Place, open_keeper, open_source, parse_place
from pytest_llmeval.engine.replies.ports import ReplyKeeper, ReplySource
from pytest_llmeval.engine.replies.recorder import Recorder
from pytest_llmeval.engine.replies.recording import Recording, read_recording
from pytest_llmeval.engine.replies.store import IMAGES, REPLIES, ReplyStore, Stock
from pytest_llmeval.engine.replies.stored_reply import StoredReply

__all__ = [
    "IMAGES",
    "REPLIES",
    "Place",
    "Recorder",
    "Recording",
    "ReplyKeeper",
    "ReplySource",
    "ReplyStore",
    "Stock",
    "StoredReply",
    "open_keeper",
    "open_source",
    "parse_place",
    "read_recording",
]
