"""Jinja2 templates and expressions, evaluated under limits of time and memory."""
