"""The only code that talks to the outside: model providers, graph databases, picture files."""
