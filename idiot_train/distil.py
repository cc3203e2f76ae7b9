"""Teach one network what specialists know: ``python -m idiot_train.distil RUN --specialist RUN … --out RUN``.

Reinforcement learning spends its decisions on finding out what is good.  Where a specialist knows it already, the
generalist only has to agree: it plays its own games at a specialist's table, and at each decision the specialist says
with which probabilities it would act and what the position is worth (policy distillation, Rusu et al. 2016, on the
student's own states, as in DAgger, Ross et al. 2011).  At all other tables of its training it is held to what it was.
Several specialists of one table teach their mean: an ensemble plays better than each of its members, and a single
network can learn most of that.  Who learned many tables teaches where nobody who learned fewer does.  The student's
states change as it learns, so rounds of play and of learning take turns.

The loss is the Kullback–Leibler divergence from teacher to student over the legal actions, and ``VALUE_WEIGHT`` times
the squared error of the value.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import torch
from tqdm import tqdm

from idiot_agents.arguments import exit_code, positive_int, training_seed
from idiot_agents.errors import InputError
from idiot_agents.network import Network, masked_softmax, save_model
from idiot_agents.neural import NeuralAgent
from idiot_env import Rules
from idiot_env.actions import N_ACTIONS
from idiot_env.batched import Batch, make_tables
from idiot_env.cards import stream
from idiot_env.observation import OBSERVATION_SIZE, upper_bounds
from idiot_train.beliefs import teach_belief
from idiot_train.config import TrainConfig, config_of_card
from idiot_train.curve import library_versions
from idiot_train.policy import IdiotPolicy
from idiot_train.tables import own_tables
from idiot_train.train_command import make_folder

VALUE_WEIGHT = 0.5
GAMES = 1024
EVERY = 4
"""Steps between two that are learned from: a game's next decision is much like its last."""
KEPT = 128
"""Steps of a round that are learned from: ``GAMES · KEPT`` decisions."""
PASSES = 2
"""Times that a round's decisions are learned from."""
MINIBATCH = 2048
MAX_GRADIENT = 0.5
FACTS = ("rules", "players", "house_rules", "seed", "decisions", "config", "versions")
"""What a card says of the student's training, and of the result's too."""


@dataclass(frozen=True)
class Lesson:
    """Decisions and what the teachers say of them.

    Attributes:
        observation, mask: int8 ``[K, O]`` and ``[K, A]``.
        wanted: the teacher's probabilities, float32 ``[K, A]``.
        worth: the teacher's value, float32 ``[K]``.
        table: int64 ``[K]``, the number of the specialists' table; −1 where the student is to stay as it was.
    """

    observation: npt.NDArray[np.int8]
    mask: npt.NDArray[np.int8]
    wanted: npt.NDArray[np.float32]
    worth: npt.NDArray[np.float32]
    table: npt.NDArray[np.int64]


class School:
    """Games at the specialists' tables and at those of the student's own training.

    Args:
        student: as it is before it learns; it stays the teacher where no specialist knows better.
        specialists: each teaches at the tables of its own training.
        share: of the games at specialists' tables.
    """

    def __init__(self, student: NeuralAgent, specialists: Sequence[NeuralAgent], share: float, seed: int) -> None:
        config = config_of(student)
        self.taught = teachers_of_tables(specialists)
        self.before = student.network
        known = [make_tables(1, rules, players)[0] for rules, players in self.taught]
        pool, turns = own_tables(config), in_turns(list(self.taught.values()))
        rng = np.random.default_rng([seed, 4])
        self.batch = Batch(GAMES, max_decisions=config.max_decisions)
        self.table = np.full(GAMES, -1)
        for row in range(GAMES):
            drawn = pool[rng.integers(len(pool))]
            self.batch.tables[row] = known[next(turns)] if row < share * GAMES else drawn
            self.table[row] = next((number for number, one in enumerate(known) if one == self.batch.tables[row]), -1)
        self.batch.reset(seed)
        self._streams = np.array([stream(np.int64(seed), np.int64(row)) for row in range(GAMES)])

    def lesson(self, student: Network) -> Lesson:
        """The next decisions in the student's games, drawn from its policy, with what the teachers say of them."""
        player = NeuralAgent(student, "student", temperature=1.0)
        seen, masks = [], []
        for step in range(KEPT * EVERY):
            if step % EVERY == 0:
                seen.append(self.batch.observation.copy())
                masks.append(self.batch.mask.copy())
            self.batch.step(player.act_batch(self.batch.observation, self.batch.mask, self._streams))
        observation, mask, table = np.concatenate(seen), np.concatenate(masks), np.tile(self.table, KEPT)
        wanted, worth = np.zeros(mask.shape, np.float32), np.zeros(len(mask), np.float32)
        for number, networks in enumerate([*self.taught.values(), [self.before]]):
            rows = np.flatnonzero(table == (number if number < len(self.taught) else -1))
            for network in networks:
                hidden = network.hidden(observation[rows])
                wanted[rows] += masked_softmax(network.logits(hidden, mask[rows]), mask[rows]) / len(networks)
                worth[rows] += network.values(hidden) / len(networks)
        return Lesson(observation, mask, wanted, worth, table)


