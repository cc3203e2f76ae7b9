"""Legal actions as the page offers them, and why everything else is not possible.

What is legal is the mask's to say.  The page needs to know which cards an action moves, so that touching cards finds
the actions they belong to; and for a card that belongs to none, the reason in words.
"""

from __future__ import annotations

from typing import Any

from idiot_agents.web.texts import say
from idiot_env.actions import TEXTS
from idiot_env.cards import JOKER, NO_RANK, ORDINARY, RANKS, SEVEN, TEN, TWO
from idiot_env.view import View
from idiot_env.words import action_sentence, spaced

_TURNS_ON_SEVEN = set(ORDINARY)


def cards_moved(text: str, phase: str) -> dict[str, Any]:
    """What an action's text moves, by zone: ``{"verb", "hand": {rank: n}, "up": {rank: n}, "slot": 1…3 or None}``."""
    verb, *rest = text.split()
    hand: dict[str, int] = {}
    up: dict[str, int] = {}
    slot = None
    source = up if phase == "up" else hand
    if verb == "play":
        rank, _, count = rest[0].partition("x")
        source[rank] = int(count or 1)
    elif verb == "sneak":
        source["3"] = int(rest[0][1:]) if rest else 1
    elif verb == "run":
        low, high = (ORDINARY.index(RANKS.index(rank)) for rank in rest[0].split("-"))
        source |= {RANKS[ORDINARY[place]]: 1 for place in range(low, high + 1)}
    elif verb == "take" and rest:
        up[rest[0]] = 1
    elif verb == "flip":
        slot = int(rest[0])
    elif verb == "swap":
        hand[rest[0]], up[rest[1]] = 1, 1
    elif verb == "stack":
        hand[rest[0]] = 1  # which face-up card it goes on follows from its rank
    return {"verb": verb, "hand": hand, "up": up, "slot": slot}


def legal_choices(view: View, lang: str) -> list[dict[str, Any]]:
    """Every legal action with the cards it moves and what it would do, in words."""
    return [
        {
            "action": TEXTS[action],
            "says": action_sentence(TEXTS[action], lang),
            **cards_moved(TEXTS[action], view.phase),
        }
        for action in view.legal
    ]


def _held(counts: Any) -> list[int]:
    return [rank for rank in range(len(RANKS)) if counts[rank]]


def why_not_laid(view: View, rank: int, lang: str) -> str:
    """Why no card of a rank that the turn's zone holds may be laid; call it only if the mask says so."""
    shown = spaced(RANKS[rank])
    top = "" if view.top == NO_RANK else spaced(RANKS[view.top])
    if view.opening:
        plays = [text.split()[1][0] for text in view.legal_texts if text.startswith("play")]
        return say("opening", lang, rank=spaced(plays[0]) if plays else "")
    if rank == TWO:
        return say("last_two", lang)
    if view.rules.seven_low and view.top == SEVEN and rank in _TURNS_ON_SEVEN:
        return say("seven_same" if rank == SEVEN else "seven_low", lang, rank=shown)
    if rank in (TEN, JOKER) and top:
        return say("ten_on", lang, rank=shown, top=top)
    if top and rank < view.top < TWO:
        return say("lower", lang, rank=shown, top=top)
    return say("unfit", lang, rank=shown)


def why_not(view: View, lang: str) -> dict[str, Any]:
    """Reasons for whatever belongs to no legal action of the seat to act, by what one may touch.

    ``hand`` and ``up`` map ranks to sentences; ``down``, ``take`` and ``chance`` are a sentence, or ``None`` where the
    thing is possible.
    """
    moved = [cards_moved(text, view.phase) for text in view.legal_texts]
    in_hand = {rank for action in moved for rank in action["hand"]}
    on_table = {rank for action in moved for rank in action["up"]}
    hand = {RANKS[r]: _why_hand(view, r, lang) for r in _held(view.hand) if RANKS[r] not in in_hand}
    up = {RANKS[r]: _why_up(view, r, lang) for r in _held(view.up()) if RANKS[r] not in on_table}
    verbs = {action["verb"] for action in moved}
    return {
        "hand": hand,
        "up": up,
        "down": None if "flip" in verbs else say("swap_first" if view.phase == "swap" else "down_later", lang),
        "take": None if "take" in view.legal_texts else _why_take(view, "take" in verbs, lang),
        "chance": None if "chance" in verbs else _why_chance(view, lang),
    }


def _why_hand(view: View, rank: int, lang: str) -> str:
    if view.phase == "swap":
        return say("swap_same" if view.exchanges else "swap_none", lang)
    return why_not_laid(view, rank, lang)


def _why_up(view: View, rank: int, lang: str) -> str:
    if view.phase == "swap":
        return say("swap_same" if view.exchanges else "swap_none", lang)
    return why_not_laid(view, rank, lang) if view.phase == "up" else say("up_later", lang)


def _why_take(view: View, with_card: bool, lang: str) -> str:
    if view.phase == "swap":
        return say("swap_first", lang)
    if view.phase == "down":
        return say("take_down", lang)
    if with_card:
        return say("take_which", lang)
    return say("take_opening" if view.opening else "take_empty", lang)


def _why_chance(view: View, lang: str) -> str:
    if not view.rules.chance:
        return say("chance_rule", lang)
    if view.phase == "swap":
        return say("swap_first", lang)
    if view.opening:
        return say("chance_opening", lang)
    return say("chance_stock" if view.stock_size == 0 else "chance_zone", lang)
