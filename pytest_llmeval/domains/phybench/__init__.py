"""PHYBench: kinds of errors in wrong solutions of physics problems."""
