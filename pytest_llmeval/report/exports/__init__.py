"""A run's results in the forms of others: one file for each form, chosen by `EXPORTS`."""
