"""The words of the game in Norwegian (bokmål) and English: cards, zones, actions, events and options.

===================  ========================================================================================
function             answers
===================  ========================================================================================
``word``             one short word of the table ``WORDS``: ``word("pile", "no")``
``rank_word``        a rank in words: ``treer``, ``sixes``
``counted``          some cards of a rank: ``to seksere``, ``an ace``
``action_sentence``  what an action would do
``event_sentence``   what an action did, as everybody at the table saw it
``option_line``      what one value of one option means
===================  ========================================================================================

Pure functions of text; no rule is decided here.  The rules of a whole table are told by ``rule_card.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from idiot_env.actions import parse_action
from idiot_env.cards import JOKER, RANKS, TEN, TWO
from idiot_env.events import Event
from idiot_env.rules import OPTIONS, value_text

LANGUAGES = ("no", "en")

WORDS: dict[str, dict[str, str]] = {
    "no": {
        "you": "du",
        "player": "spiller",
        "players": "spillere",
        "seat": "plass",
        "dealer": "giver",
        "table": "bord",
        "hand": "hånd",
        "face_up": "åpne kort",
        "face_down": "skjulte kort",
        "stock": "stokk",
        "pile": "bunke",
        "burned": "brent",
        "top": "øverst",
        "on_top": "øverst",
        "run": "på rad",
        "empty": "tom",
        "card": "kort",
        "cards": "kort",
        "known": "kjent",
        "unknown": "ukjent",
        "turn": "tur",
        "your_turn": "din tur",
        "last_action": "sist",
        "legal": "lovlig nå",
        "place": "plassering",
        "out": "ute",
        "idiot": "idiot",
        "over": "spillet er slutt",
        "truncated": "avbrutt uten resultat",
        "phase_swap": "bytting før start",
        "phase_hand": "spiller fra hånden",
        "phase_up": "spiller åpne kort",
        "phase_down": "snur skjulte kort",
        "phase_over": "slutt",
        "rules": "regler",
        "yes": "ja",
        "no": "nei",
    },
    "en": {
        "you": "you",
        "player": "player",
        "players": "players",
        "seat": "seat",
        "dealer": "dealer",
        "table": "table",
        "hand": "hand",
        "face_up": "face-up",
        "face_down": "face-down",
        "stock": "stock",
        "pile": "pile",
        "burned": "burned",
        "top": "top",
        "on_top": "on top",
        "run": "in a row",
        "empty": "empty",
        "card": "card",
        "cards": "cards",
        "known": "known",
        "unknown": "unknown",
        "turn": "turn",
        "your_turn": "your turn",
        "last_action": "last",
        "legal": "legal now",
        "place": "place",
        "out": "out",
        "idiot": "idiot",
        "over": "the game is over",
        "truncated": "cut off without a result",
        "phase_swap": "exchanging before the start",
        "phase_hand": "playing from the hand",
        "phase_up": "playing face-up cards",
        "phase_down": "turning face-down cards",
        "phase_over": "over",
        "rules": "rules",
        "yes": "yes",
        "no": "no",
    },
}
"""Short words by language; both languages have the same keys."""

_RANK_WORDS: dict[str, tuple[tuple[str, str], ...]] = {
    "no": (
        ("treer", "treere"), ("firer", "firere"), ("femmer", "femmere"), ("sekser", "seksere"),
        ("sjuer", "sjuere"), ("åtter", "åttere"), ("nier", "niere"), ("tier", "tiere"),
        ("knekt", "knekter"), ("dame", "damer"), ("konge", "konger"), ("ess", "ess"), ("toer", "toere"),
        ("joker", "jokere"),
    ),
    "en": (
        ("three", "threes"), ("four", "fours"), ("five", "fives"), ("six", "sixes"), ("seven", "sevens"),
        ("eight", "eights"), ("nine", "nines"), ("ten", "tens"), ("jack", "jacks"), ("queen", "queens"),
        ("king", "kings"), ("ace", "aces"), ("two", "twos"), ("joker", "jokers"),
    ),
}  # fmt: skip
_NUMBERS = {"no": ("null", "en", "to", "tre", "fire"), "en": ("no", "one", "two", "three", "four")}


def check_lang(lang: str) -> str:
    """``lang`` if it is a language of this module, else ``ValueError``."""
    if lang not in LANGUAGES:
        raise ValueError(f"unknown language {lang!r}: the languages are {', '.join(LANGUAGES)}.")
    return lang


def word(key: str, lang: str) -> str:
    """One short word of ``WORDS``."""
    return WORDS[check_lang(lang)][key]


def rank_word(rank: int | str, lang: str, count: int = 1) -> str:
    """A rank (0 … 13, or its sign such as ``"T"``) in words, in the plural unless ``count`` is 1."""
    number = RANKS.index(rank) if isinstance(rank, str) else int(rank)
    singular, plural = _RANK_WORDS[check_lang(lang)][number]
    return singular if count == 1 else plural


def counted(rank: int | str, count: int, lang: str) -> str:
    """``count`` cards of a rank: ``et ess``, ``to seksere``, ``an eight``."""
    name = rank_word(rank, lang, count)
    if count != 1:
        return f"{_NUMBERS[lang][count]} {name}"
    if lang == "no":
        return ("et " if name == "ess" else "en ") + name
    return ("an " if name in ("ace", "eight") else "a ") + name


def card_count(count: int, lang: str) -> str:
    """``1 card``, ``4 kort``."""
    return f"{count} {word('card' if count == 1 else 'cards', lang)}"


def spaced(ranks: str) -> str:
    """Ranks with a blank between them, the ten as a number: ``"3 3 9 10"``."""
    return " ".join("10" if rank == RANKS[TEN] else rank for rank in ranks)


def listed(parts: Sequence[str], lang: str) -> str:
    """``a, b and c``."""
    joint = " og " if check_lang(lang) == "no" else " and "
    return joint.join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


# --- what an action would do --------------------------------------------------------------------------------


def _read(text: str) -> tuple[str, str, int]:
    """Verb, ranks and count of an action's text: ``("play", "6", 3)``, ``("swap", "4K", 1)``."""
    verb, *rest = text.split()
    if verb == "play":
        rank, _, count = rest[0].partition("x")
        return verb, rank, int(count or 1)
    if verb == "sneak":
        return verb, "3", int(rest[0][1:]) if rest else 1
    return verb, "".join(rest).replace("-", ""), 1


