"""A cluster of Ray with several nodes on this machine, directed by standard input.

It prints the cluster's address, then a line for each command: ``add`` a node, ``kill`` the oldest
node that is left with all its processes, ``gone`` to kill all nodes and the head. It ends, and the
cluster with it, when standard input ends.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
# Ray's own deprecations are no matter of ours.
os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"

from ray.cluster_utils import Cluster

STORE = 80 * 1024 * 1024
"""Bytes of a node's object store: the least that Ray takes."""


def main(count: int) -> None:
    """Run a head without processors, and nodes with two each."""
    # Short: Ray's sockets lie in it.
    folder = tempfile.mkdtemp(prefix="lr", dir="/tmp")
    shared = {"object_store_memory": STORE, "include_dashboard": False}
    cluster = Cluster(
        initialize_head=True, head_node_args={**shared, "num_cpus": 0, "temp_dir": folder}
    )
    nodes = [cluster.add_node(num_cpus=2, **shared) for _ in range(count)]
    try:
        print(cluster.address, flush=True)  # noqa: T201 - for the test
        for line in sys.stdin:
            match line.strip():
                case "add":
                    nodes.append(cluster.add_node(num_cpus=2, **shared))
                case "kill":
                    cluster.remove_node(nodes.pop(0), allow_graceful=False)
                case "gone":
                    while nodes:
                        cluster.remove_node(nodes.pop(0), allow_graceful=False)
                    cluster.head_node.kill_all_processes(check_alive=False, allow_graceful=False)
            print("done", flush=True)  # noqa: T201 - as above
    finally:
        for node in (*nodes, cluster.head_node):
            node.kill_all_processes(check_alive=False, allow_graceful=False)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
    os._exit(0)
