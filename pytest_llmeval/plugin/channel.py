"""The keys under which the controller passes an xdist worker its channel, in `workerinput`."""

CHANNEL = "llmeval"
"""The key of the execnet channel."""

IS_FIRST = "llmeval-first"
"""The key of whether the worker sends its whole plan: the first one does, and those that replace it
if it died before. Its id does not show it, because users may choose ids (``--tx popen//id=abc``).
"""

HANDLES_CTRL_C = "llmeval-ctrl-c"
"""The key of whether the worker handles Ctrl-C; not if it is ignored, as in a background job."""

KEEPS_TESTS = "llmeval-keeps-tests"
"""The key of whether the tests that a worker was given stay with it; not with ``--dist worksteal``.
"""