def teachers_of_tables(specialists: Sequence[NeuralAgent]) -> dict[tuple[Rules, int], list[Network]]:
    """Who teaches at each table: of those who learned it, the ones who learned the fewest tables."""
    able: dict[tuple[Rules, int], list[tuple[int, Network]]] = {}
    for specialist in specialists:
        tables = config_of(specialist).tables
        for table in tables:
            able.setdefault(table, []).append((len(tables), specialist.network))
    fewest = {table: min(count for count, _ in found) for table, found in able.items()}
    return {table: [network for count, network in found if count == fewest[table]] for table, found in able.items()}


def in_turns(teachers: Sequence[Sequence[Network]]) -> Iterator[int]:
    """Numbers of tables without end: whoever teaches has as many games as any other, be it at one table or at many."""
    tables_of: dict[tuple[int, ...], list[int]] = {}
    for number, networks in enumerate(teachers):
        tables_of.setdefault(tuple(map(id, networks)), []).append(number)
    tours = [itertools.cycle(numbers) for numbers in tables_of.values()]
    while True:
        yield from map(next, tours)


def config_of(agent: NeuralAgent) -> TrainConfig:
    """What it was trained on, as its card says.

    Raises:
        InputError: if the card does not say it.
    """
    return config_of_card(agent.card, agent.name)


def check_tables(student: NeuralAgent, specialists: Sequence[NeuralAgent]) -> None:
    """Refuse a specialist whose tables the student cannot read.

    Raises:
        InputError: naming the specialist and the table.
    """
    encoder, own = student.network.encoder, [str(rules) for rules, _ in config_of(student).tables]
    for specialist in specialists:
        for rules, players in config_of(specialist).tables:
            if players > encoder.players or (not encoder.rules and str(rules) not in own):
                raise InputError(
                    f"{specialist.name} teaches {rules} with {players} players, which {student.name} cannot read: it "
                    f"reads up to {encoder.players} players and {'all' if encoder.rules else 'no'} house rules."
                )


def make_policy(network: Network, learning_rate: float) -> IdiotPolicy:
    """A network in torch, with an optimiser."""
    widths = [len(bias) for _, bias in network.trunk]
    policy = IdiotPolicy(
        gymnasium.spaces.Box(0, upper_bounds(), (OBSERVATION_SIZE,), np.int8),
        gymnasium.spaces.Discrete(N_ACTIONS),
        lambda _: learning_rate,
        widths=widths,
        encoder=network.encoder,
    )
    policy.start_from(network)
    return policy


def divergence(policy: IdiotPolicy, lesson: Lesson, rows: npt.NDArray[np.int64]) -> tuple[torch.Tensor, torch.Tensor]:
    """The divergence from the teacher ``[K]`` and the squared error of the value ``[K]``."""
    wanted, worth = torch.from_numpy(lesson.wanted[rows]), torch.from_numpy(lesson.worth[rows])
    logits, values = policy.logits_and_values(torch.from_numpy(lesson.observation[rows]), lesson.mask[rows])
    unlike = torch.nn.functional.kl_div(torch.log_softmax(logits, dim=1), wanted, reduction="none").sum(dim=1)
    return unlike, (values[:, 0] - worth) ** 2


def learn(policy: IdiotPolicy, lesson: Lesson, rng: np.random.Generator) -> None:
    """Some passes over a lesson."""
    for _ in range(PASSES):
        order = rng.permutation(len(lesson.table))
        for first in range(0, len(order), MINIBATCH):
            unlike, error = divergence(policy, lesson, order[first : first + MINIBATCH])
            policy.optimizer.zero_grad()
            (unlike + VALUE_WEIGHT * error).mean().backward()
            torch.nn.utils.clip_grad_norm_(policy.parameters(), MAX_GRADIENT)
            policy.optimizer.step()


