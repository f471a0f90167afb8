"""The names under which a worker finds its channel to the engine in its input."""

CHANNEL = "llmeval"
"""The key of the execnet channel."""

IS_FIRST = "llmeval-first"
"""The key of whether a worker is the first (ids are the user's: ``--tx popen//id=abc``)."""
