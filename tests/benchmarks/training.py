"""How fast training is: ``python -m tests.benchmarks.training [KEY=VALUE …]``.

Decisions that are learned from per CPU second, and the share of that time spent outside the optimiser, with the quick
configuration on one thread; medians over five rollouts after a warm-up.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from idiot_train.config import load_config
from idiot_train.opponents import Opponents
from idiot_train.ppo import SelfPlay, make_learner

ROLLOUTS = 5
QUICK = Path(__file__).resolve().parents[2] / "configs" / "quick.yaml"


def main() -> None:
    config = load_config(QUICK, ["evaluations=0", *sys.argv[1:]])
    rollout = config.games * config.horizon
    opponents = Opponents(config)
    learner = make_learner(config, opponents)
    with tempfile.TemporaryDirectory() as folder:
        callback = SelfPlay(config, opponents, Path(folder), quiet=True)
        learner.learn(rollout, callback=callback)
        optimiser = 0.0
        optimise = learner.train

        def timed() -> None:
            nonlocal optimiser
            start = time.process_time()
            optimise()
            optimiser = time.process_time() - start

        learner.train = timed  # type: ignore[method-assign]
        rates, shares = [], []
        for _ in range(ROLLOUTS):
            start = time.process_time()
            learner.learn(rollout, callback=callback, reset_num_timesteps=True)
            spent = time.process_time() - start
            rates.append(rollout / spent)
            shares.append(1 - optimiser / spent)
    print(f"decisions per CPU second            {statistics.median(rates):12,.0f}")
    print(f"share of time outside the optimiser {statistics.median(shares):12.1%}")


if __name__ == "__main__":
    main()
