"""What a Ray cluster costs, on two local nodes: ``.venv-ray/bin/python -m tests.benchmarks.cluster``.

Prints, with ``configs/quick.yaml`` and one and two workers: decisions per CPU second of the workers and of the learner,
bytes from worker to learner and of the weights; then the cost of a piece of a benchmark, careful against greedy, to the
core that plays it and to the caller.  CPU seconds, so that other work on the machine counts less.
"""

from __future__ import annotations

import json
import pickle
import resource
from typing import Any

import torch

from idiot_agents.cluster import play_on_cluster
from idiot_agents.registry import make_agent
from idiot_agents.tournament import Tournament
from idiot_env import Rules
from idiot_train import rllib
from idiot_train.config import config_path, load_config
from tests.ray_cluster import two_nodes

UPDATES = 6
PIECES = 10


def cpu_seconds(_: Any = None) -> float:
    """CPU time of this process; also asked of workers."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def sample_bytes(runner: Any) -> int:
    return len(pickle.dumps(runner.sample()))


def training(workers: int) -> dict[str, Any]:
    """Rates and sizes of RLlib's training, after two updates that warm up."""
    config = load_config(config_path("quick"), ["evaluations=0"])
    algorithm = rllib.make_algorithm(config, workers)
    for _ in range(2):
        algorithm.train()
    runners = algorithm.env_runner_group
    before, start = runners.foreach_env_runner(cpu_seconds, local_env_runner=False), cpu_seconds()
    for _ in range(UPDATES):
        algorithm.train()
    after, end = runners.foreach_env_runner(cpu_seconds, local_env_runner=False), cpu_seconds()
    rollout = config.games * config.horizon
    found = {
        "workers": workers,
        "decisions_per_worker_cpu_s": round(UPDATES * rollout / (sum(after) - sum(before))),
        "decisions_per_learner_cpu_s": round(UPDATES * rollout / (end - start)),
        "bytes_a_decision": round(sum(runners.foreach_env_runner(sample_bytes, local_env_runner=False)) / rollout),
        "bytes_of_weights": len(pickle.dumps(algorithm.learner_group.get_weights())),
    }
    rllib.stop(algorithm)
    return found


def benchmark(address: str) -> dict[str, Any]:
    """CPU seconds of a piece of a tournament, played here and handed to the cluster."""
    tournament = Tournament([make_agent("careful"), make_agent("greedy")], Rules(), 2, 60_000, seed=1)
    pieces = tournament.tasks()
    played = tournament.play(pieces[0])  # compiles
    start = cpu_seconds()
    for piece in pieces[:PIECES]:
        played = tournament.play(piece)
    here = (cpu_seconds() - start) / PIECES
    list(play_on_cluster(tournament, pieces[:4], address))
    start = cpu_seconds()
    handed = len(list(play_on_cluster(tournament, pieces, address)))
    return {
        "deals_a_piece": pieces[0].deals,
        "cpu_s_a_piece": round(here, 4),
        "callers_cpu_s_a_piece": round((cpu_seconds() - start) / handed, 4),
        "bytes_a_piece": len(pickle.dumps(played)),
    }


def main() -> None:
    torch.set_num_threads(1)
    with two_nodes() as cluster:
        for workers in (1, 2):
            print(json.dumps(training(workers)), flush=True)
        print(json.dumps(benchmark(cluster.address)))


if __name__ == "__main__":
    main()
