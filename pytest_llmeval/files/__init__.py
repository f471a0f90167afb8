"""Reading and writing of files: YAML, JSON, pictures, locks, redaction of secrets."""
