"""A Ray cluster on this machine, for the tests: two nodes with a core each, and a head that plays no games."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import ray
from ray.cluster_utils import Cluster

from idiot_agents.cluster import connect

TRIES = 3
"""Ray gives a node 30 seconds to start, which a busy machine may exceed."""


def _start() -> Cluster:
    cluster = Cluster()
    try:
        for cores in (0, 1, 1):
            cluster.add_node(num_cpus=cores, include_dashboard=False)
        cluster.wait_for_nodes()
    except BaseException:
        cluster.shutdown()
        raise
    return cluster


@contextmanager
def two_nodes() -> Iterator[Cluster]:
    """The cluster, with this process connected to it."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    for tries_left in reversed(range(TRIES)):
        try:
            cluster = _start()
            break
        except Exception:  # Ray raises nothing more particular
            if not tries_left:
                raise
    connect(cluster.address)
    try:
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def lose_a_machine(cluster: Cluster) -> None:
    """Take one of the two nodes away."""
    cluster.remove_node(next(iter(cluster.worker_nodes)))
