"""Traces of runs: rows and transcripts to spans, by OpenTelemetry's conventions for models."""
