"""The solver ``agent``: a model calls tools until it answers."""
