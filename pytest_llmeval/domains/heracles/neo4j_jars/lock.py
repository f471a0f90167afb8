"""Makes the list of the jars that a Neo4j consists of (`locked.txt`), by Maven's rules.

``python -m pytest_llmeval.domains.heracles.neo4j_jars.lock > FILE``, then replace `locked.txt` by
FILE. It fetches all jars, one after the other, into Maven's usual folder in the user's home.
"""

from __future__ import annotations

import hashlib
import sys

from jgo.maven import MavenContext

from pytest_llmeval.domains.heracles.neo4j_jars.locked import VERSION

_HEADER = f"""\
# The jars of Neo4j {VERSION} and of what it needs: path in a Maven repository, bytes, sha256.
# Made by `python -m pytest_llmeval.domains.heracles.neo4j_jars.lock`; do not edit.
"""


def main() -> None:
    """Print the list, in the order of the paths."""
    maven = MavenContext()
    server = maven.create_dependency(f"org.neo4j:neo4j:{VERSION}")
    inputs, needed = maven.resolver.resolve([server])
    lines = []
    for artifact in {dependency.artifact for dependency in (*inputs, *needed)}:
        jar = artifact.resolve()
        path = artifact.component.path_prefix / artifact.filename
        digest = hashlib.sha256(jar.read_bytes()).hexdigest()
        lines.append(f"{path.as_posix()} {jar.stat().st_size} {digest}\n")
    sys.stdout.write(_HEADER + "".join(sorted(lines)))


if __name__ == "__main__":
    main()