def action_sentence(action_text: str, lang: str) -> str:
    """What an action would do, as a phrase without a capital or a full stop.

    >>> action_sentence("play 6x3", "no")
    'legg tre seksere'

    Raises:
        ValueError: for a text that is not in the catalogue.
    """
    parse_action(action_text)
    phrase = _phrase_no if check_lang(lang) == "no" else _phrase_en
    return phrase(*_read(action_text))


def _burns_surely(rank: str, count: int) -> bool:
    """Whether a play burns the pile whatever lies there."""
    return count == 4 or rank in (RANKS[TEN], RANKS[JOKER])


def _phrase_no(verb: str, ranks: str, count: int) -> str:
    cards = [counted(rank, count, "no") for rank in ranks if verb != "flip"]
    if verb == "play":
        burns, resets = _burns_surely(ranks, count), ranks == RANKS[TWO]
        after = " og brenn bunken" if burns else ", som alt passer på" if resets else ""
        return f"legg {cards[0]}{after}"
    if verb == "take" and ranks:
        return f"legg {cards[0]} av de åpne kortene i bunken og ta alt på hånden"
    if verb == "take":
        return "ta bunken på hånden"
    if verb == "flip":
        return f"snu skjult kort nummer {ranks} uten å vite hva det er"
    if verb == "chance":
        return "ta en sjanse: snu det øverste kortet i stokken og spill det"
    if verb == "done":
        return "avslutt byttingen"
    if verb == "swap":
        return f"bytt {cards[0]} på hånden mot {cards[1]} fra bordet"
    if verb == "stack":
        return f"legg {cards[0]} fra hånden oppå et likt åpent kort"
    if verb == "sneak":
        return f"snik {cards[0]} inn under bunken"
    return f"legg rekken fra {ranks[0]} til {ranks[1]}"


