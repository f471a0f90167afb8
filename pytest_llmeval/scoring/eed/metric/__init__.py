"""Expression trees, their alignment and their edit distance."""
