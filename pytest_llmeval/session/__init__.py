"""A session: its options, run and conclusion. Independent of pytest, and used by `commands` too."""
