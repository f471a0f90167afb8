"""The solver ``turns``: a conversation of several turns between a user and a model."""
