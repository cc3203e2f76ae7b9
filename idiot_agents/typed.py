"""What a person types, as an action: forgiving about case, blanks, language and short forms.

==================  ===============================  ===========================================
typed               meaning                          notes
==================  ===============================  ===========================================
``6  66  6x3``      ``play 6``, ``play 6x2``, …      ``10`` is the ten; rank words work, too
``t  take  ta``     ``take``                         ``take k`` with a face-up king
``2``               ``flip 2``                       where face-down cards are turned
``4k  4 k``         ``swap 4 K``                     ``d  done  ferdig`` ends the exchange
``c  chance``       ``chance``                       ``sjanse``
``5-8``             ``run 5-8``
``s  s2  sneak``    ``sneak``, ``sneak x2``          ``snik``
``+6  stack 6``     ``stack 6``                      ``stable 6``
``#3``              the third legal action           bare ``3`` where that can be no card
==================  ===============================  ===========================================
"""

from __future__ import annotations

import re

from idiot_agents.terminal import clean
from idiot_env.actions import TEXTS
from idiot_env.cards import N_RANKS, NO_RANK, RANKS
from idiot_env.view import View
from idiot_env.words import LANGUAGES, rank_word, spaced

_LONGEST = 40
_VERBS = {
    "play": "play", "p": "play", "lay": "play", "legg": "play", "spill": "play", "l": "play",
    "take": "take", "t": "take", "ta": "take",
    "flip": "flip", "f": "flip", "turn": "flip", "snu": "flip",
    "chance": "chance", "c": "chance", "sjanse": "chance", "sjans": "chance",
    "done": "done", "d": "done", "ferdig": "done",
    "swap": "swap", "exchange": "swap", "bytt": "swap", "bytte": "swap",
    "stack": "stack", "stable": "stack", "stabel": "stack", "+": "stack",
    "sneak": "sneak", "s": "sneak", "snik": "sneak",
    "run": "run", "r": "run", "rekke": "run", "rekka": "run",
}  # fmt: skip
_RANK_OF_WORD = {
    rank_word(rank, lang, count): RANKS[rank] for lang in LANGUAGES for rank in range(N_RANKS) for count in (1, 2)
}

_TEXT = {
    "no": {
        "what": "Jeg forstår ikke {typed}. Skriv ? for å se hva du kan gjøre.",
        "turn": "Det går ikke nå: {action}. Skriv ? for å se hva du kan gjøre.",
        "lacks": "Du har ikke {cards} å legge. Skriv ? for å se hva du kan gjøre.",
        "unfit": "{cards} passer ikke på {top}. Skriv ? for å se hva du kan gjøre.",
        "unfit_now": "Du kan ikke legge {cards} nå. Skriv ? for å se hva du kan gjøre.",
        "along": "Hvilket åpent kort skal med? Skriv ett av disse: {choices}.",
        "number": "Det er ingen handling nummer {number}: de går fra 1 til {last}.",
        "swap_first": "Først byttes kort. Skriv for eksempel {example}, eller d når du er ferdig.",
        "done_only": "Først byttes kort, men du kan ikke bytte mer: skriv d når du er ferdig.",
        "flip_first": "Du snur skjulte kort nå: skriv {slots}.",
        "or": " eller ",
    },
    "en": {
        "what": "I do not understand {typed}. Type ? to see what you can do.",
        "turn": "That is not possible now: {action}. Type ? to see what you can do.",
        "lacks": "You do not have {cards} to lay. Type ? to see what you can do.",
        "unfit": "{cards} does not fit on {top}. Type ? to see what you can do.",
        "unfit_now": "You cannot lay {cards} now. Type ? to see what you can do.",
        "along": "Which face-up card goes along? Type one of these: {choices}.",
        "number": "There is no action number {number}: they go from 1 to {last}.",
        "swap_first": "Cards are exchanged first. Type {example}, for instance, or d when you are done.",
        "done_only": "Cards are exchanged first, but you cannot exchange more: type d when you are done.",
        "flip_first": "You turn face-down cards now: type {slots}.",
        "or": " or ",
    },
}


class NotAnAction(ValueError):
    """What was typed is no legal action; the message tells the person why, in their language."""


def ordered_legal(view: View) -> list[int]:
    """Legal actions in the order of the list that ``?`` shows."""
    return [int(action) for action in view.legal]


def read_action(typed: str, view: View, lang: str) -> int:
    """The legal action that a person means.

    Raises:
        NotAnAction: if it is none, or more than one.
    """
    text = _TEXT[lang]
    legal = {TEXTS[action]: action for action in ordered_legal(view)}
    words = typed.lower().split() if len(typed) <= _LONGEST else []
    if not words:
        raise NotAnAction(text["what"].format(typed=repr(clean(typed, 20))))
    compact = "".join(words)
    listed = re.fullmatch(r"[#.]\s?([0-9]+)", typed.strip(), re.ASCII)
    if listed:
        return _by_number(listed[1], view, lang)
    candidates = _candidates(words, compact, view)
    for candidate in candidates:
        if candidate in legal:
            return legal[candidate]
    if re.fullmatch(r"[0-9]+", compact, re.ASCII) and (view.phase == "swap" or not candidates):
        return _by_number(compact, view, lang)
    raise NotAnAction(_reason(candidates, typed, view, lang))


