"""The figures of a run and its files; each module is imported by who needs it (numpy and pydantic are not free)."""