def mean_divergences(policy: IdiotPolicy, lesson: Lesson) -> dict[int, float]:
    """The mean divergence from the teachers of each table."""
    with torch.no_grad():
        unlike = np.concatenate(
            [
                divergence(policy, lesson, rows)[0].numpy()
                for rows in np.array_split(np.arange(len(lesson.table)), len(lesson.table) // MINIBATCH)
            ]
        )
    return {int(number): float(unlike[lesson.table == number].mean()) for number in np.unique(lesson.table)}


def distil(
    student: NeuralAgent,
    specialists: Sequence[NeuralAgent],
    decisions: int,
    share: float,
    learning_rate: float,
    seed: int,
    quiet: bool = False,
) -> tuple[Network, list[tuple[str, float, float]]]:
    """The student after at least so many decisions of its own.

    Returns:
        the network; and, for each table, the divergence from its teachers before and after, over decisions that were
        not learned from.
    """
    rng = np.random.default_rng([seed, 5])
    school, policy = School(student, specialists, share, seed), make_policy(student.network, learning_rate)
    rounds = -(-decisions // (GAMES * KEPT))
    before = mean_divergences(policy, school.lesson(student.network))
    for number in tqdm(range(rounds), unit=" rounds", disable=quiet):
        for group in policy.optimizer.param_groups:
            group["lr"] = learning_rate * (1 - number / rounds)
        learn(policy, school.lesson(policy.to_network()), rng)
    network = policy.to_network()
    after = mean_divergences(policy, school.lesson(network))
    names = [*(f"{rules}, {players} players" for rules, players in school.taught), "the others: as it was"]
    return network, [(names[number], before[number], after[number]) for number in sorted(after)]


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m idiot_train.distil", description=(__doc__ or "").split(":")[0])
    parser.add_argument("student", type=Path, metavar="RUN", help="the run whose model is to learn")
    parser.add_argument("--specialist", nargs="+", type=Path, required=True, metavar="RUN", help="runs of specialists")
    parser.add_argument("--out", type=Path, required=True, metavar="RUN", help="a new folder for the result")
    parser.add_argument("--decisions", type=positive_int, default=8_000_000, help="default: %(default)s")
    parser.add_argument("--share", type=float, default=0.5, help="of games at their tables (default: %(default)s)")
    parser.add_argument("--learning-rate", type=float, default=5e-4, help="falls to 0 (default: %(default)s)")
    parser.add_argument("--seed", type=training_seed, default=1)
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    return parser


def run(args: argparse.Namespace) -> None:
    """Teach the student that the command line names.

    Raises:
        InputError: before anything is written.
    """
    torch.set_num_threads(1)
    if not 0 < args.share < 1:
        raise InputError(f"--share {args.share} is not possible: it is above 0 and below 1.")
    if not 0 < args.learning_rate < 1:
        raise InputError(f"--learning-rate {args.learning_rate} is not possible: it is above 0 and below 1.")
    curve = args.student / "curve.json"
    if not curve.is_file():
        raise InputError(f"{args.student} has no {curve.name}: name a finished run with evaluations.")
    student = NeuralAgent.load(args.student / "model")
    specialists = [NeuralAgent.load(run / "model") for run in args.specialist]
    check_tables(student, specialists)
    card = facts_of(student)
    make_folder(args.out)
    network, told = distil(student, specialists, args.decisions, args.share, args.learning_rate, args.seed, args.quiet)
    network = teach_belief(network, config_of(student), seed=args.seed)
    card["distilled"] = {
        "student": str(args.student),
        "specialists": [str(run) for run in args.specialist],
        "decisions": args.decisions,
        "share": args.share,
        "learning_rate": args.learning_rate,
        "seed": args.seed,
        "before": student.card.get("distilled"),
    }
    shutil.copyfile(curve, args.out / curve.name)
    save_model(args.out / "model", network, card)
    print("divergence from the teachers, nats a decision, before and after:")
    for name, before, after in told:
        print(f"  {name:40} {max(before, 0):.4f}  {after:.4f}")


def facts_of(student: NeuralAgent) -> dict[str, Any]:
    """What the result's card says of the student's training.

    Raises:
        InputError: if the student's card does not say all of it.
    """
    missing = [key for key in FACTS if key not in student.card]
    if missing:
        raise InputError(f"{student.name} does not say its {missing[0]}: name a run of idiot train.")
    return {key: student.card[key] for key in FACTS} | {"versions": student.card["versions"] | library_versions()}


def main() -> int:
    args = make_parser().parse_args()
    return exit_code(lambda: run(args))


if __name__ == "__main__":
    sys.exit(main())
