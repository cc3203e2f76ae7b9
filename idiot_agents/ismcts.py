"""Single-observer information set Monte Carlo tree search, compiled.

One tree stands for what the searcher can see: its edges are actions.  Every iteration draws a fresh world from the
searcher's view, walks down the tree along actions that are legal in that world, adds one node, plays to the end by a
compiled agent, and credits every node on the way with the payoff of whoever chose it.  Each seat maximises its own
payoff, so 2 to 5 players need no special case.

Which action is tried is decided by UCB1 with availability counts: an action that is legal in few worlds must not look
neglected (Cowling, Powley, Whitehouse: "Information Set Monte Carlo Tree Search", IEEE T-CIAIG 4(2), 2012).  What a
flip or a chance draw turns up is public: below such an action, the tree branches by the rank that came.

=========  =======================================================================================================
NODE       meaning
=========  =======================================================================================================
total      sum of payoffs of the seat that chose the action into this node
visits     iterations that went through
available  iterations in which the parent was visited and the action was legal
child      the node's latest child, 0 for none; ``sibling`` leads on to the child before it
action     the id that leads here from the parent; below a flip or a chance draw, the rank that came
mover      the relative seat that chose the action
=========  =======================================================================================================
"""

from __future__ import annotations

import math

import numpy as np

from idiot_agents.rollouts import candidates, payoff, roll_out_slipping
from idiot_env import actions as A
from idiot_env._jit import jit
from idiot_env.cards import advance, below, stream
from idiot_env.engine import OVER, SEATS, apply, legal_mask
from idiot_env.observation import redeal

NODE = np.dtype(
    [
        ("total", np.float64),
        ("visits", np.int32),
        ("available", np.int32),
        ("child", np.int32),
        ("sibling", np.int32),
        ("action", np.int16),
        ("mover", np.int8),
        ("spare", np.int8, (5,)),
    ],
    align=True,
)
MAX_DEPTH = 64
EXPLORE = 0.7
"""Weight of UCB's second term, for payoffs between −1 and 1."""


@jit
def add_node(tree, used, parent, action, mover):
    """Append a node; the caller has seen to it that there is room."""
    node = tree[used]
    node["total"] = 0.0
    node["visits"] = 0
    node["available"] = 0
    node["child"] = 0
    node["action"] = action
    node["mover"] = mover
    node["sibling"] = tree[parent]["child"]
    tree[parent]["child"] = used
    return used


@jit
def pick_child(tree, parent, mask, explore):
    """The child of the largest upper bound among legal ones, or 0; marks every legal child's action 2 in ``mask``."""
    best, bound = 0, -1e300
    child = int(tree[parent]["child"])
    while child != 0:
        node = tree[child]
        action = int(node["action"])
        if mask[action] == 1:
            mask[action] = 2
            node["available"] += 1
            visits = float(node["visits"])
            upper = node["total"] / visits + explore * math.sqrt(math.log(float(node["available"])) / visits)
            if upper > bound:
                best, bound = child, upper
        child = int(node["sibling"])
    return best


@jit
def untried(actions, n, mask, random_state):
    """A random one of ``n`` actions that no child stands for, or −1."""
    left = 0
    for a in range(n):
        left += mask[actions[a]] == 1
    if left == 0:
        return -1
    skip = below(random_state, left)
    for a in range(n):
        if mask[actions[a]] == 1:
            if skip == 0:
                return actions[a]
            skip -= 1
    return -1


@jit
def revealed_rank(state, action):
    """The rank that a flip or a chance draw will turn up, or −1 for other actions."""
    if A.FLIP <= action < A.CHANCE:
        return int(state["down"][int(state["turn"]), action - A.FLIP]) // 4
    if action == A.CHANCE:
        return int(state["stock"][int(state["stock_size"]) - 1]) // 4
    return -1


@jit
def rank_child(tree, used, parent, rank):
    """The node for what came at a chance node, added if it is not there; returns it and the number of nodes."""
    child = int(tree[parent]["child"])
    while child != 0:
        if tree[child]["action"] == rank:
            return child, used
        child = int(tree[child]["sibling"])
    if used == tree.shape[0]:
        return 0, used
    return add_node(tree, used, parent, rank, tree[parent]["mover"]), used + 1


@jit
def descend(state, tree, used, explore, random_state, path, actions, mask):
    """Walk down one world to a new node or the end; returns the length of ``path`` and the number of nodes."""
    node, depth = 0, 0
    while state["phase"] != OVER and depth < MAX_DEPTH - 2:
        legal_mask(state, mask)
        n = candidates(mask, actions)
        mover = int(state["turn"])
        best = pick_child(tree, node, mask, explore)
        random_state = advance(random_state)
        action = untried(actions, n, mask, random_state)
        is_new = action >= 0
        if is_new:
            if used == tree.shape[0]:
                break
            node = add_node(tree, used, node, action, mover)
            tree[node]["available"] = 1
            used += 1
        else:
            node = best
            action = int(tree[node]["action"])
        rank = revealed_rank(state, action)
        apply(state, action)
        path[depth] = node
        depth += 1
        if is_new:
            break
        if rank >= 0:
            before = used
            node, used = rank_child(tree, used, node, rank)
            if node == 0:
                break
            path[depth] = node
            depth += 1
            if used > before:
                break
    return depth, used


@jit
def grow(
    root, tree, used, iterations, kind, limit, slip, explore, random_state,
    scratch, path, actions, observation, mask,
):  # fmt: skip
    """Run ``iterations`` iterations; returns the number of nodes and the next random state.

    ``root`` and ``scratch`` are ``[1]`` of STATE, ``tree`` ``[n]`` of NODE with the root at 0 and ``used`` nodes.
    """
    gained = np.zeros(SEATS)
    state = scratch[0]
    players = int(root[0]["players"])
    for _ in range(iterations):
        random_state = advance(random_state)
        scratch[0] = root[0]
        redeal(state, 0, stream(random_state, 0))
        depth, used = descend(state, tree, used, explore, stream(random_state, 2), path, actions, mask)
        roll_out_slipping(state, kind, limit, slip, slip, observation, mask, stream(random_state, 1))
        for seat in range(players):
            gained[seat] = payoff(state, seat)
        for i in range(depth):
            node = tree[path[i]]
            node["visits"] += 1
            node["total"] += gained[node["mover"]]
    return used, random_state


@jit
def root_counts(tree, actions, n, visits, totals):
    """Visits and totals of the root's children, in the order of ``actions`` (float64 ``[n]`` each)."""
    for a in range(n):
        visits[a] = 0.0
        totals[a] = 0.0
    child = int(tree[0]["child"])
    while child != 0:
        for a in range(n):
            if actions[a] == tree[child]["action"]:
                visits[a] = tree[child]["visits"]
                totals[a] = tree[child]["total"]
        child = int(tree[child]["sibling"])
