"""Whatever touches a disk and knows no domain: YAML, pictures, locks, redaction."""