def _phrase_en(verb: str, ranks: str, count: int) -> str:
    cards = [counted(rank, count, "en") for rank in ranks if verb != "flip"]
    if verb == "play":
        burns, resets = _burns_surely(ranks, count), ranks == RANKS[TWO]
        after = " and burn the pile" if burns else ", on which anything fits" if resets else ""
        return f"lay {cards[0]}{after}"
    if verb == "take" and ranks:
        return f"put {cards[0]} of your face-up cards on the pile and take it all into your hand"
    if verb == "take":
        return "take the pile into your hand"
    if verb == "flip":
        return f"turn face-down card {ranks} without knowing what it is"
    if verb == "chance":
        return "take a chance: turn the top card of the stock and play it"
    if verb == "done":
        return "end the exchange"
    if verb == "swap":
        return f"exchange {cards[0]} in hand for {cards[1]} on the table"
    if verb == "stack":
        return f"lay {cards[0]} from your hand on a face-up card of the same rank"
    if verb == "sneak":
        return f"slip {cards[0]} under the pile"
    return f"lay the run from {ranks[0]} to {ranks[1]}"


# --- what an action did -------------------------------------------------------------------------------------


def event_sentence(event: Event, lang: str, names: Sequence[str], you: int | None = None) -> str:
    """What just happened, in one or a few sentences; only what everybody at the table saw.

    Args:
        names: one for each seat.
        you: the seat of the reader, who is addressed as *you* instead of by name.
    """
    teller = _Norwegian if check_lang(lang) == "no" else _English
    return teller(event, names, you).story()


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


class _Teller:
    """Puts the parts of an event in order; the languages give the words."""

    lang = ""

    def __init__(self, event: Event, names: Sequence[str], you: int | None) -> None:
        self.event = event
        self.names = names
        self.you = you
        self.verb, self.ranks, self.count = _read(event.action)
        self.who = self.name(event.seat)
        self.is_you = event.seat == you

    def name(self, seat: int) -> str:
        return word("you", self.lang) if seat == self.you else self.names[seat]

    @property
    def extra(self) -> bool:
        """An extra turn: the same player acts again after cards were laid, though nobody was skipped."""
        event = self.event
        laid = self.verb in ("play", "flip", "chance", "run", "sneak") and event.fitted
        return laid and event.again and event.skipped is None

    @property
    def laid_rank(self) -> str:
        return self.event.shown or (self.ranks if self.verb == "play" else "")

    @property
    def cards(self) -> str:
        """The cards of the action's one rank in words."""
        return counted(self.ranks, self.count, self.lang)

    @property
    def taken(self) -> str:
        """How much was taken: ``4 cards (3 3 9 10)``."""
        return f"{card_count(len(self.event.took), self.lang)} ({spaced(self.event.took)})"

    def story(self) -> str:
        event = self.event
        sentences: list[str] = []
        deeds: list[str] = []  # what the player did, to be told in one sentence
        if self.verb in ("play", "run", "sneak", "stack"):
            deeds.append(self.laying())
        else:
            sentences.append(self.main())
        if event.burned:
            if deeds:
                sentences.append(f"{self.who} {deeds.pop()}.")
            sentences.append(self.burn())
        if event.drew:
            deeds.append(self.draw())
        if event.place is not None:
            deeds.append(self.out())
        if self.extra:
            deeds.append(self.again())
        if deeds:
            sentences.append(f"{self.who} {listed(deeds, self.lang)}.")
        if event.skipped is not None:
            sentences.append(self.skip())
        return " ".join(_capital(sentence) for sentence in sentences)

    def laying(self) -> str:
        """Cards laid, without the subject."""
        raise NotImplementedError

    def main(self) -> str:
        """Any other action, as whole sentences."""
        raise NotImplementedError

    def burn(self) -> str:
        raise NotImplementedError

    def draw(self) -> str:
        raise NotImplementedError

    def out(self) -> str:
        raise NotImplementedError

    def skip(self) -> str:
        raise NotImplementedError

    def again(self) -> str:
        raise NotImplementedError


