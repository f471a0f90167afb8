"""The scorer ``code``: a program that a model wrote is right if it passes the sample's tests."""