def _by_number(number: str, view: View, lang: str) -> int:
    actions = ordered_legal(view)
    if len(number) > 3 or not 1 <= int(number) <= len(actions):
        raise NotAnAction(_TEXT[lang]["number"].format(number=number[:6], last=len(actions)))
    return actions[int(number) - 1]


def _candidates(words: list[str], compact: str, view: View) -> list[str]:
    """Texts of actions that the words may stand for, the likeliest first; they need not be legal."""
    verb, rest = _VERBS.get(words[0]), words[1:]
    if compact.startswith("+"):
        verb, rest = "stack", [compact[1:]]
    elif verb is None:
        short = re.fullmatch(r"(take|ta|flip|snu|play|legg|sneak|snik|[tfpls])x?([0-9a-z*]+)", compact)
        if short and (len(_cards(short[2])) == 1 or short[2] == "1") and not _plays(compact):
            verb, rest = _VERBS[short[1]], [short[2]]
    tail = "".join(rest)
    if verb in ("chance", "done"):
        return [verb] if not tail else []
    if verb == "take":
        return _takes(tail, view)
    if verb == "flip":
        return [f"flip {tail}"] if tail in ("1", "2", "3") else []
    if verb == "swap":
        return _swaps(tail)
    if verb == "stack":
        return [f"stack {rank}" for rank, _ in _cards(tail)[:1]]
    if verb == "sneak":
        count = tail.removeprefix("x") or "1"
        return ["sneak" if count == "1" else f"sneak x{count}"] if count in ("1", "2", "3", "4") else []
    if verb == "run":
        return _runs(tail)
    if verb == "play":
        return _plays(tail)
    if view.phase == "down" and compact in ("1", "2", "3"):
        return [f"flip {compact}"]
    if view.phase == "swap":
        return _swaps(compact)
    return _plays(compact) or _runs(compact) or _swaps(compact)


def _cards(text: str) -> list[tuple[str, int]]:
    """Ranks with their counts, in the order of the text: ``66k`` is two sixes and a king; empty if it is no cards."""
    if text in _RANK_OF_WORD:
        return [(_RANK_OF_WORD[text], 1)]
    text = text.replace("10", "t").upper()
    if not text or any(char not in RANKS for char in text):
        return []
    return [(rank, text.count(rank)) for rank in dict.fromkeys(text)]


def _plays(text: str) -> list[str]:
    """``6``, ``66`` or ``6x3``: one rank, and the rank comes first."""
    times = re.fullmatch(r"(.+?)[x×]([1-4])", text)
    cards = _cards(times[1] if times else text)
    if len(cards) != 1:
        return []
    rank, count = cards[0]
    if times:
        count *= int(times[2])
    if count > 4:
        return []
    return [f"play {rank}" if count == 1 else f"play {rank}x{count}"]


def _swaps(text: str) -> list[str]:
    cards = _cards(re.sub(r"[-/,:<>]|for|mot", "", text))
    if len(cards) != 2 or any(count > 1 for _, count in cards):
        return []
    return [f"swap {cards[0][0]} {cards[1][0]}"]


def _runs(text: str) -> list[str]:
    low, dash, high = text.replace("–", "-").partition("-")
    ends = _cards(low) + _cards(high)
    return [f"run {ends[0][0]}-{ends[1][0]}"] if dash and len(ends) == 2 else []


def _takes(tail: str, view: View) -> list[str]:
    if tail:
        return [f"take {rank}" for rank, _ in _cards(tail)[:1]]
    ways = [text for text in view.legal_texts if text.startswith("take")]
    return ways if len(ways) == 1 else ["take"]


def _reason(candidates: list[str], typed: str, view: View, lang: str) -> str:
    """Why what was typed is not possible, as exactly as a newcomer needs it."""
    text = _TEXT[lang]
    legal = view.legal_texts
    if view.phase == "swap":
        swaps = [action.removeprefix("swap ") for action in legal if action.startswith("swap")]
        return text["swap_first"].format(example=swaps[0].lower()) if swaps else text["done_only"]
    if view.phase == "down":
        slots = [action.removeprefix("flip ") for action in legal]
        return text["flip_first"].format(slots=text["or"].join(slots))
    if not candidates:
        return text["what"].format(typed=repr(clean(typed, 20)))
    verb, _, rest = candidates[0].partition(" ")
    choices = [action for action in legal if action.startswith("take ")]
    if verb == "take" and choices:
        return text["along"].format(choices=", ".join(choices).lower())
    if verb == "play":
        rank, _, times = rest.partition("x")
        count = int(times or 1)
        mine = view.hand if view.phase == "hand" else view.up()
        cards = spaced(rank * count)
        if mine[RANKS.index(rank)] < count:
            return text["lacks"].format(cards=cards)
        if view.top != NO_RANK:
            return text["unfit"].format(cards=cards, top=spaced(RANKS[view.top]))
        return text["unfit_now"].format(cards=cards)
    return text["turn"].format(action=candidates[0])