class _Norwegian(_Teller):
    lang = "no"

    @property
    def own(self) -> str:
        return "dine" if self.is_you else "sine"

    def laying(self) -> str:
        if self.verb == "play":
            source = f" fra {self.own} åpne kort" if self.event.phase == "up" else ""
            return f"legger {self.cards}{source}"
        if self.verb == "run":
            return f"legger rekken {self.ranks[0]}–{self.ranks[1]}"
        if self.verb == "sneak":
            return f"sniker {self.cards} inn under bunken"
        return f"legger {self.cards} fra hånden oppå et av {self.own} åpne kort"

    def main(self) -> str:
        event, who = self.event, self.who
        if self.verb == "take":
            return self.take()
        if self.verb == "done":
            return f"{who} er ferdig med å bytte."
        if self.verb == "swap":
            hand, table = (counted(rank, 1, "no") for rank in self.ranks)
            return f"{who} bytter {hand} på hånden mot {table} fra bordet."
        how = f"snur skjult kort {self.ranks}" if self.verb == "flip" else "tar en sjanse på stokken"
        turned = f"{who} {how} og får {counted(event.shown, 1, self.lang)}."
        it = "det" if rank_word(event.shown, self.lang) == "ess" else "den"
        if event.fitted:
            return turned if event.burned else f"{turned} {_capital(it)} passer."
        if len(event.took) == 1:
            return f"{turned} {_capital(it)} passer ikke, og {who} må ta {it} på hånden."
        return f"{turned} {_capital(it)} passer ikke, og {who} må ta {it} og hele bunken på hånden: {self.taken}."

    def take(self) -> str:
        event, who = self.event, self.who
        if not event.took:
            return f"{who} kan ikke legge noe på den tomme bunken og står over."
        if self.ranks and len(event.took) == 1:
            return f"{who} tar {self.cards} fra {self.own} åpne kort opp på hånden."
        along = f"legger {self.cards} fra {self.own} åpne kort i bunken og " if self.ranks else ""
        return f"{who} {along}tar bunken: {self.taken}."

    def burn(self) -> str:
        count = len(self.event.burned)
        why = "" if self.laid_rank in (RANKS[TEN], RANKS[JOKER]) else "fire like! "
        return f"{why}{'Kortet' if count == 1 else 'Bunken'} brenner ({card_count(count, self.lang)})."

    def draw(self) -> str:
        return f"trekker {card_count(self.event.drew, self.lang)}"

    def out(self) -> str:
        return f"er ute som nummer {self.event.place}"

    def skip(self) -> str:
        assert self.event.skipped is not None
        return f"{self.name(self.event.skipped)} blir hoppet over."

    def again(self) -> str:
        return "har en ekstra tur"


