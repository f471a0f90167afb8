"""The scorer ``trajectory``: which tools a model called, in which order, with what arguments."""
