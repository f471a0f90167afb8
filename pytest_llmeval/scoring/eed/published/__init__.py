"""The mode that reproduces the published metric, quirks included."""