class _English(_Teller):
    lang = "en"

    @property
    def own(self) -> str:
        return "your" if self.is_you else "their"

    def s(self, stem: str, ending: str = "s") -> str:
        """A verb for the player: ``you take``, ``Anna takes``."""
        return stem if self.is_you else stem + ending

    def laying(self) -> str:
        if self.verb == "play":
            source = f" from {self.own} face-up cards" if self.event.phase == "up" else ""
            return f"{self.s('lay')} {self.cards}{source}"
        if self.verb == "run":
            return f"{self.s('lay')} the run {self.ranks[0]}–{self.ranks[1]}"
        if self.verb == "sneak":
            return f"{self.s('slip')} {self.cards} under the pile"
        return f"{self.s('lay')} {self.cards} from {self.own} hand on a face-up card of {self.own} own"

    def main(self) -> str:
        event, who = self.event, self.who
        if self.verb == "take":
            return self.take()
        if self.verb == "done":
            return f"{who} {'are' if self.is_you else 'is'} done exchanging."
        if self.verb == "swap":
            hand, table = (counted(rank, 1, "en") for rank in self.ranks)
            return f"{who} {self.s('exchange')} {hand} in hand for {table} on the table."
        how = f"{self.s('turn')} face-down card {self.ranks}"
        if self.verb == "chance":
            how = f"{self.s('take')} a chance on the stock"
        turned = f"{who} {how} and {self.s('get')} {counted(event.shown, 1, self.lang)}."
        if event.fitted:
            return turned if event.burned else f"{turned} It fits."
        if len(event.took) == 1:
            return f"{turned} It does not fit, and {who} {self.s('take')} it into {self.own} hand."
        return f"{turned} It does not fit, and {who} {self.s('take')} it with the whole pile: {self.taken}."

    def take(self) -> str:
        event, who = self.event, self.who
        if not event.took:
            return f"{who} can lay nothing on the empty pile and {self.s('pass', 'es')}."
        if self.ranks and len(event.took) == 1:
            return f"{who} {self.s('take')} {self.cards} from {self.own} face-up cards into {self.own} hand."
        along = ""
        if self.ranks:
            along = f"{self.s('put')} {self.cards} from {self.own} face-up cards on the pile and "
        return f"{who} {along}{self.s('take')} the pile: {self.taken}."

    def burn(self) -> str:
        count = len(self.event.burned)
        why = "" if self.laid_rank in (RANKS[TEN], RANKS[JOKER]) else "four of a kind! "
        return f"{why}The {'card' if count == 1 else 'pile'} burns ({card_count(count, self.lang)})."

    def draw(self) -> str:
        return f"{self.s('draw')} {card_count(self.event.drew, self.lang)}"

    def out(self) -> str:
        return f"{'are' if self.is_you else 'is'} out, in place {self.event.place}"

    def skip(self) -> str:
        seat = self.event.skipped
        assert seat is not None
        return f"{self.name(seat)} {'are' if seat == self.you else 'is'} skipped."

    def again(self) -> str:
        return f"{'have' if self.is_you else 'has'} an extra turn"


# --- options in a line --------------------------------------------------------------------------------------

