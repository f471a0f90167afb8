"""The subcommands of ``llmeval``: each module declares its arguments and runs it."""
