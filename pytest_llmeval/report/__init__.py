"""Records in, text out; each module is imported by who needs it (rich is not free)."""
