"""The subcommands of ``llmeval``: each module declares one and runs it."""
