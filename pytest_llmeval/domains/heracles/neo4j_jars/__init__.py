"""The jars of a Neo4j: which they are, where they are kept, and how they are fetched."""
