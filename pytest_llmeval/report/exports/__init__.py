"""A run's results in the forms of other tools: one file for each form."""
