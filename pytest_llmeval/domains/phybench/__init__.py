"""PHYBench: kinds of errors in wrong physics solutions."""
