"""Teach a network what the others tend to hold: ``python -m idiot_train.beliefs MODEL --out MODEL``.

``ppo+search`` thinks in worlds, and draws them by the model's belief (:mod:`idiot_agents.beliefs`).  The belief is a
linear head on the finished network: it plays itself at the tables of its training, and multinomial logistic regression
on the trunk's output tells from whose hand, if from any, each unseen card would come.  Policy and value stay as they
are.  ``idiot train`` ends with it; the command gives one to a model that has none, or a new one.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from idiot_agents.arguments import exit_code, positive_int, training_seed
from idiot_agents.errors import InputError
from idiot_agents.network import SUREST, Network, load_model, save_model
from idiot_agents.neural import NeuralAgent
from idiot_agents.shipped import model_folder
from idiot_env.batched import Batch
from idiot_env.cards import N_RANKS, RANKS, stream
from idiot_env.hidden import HIDDEN_SIZE, write_hidden_rows
from idiot_env.hidden import LAYOUT as HIDDEN_LAYOUT
from idiot_env.observation import LAYOUT, OPPONENTS
from idiot_train.config import TrainConfig, config_of_card
from idiot_train.tables import own_tables
from idiot_train.train_command import make_folder

DECISIONS = 400_000
"""What a belief is learned from: some seconds of play."""
GAMES = 1024
EVERY = 4
"""Decisions of a game between two that are learned from: the next one is much like the last."""
PASSES = 4
MINIBATCH = 2048
LEARNING_RATE = 2e-3

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Hands:
    """What K decisions' observers could not see.

    Attributes:
        features: the trunk's output, float32 ``[K, width]``.
        unseen: unseen cards by rank, float32 ``[K, 14]``.
        held: how many of them each opponent holds, float32 ``[K, opponents, 14]``.
    """

    features: Floats
    unseen: Floats
    held: Floats


def own_games(config: TrainConfig, games: int, seed: int) -> Batch:
    """Games at tables drawn as training draws them."""
    batch, pool = Batch(games, max_decisions=config.max_decisions), own_tables(config)
    batch.tables[:] = pool[np.random.default_rng([seed, 6]).integers(len(pool), size=games)]
    batch.reset(seed)
    return batch


def watch(network: Network, config: TrainConfig, decisions: int, seed: int) -> Hands:
    """At least so many decisions of the network's games with itself, and the cards that each did not see."""
    player, opponents = NeuralAgent(network, "player"), network.encoder.players - 1
    batch = own_games(config, GAMES, seed)
    streams = np.array([stream(np.int64(seed), np.int64(row)) for row in range(GAMES)])
    hidden = np.zeros((GAMES, HIDDEN_SIZE), np.int8)
    features, unseen, held = [], [], []
    for step in range(EVERY * -(-decisions // GAMES)):
        if step % EVERY == EVERY - 1:
            write_hidden_rows(batch.states, batch.seat, hidden)
            hands = hidden[:, HIDDEN_LAYOUT["opp_hand"].slice] - batch.observation[:, LAYOUT["opp_known"].slice]
            held.append(hands.reshape(GAMES, OPPONENTS, N_RANKS)[:, :opponents].astype(np.float32))
            unseen.append(batch.observation[:, LAYOUT["unseen"].slice].astype(np.float32))
            features.append(network.hidden(batch.observation))
        batch.step(player.act_batch(batch.observation, batch.mask, streams))
    return Hands(np.concatenate(features), np.concatenate(unseen), np.concatenate(held))


def surprise(logits: torch.Tensor, unseen: torch.Tensor, held: torch.Tensor) -> torch.Tensor:
    """Minus the log-likelihood of where each unseen card is, nats ``[K]``.

    Args:
        logits: log odds ``[K, opponents, 14]`` of each hand over none; ignored for hands without hidden cards.
        unseen: float32 ``[K, 14]``.
        held: float32 ``[K, opponents, 14]``.
    """
    possible = held.sum(dim=2, keepdim=True) > 0
    logits = torch.where(possible, logits, -torch.inf)
    nowhere = torch.zeros_like(logits[:, :1])
    total = torch.logsumexp(torch.cat([nowhere, logits], dim=1), dim=1)
    ours = torch.where(possible, held * logits, 0.0).sum(dim=(1, 2))
    return (unseen * total).sum(dim=1) - ours


def by_sizes(unseen: torch.Tensor, held: torch.Tensor) -> torch.Tensor:
    """Log odds of who knows no more than how many hidden cards everybody holds, ``[K, opponents, 1]``."""
    sizes = held.sum(dim=2)
    nowhere = unseen.sum(dim=1, keepdim=True) - sizes.sum(dim=1, keepdim=True)
    return torch.log(sizes / nowhere.clamp(min=1))[:, :, None]


def teach_belief(network: Network, config: TrainConfig, decisions: int = DECISIONS, seed: int = 1) -> Network:
    """The network with a belief that is learned from at least so many of its own decisions."""
    hands, rng = watch(network, config, decisions, seed), np.random.default_rng([seed, 7])
    opponents, width = hands.held.shape[1], hands.features.shape[1]
    weight = torch.zeros(opponents * N_RANKS, width, requires_grad=True)
    bias = torch.zeros(opponents * N_RANKS, requires_grad=True)
    optimiser = torch.optim.Adam([weight, bias], lr=LEARNING_RATE)
    batches = -(-len(hands.features) // MINIBATCH)
    for done in range(PASSES):
        for number, rows in enumerate(np.array_split(rng.permutation(len(hands.features)), batches)):
            for group in optimiser.param_groups:
                group["lr"] = LEARNING_RATE * (1 - (done + number / batches) / PASSES)
            features, unseen, held = (torch.from_numpy(x[rows]) for x in (hands.features, hands.unseen, hands.held))
            own = torch.nn.functional.linear(features, weight, bias).reshape(-1, opponents, N_RANKS)
            optimiser.zero_grad()
            surprise(own.clamp(-SUREST, SUREST) + by_sizes(unseen, held), unseen, held).mean().backward()
            optimiser.step()
    return network.with_belief(weight.detach().numpy().copy(), bias.detach().numpy().copy())


def report(network: Network, config: TrainConfig, decisions: int, seed: int) -> list[str]:
    """How well a belief knows hands that it did not learn from, and what they hold."""
    hands = watch(network, config, decisions, seed)
    unseen, held = torch.from_numpy(hands.unseen), torch.from_numpy(hands.held)
    plain = by_sizes(unseen, held)
    logits = plain + torch.from_numpy(network.odds(hands.features).astype(np.float32)).log()
    known, sizes = (surprise(x, unseen, held).mean().item() for x in (logits, plain.expand_as(logits)))
    odds = torch.exp(logits)  # 0 for a hand without hidden cards
    believed = (unseen * odds.sum(dim=1) / (1 + odds.sum(dim=1))).sum(dim=0) / unseen.sum(dim=0)
    true = held.sum(dim=(0, 1)) / unseen.sum(dim=0)
    where = f"where the unseen cards are, over {len(unseen):,} decisions (seed {seed}):"
    lines = [
        f"{where} {known:.3f} nats of surprise a decision, {sizes:.3f} for who knows the sizes of the hands alone",
        "rank   in somebody's hand   believed",
    ]
    for rank in np.flatnonzero(hands.unseen.sum(axis=0)):
        lines.append(f"{RANKS[rank]:4} {true[rank]:18.1%} {believed[rank]:12.1%}")
    return lines


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m idiot_train.beliefs", description=(__doc__ or "").split(":")[0])
    parser.add_argument("model", help="a model's folder or a shipped one's name")
    parser.add_argument("--out", type=Path, metavar="MODEL", help="a new folder for the model with a new belief")
    parser.add_argument("--decisions", type=positive_int, default=DECISIONS, help="default: %(default)s")
    parser.add_argument("--seed", type=training_seed, default=1)
    return parser


def run(args: argparse.Namespace) -> None:
    """Report on the belief of the model that the command line names, or on the one that it is given.

    Raises:
        InputError: before anything is written.
    """
    torch.set_num_threads(1)
    network, card = load_model(model_folder(args.model))
    config = config_of_card(card, args.model)
    if args.out:
        make_folder(args.out)
        network = teach_belief(network, config, args.decisions, args.seed)
        save_model(args.out, network, card)
    elif not network.has_belief:
        raise InputError(f"{args.model} has no belief: --out FOLDER gives it one.")
    print("\n".join(report(network, config, args.decisions, args.seed + 1)))


def main() -> int:
    args = make_parser().parse_args()
    return exit_code(lambda: run(args))


if __name__ == "__main__":
    sys.exit(main())
