"""The keys under which the controller passes an xdist worker its channel, in `workerinput`."""

CHANNEL = "llmeval"
"""The key of the execnet channel."""

IS_FIRST = "llmeval-first"
"""The key of whether the worker is the first; the worker's id does not show it, because users may
choose ids (``--tx popen//id=abc``)."""