_OPTION_LINES: dict[str, dict[str, dict[str, str]]] = {
    "swap": {
        "before": {
            "no": "hver spiller kan bytte hånd- og åpne kort før start",
            "en": "each player may exchange hand and face-up cards before the start",
        },
        "never": {"no": "kort byttes aldri", "en": "cards are never exchanged"},
        "anytime": {
            "no": "kort kan byttes før start og på egen tur fra hånden",
            "en": "cards may be exchanged before the start and on one's own turn from the hand",
        },
    },
    "after_two": {
        "pass": {"no": "etter en toer går turen videre", "en": "after a two the turn passes on"},
        "again": {"no": "den som legger en toer, spiller igjen", "en": "whoever lays a two has another turn"},
    },
    "ten_on": {
        "any": {"no": "en tier passer på alt", "en": "a ten fits on anything"},
        "below_ten": {
            "no": "en tier passer bare på tom bunke, en toer eller kort under ti",
            "en": "a ten fits only an empty pile, a two or a card below ten",
        },
    },
    "chance": {
        "no": {"no": "ingen sjansing fra stokken", "en": "no chance draws from the stock"},
        "yes": {
            "no": "man kan snu det øverste kortet i stokken og prøve det",
            "en": "one may turn the top card of the stock and try it",
        },
    },
    "face_up_take": {
        "with_card": {
            "no": "den som tar bunken fra åpne kort, tar et åpent kort med",
            "en": "taking the pile at the face-up cards takes one of them along",
        },
        "alone": {
            "no": "den som tar bunken fra åpne kort, lar dem ligge",
            "en": "taking the pile at the face-up cards leaves them all lying",
        },
    },
    "last_two": {
        "allowed": {"no": "siste kort kan være en toer", "en": "the last card may be a two"},
        "forbidden": {"no": "siste kort kan ikke være en toer", "en": "the last card may not be a two"},
        "blind_only": {
            "no": "siste kort kan bare være en toer når det snus blindt",
            "en": "the last card may be a two only when it is turned blind",
        },
    },
    "seven_low": {
        "no": {"no": "sjuere er vanlige kort", "en": "sevens are ordinary cards"},
        "yes": {"no": "på en sjuer må man legge lavere", "en": "on a seven one must lay lower"},
    },
    "sneak_three": {
        "no": {"no": "treere legges bare øverst", "en": "threes go on top only"},
        "yes": {"no": "treere kan snikes inn under bunken", "en": "threes may be slipped under the pile"},
    },
    "runs": {
        "no": {"no": "bare like kort legges sammen", "en": "only equal cards are laid together"},
        "yes": {
            "no": "tre eller flere kort på rad kan legges sammen",
            "en": "three or more cards in sequence may be laid together",
        },
    },
    "skip_same": {
        "no": {"no": "ingen hoppes over", "en": "nobody is skipped"},
        "yes": {
            "no": "samme valør som toppkortet hopper over neste spiller",
            "en": "laying the rank of the top card skips the next player",
        },
    },
    "stack": {
        "no": {"no": "håndkort legges ikke på åpne kort", "en": "hand cards are not laid on face-up cards"},
        "yes": {
            "no": "håndkort kan legges oppå egne åpne kort av samme valør",
            "en": "hand cards may be laid on own face-up cards of the same rank",
        },
    },
    "hand_size": {
        "3": {"no": "tre kort deles ut til hånden", "en": "three cards are dealt to the hand"},
        "6": {"no": "seks kort deles ut til hånden", "en": "six cards are dealt to the hand"},
    },
    "jokers": {
        "0": {"no": "ingen jokere", "en": "no jokers"},
        "2": {"no": "to jokere som virker som tiere", "en": "two jokers that work as tens"},
    },
    "losers": {
        "1": {"no": "den siste med kort er idioten", "en": "the last player with cards is the idiot"},
        "2": {"no": "de to siste med kort er idioter", "en": "the last two players with cards are idiots"},
    },
    "starter": {
        "first_three": {
            "no": "den første som fikk en åpen treer, begynner",
            "en": "the first who was dealt a face-up three begins",
        },
        "lowest_hand": {
            "no": "den med det laveste kortet på hånden begynner",
            "en": "the player with the lowest card in hand begins",
        },
        "left_of_dealer": {
            "no": "spilleren til venstre for giveren begynner",
            "en": "the player to the dealer's left begins",
        },
    },
    "starter_tie": {
        "nearest_left": {
            "no": "ved likt begynner den av dem som er nærmest givers venstre side",
            "en": "a tie goes to the tied player nearest the dealer's left",
        },
        "most_low": {
            "no": "ved likt sammenlignes resten av kortene på hånden",
            "en": "a tie is settled by the other cards in hand",
        },
        "left_of_dealer": {
            "no": "ved likt begynner spilleren til venstre for giveren",
            "en": "a tie lets the player to the dealer's left begin",
        },
    },
    "opening": {
        "any": {"no": "første utspill er fritt", "en": "the first play is free"},
        "lowest": {
            "no": "første utspill er den laveste valøren på hånden",
            "en": "the first play is the lowest rank in the starter's hand",
        },
    },
}


def option_line(name: str, value: str | int | bool, lang: str) -> str:
    """What one value of one option means, as a phrase without a capital or a full stop.

    Raises:
        ValueError: for an unknown option, value or language.
    """
    if name not in OPTIONS:
        raise ValueError(f"unknown option {name!r}: the options are {', '.join(OPTIONS)}.")
    lines = _OPTION_LINES[name]
    text = value_text(value)
    if text not in lines:
        raise ValueError(f"{name}={text} is not possible: {name} is one of {', '.join(lines)}.")
    return lines[text][check_lang(lang)]


__all__ = ["LANGUAGES", "action_sentence", "check_lang", "event_sentence", "option_line", "rank_word", "word"]
