"""A scripted seller and a scripted customer for examples/simulated_user.

Record the example anew with: pytest examples/simulated_user --llmeval-keep
examples/simulated_user/replies.jsonl --llmeval-model M --llmeval-model user=M, where M is
python/./tests/examples/simulated_user_model.py:reply
"""

from __future__ import annotations

import json
import re

from pytest_llmeval.records import Reply, Request, ToolCall

WANTED = {
    "to": (r"(Lyon|Oslo|Rome)", "Where do you want to go?"),
    "day": (r"(Monday|Friday|Sunday)", "On which day?"),
    "seats": (r"(\d) seats?", "How many seats?"),
}


def reply(request: Request) -> Reply:
    """Return what the customer or the seller says next."""
    said = _customer(request) if request.role == "user" else _seller(request)
    return said if isinstance(said, Reply) else Reply(text=said)


def _customer(request: Request) -> str:
    goal, last = request.messages[0].text, request.messages[-1].text
    if len(request.messages) == 1:
        return "I need a train."
    if "number" in last:
        return "Thank you. DONE"
    found = next(pattern for pattern, question in WANTED.values() if question in last)
    said = re.search(found, goal)
    assert said is not None
    return f"{said[0]}, please."


def _seller(request: Request) -> str | Reply:
    told = " ".join(one.text for one in request.messages if one.role == "user")
    found = {name: re.search(pattern, told) for name, (pattern, _) in WANTED.items()}
    if request.messages[-1].role == "tool":
        return f"The number of your booking is {request.messages[-1].text}."
    # Mistakes: a seat is taken for granted to Oslo, and Rome on Friday is never understood.
    given = {name: match[1] for name, match in found.items() if match}
    if given.get("to") == "Rome" and given.get("day") == "Friday":
        return WANTED["day"][1]
    if given.get("to") == "Oslo":
        given |= {"seats": "1"}
    for name, (_, question) in WANTED.items():
        if name not in given:
            return question
    arguments = json.dumps({**given, "seats": int(given["seats"])})
    call = ToolCall(id="scripted", name="book", arguments=arguments)
    return Reply(text="", tool_calls=(call,), stop_reason="tool_calls")
