"""Requests sent through batch APIs of providers, at a part of the price, and found again later."""
