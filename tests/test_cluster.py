"""Matches on a Ray cluster: the numbers of one machine, also where a process or a machine is lost on the way.

``make test-ray`` runs it in an environment of its own, against the real library.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("ray", reason="needs the extra 'ray', see make test-ray")

import ray
from ray.cluster_utils import Cluster

from idiot_agents import cluster as ours
from idiot_agents.arena import Games
from idiot_agents.errors import InputError
from idiot_agents.registry import make_agent
from idiot_agents.tournament import Recipe, Task, Tournament, play_tasks, recipe_of
from idiot_env import Rules
from idiot_train.cli import main
from tests.ray_cluster import lose_a_machine, two_nodes

pytestmark = pytest.mark.filterwarnings("default::RuntimeWarning", "ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with two_nodes() as started:
        yield started


def tournament(deals: int = 20_000) -> Tournament:
    agents = [make_agent(name) for name in ("greedy", "careful", "random")]
    return Tournament(agents, Rules.preset("norsk"), 3, deals, seed=5)


def same(one: Games, other: Games) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("place", "truncated", "decisions"))


def test_a_lost_process_and_a_lost_machine_change_nothing(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tournament()
    tasks = here.tasks()
    assert len(tasks) > 10
    fallen, work = tmp_path / "fallen", ours._work

    def falls_once(recipe: Recipe, task: Task) -> Games:
        if task == tasks[2] and not fallen.exists():
            fallen.touch()
            os.kill(os.getpid(), signal.SIGKILL)  # the worker process itself
        return work(recipe, task)

    monkeypatch.setattr(ours, "_work", falls_once)
    got = []
    with closing(play_tasks(here, tasks, cluster.address)) as playing:
        for task, games in playing:
            got.append(task)
            assert same(games, here.play(task))
            if len(got) == 3:
                lose_a_machine(cluster)
    assert got == tasks
    assert fallen.exists()
    assert sum(node["Alive"] for node in ray.nodes()) == 2  # the head, and the node that is left
    cluster.add_node(num_cpus=1)


def test_the_bench_has_the_same_numbers(cluster: Cluster, tmp_path: Path) -> None:
    command = ["bench", "greedy", "careful", "--deals", "3000", "--seed", "2", "--quiet", "--json"]
    assert main([*command, str(tmp_path / "one.json")]) == 0
    assert main([*command, str(tmp_path / "many.json"), "--ray", cluster.address]) == 0
    one, many = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("one", "many"))
    assert one["matches"] == many["matches"]
    assert main(["bench", "--reproduce", str(tmp_path / "one.json"), "--ray", cluster.address, "--quiet"]) == 0


def test_what_is_missing_there_is_said(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = tournament(100)
    monkeypatch.setattr(ours, "recipe_of", lambda _: (["greedy", "nobody", "random"], *recipe_of(here)[1:]))
    with pytest.raises(InputError, match="unknown agent 'nobody'"):
        list(play_tasks(here, here.tasks(), cluster.address))
    ray.shutdown()
    for address, said in (("127.0.0.1:1", "no Ray cluster at '127.0.0.1:1'"), ("here", "HOST:PORT")):
        assert main(["bench", "greedy", "random", "--ray", address, "--deals", "10", "--quiet"]) == 2
        assert said in capsys.readouterr().err
    ours.connect(cluster.address)
