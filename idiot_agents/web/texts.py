"""The server's own sentences for the page, in Norwegian (bokmål) and English."""

from __future__ import annotations

from idiot_env.words import check_lang

TEXTS: dict[str, dict[str, str]] = {
    "no": {
        # why something cannot be done
        "other_turn": "Det er {name} sin tur.",
        "over": "Spillet er slutt.",
        "not_started": "Spillet har ikke begynt: alle plasser må være tatt, eller verten må starte.",
        "stale": "Det er noe nytt på bordet siden du valgte. Velg igjen.",
        "illegal": "Det går ikke nå: {action}.",
        "watching": "Du ser på, og kan ikke spille.",
        "lower": "{rank} er lavere enn {top} øverst.",
        "seven_low": "På en sjuer må kortet være lavere enn 7, og det er ikke {rank}.",
        "seven_same": "På en sjuer må kortet være lavere enn 7: en ny sjuer passer ikke.",
        "ten_on": "{rank} passer bare på tom bunke, en toer eller et kort under ti; øverst ligger {top}.",
        "last_two": "Ved dette bordet kan det siste kortet ikke være en toer.",
        "opening": "Det første utspillet er den laveste valøren på hånden: {rank}.",
        "unfit": "{rank} kan ikke legges nå.",
        "swap_same": "Like kort byttes ikke mot hverandre.",
        "swap_none": "Du kan ikke bytte mer: si at du er ferdig.",
        "swap_first": "Først byttes kort.",
        "up_later": "De åpne kortene spilles når hånden er tom.",
        "down_later": "De skjulte kortene snus når både hånden og de åpne kortene er borte.",
        "take_empty": "Bunken er tom.",
        "take_which": "Velg det åpne kortet som skal med når du tar bunken.",
        "take_down": "Nå snur du et skjult kort; bunken tas bare hvis kortet ikke passer.",
        "take_opening": "Det første som skjer, er åpningsutspillet.",
        "chance_stock": "Stokken er tom.",
        "chance_zone": "En sjanse tas bare når du spiller fra hånden.",
        "chance_rule": "Ved dette bordet tas ingen sjanser: stokken er til å trekke fra.",
        "chance_opening": "Det første som skjer, er åpningsutspillet.",
        # the table
        "six_hand": "Seks kort på hånden går bare opp for høyst {most} spillere: kortstokken har {deck} kort.",
        "two_losers": "To idioter krever minst tre spillere.",
        "drew": "Du trakk {cards}.",
        "begins": "{name} begynner.",
        "you_begin": "Du begynner.",
        "came": "{name} er ved bordet.",
        "left": "{name} er borte.",
        "stands_in": "{agent} spiller for {name} til {name} er tilbake.",
        "trouble": "{name} fikk ikke bestemt seg på grunn av en feil; {agent} valgte denne gangen.",
        "person": "spiller",
        # refusals
        "no_table": "Dette bordet finnes ikke lenger.",
        "no_seat": "Denne lenken gir ingen plass ved bordet.",
        "no_free_seat": "Alle plasser ved bordet er tatt.",
        "full": "Det er for mange bord nå: avslutt et, eller prøv igjen senere.",
        "not_over": "Partiet kan lagres når det er slutt: det viser alle kortene.",
        "no_model": "Ingen modell er med, så ingen kan si hva den tror.",
        "no_answer": "Modellen kunne ikke svare på grunn av en feil.",
        "failed": "Noe gikk galt på serveren. Loggen der sier hva.",
        "no_guests": "Andre mennesker kan bare være med når serveren er startet med --host.",
        "too_fast": "Det kom for mange meldinger på en gang.",
    },
    "en": {
        "other_turn": "It is {name}'s turn.",
        "over": "The game is over.",
        "not_started": "The game has not begun: every seat must be taken, or the host must start it.",
        "stale": "Something has changed on the table since you chose. Choose again.",
        "illegal": "That is not possible now: {action}.",
        "watching": "You are watching and cannot play.",
        "lower": "{rank} is lower than the {top} on top.",
        "seven_low": "On a seven the card must be lower than 7, and {rank} is not.",
        "seven_same": "On a seven the card must be lower than 7: another seven does not fit.",
        "ten_on": "{rank} fits only an empty pile, a two or a card below ten; on top lies {top}.",
        "last_two": "At this table the last card may not be a two.",
        "opening": "The first play is the lowest rank in your hand: {rank}.",
        "unfit": "{rank} cannot be laid now.",
        "swap_same": "Equal cards are not exchanged.",
        "swap_none": "You cannot exchange more: say that you are done.",
        "swap_first": "Cards are exchanged first.",
        "up_later": "Face-up cards are played when the hand is empty.",
        "down_later": "Face-down cards are turned when both the hand and the face-up cards are gone.",
        "take_empty": "The pile is empty.",
        "take_which": "Choose the face-up card that goes along when you take the pile.",
        "take_down": "You turn a face-down card now; the pile is taken only if it does not fit.",
        "take_opening": "The opening play comes first.",
        "chance_stock": "The stock is empty.",
        "chance_zone": "A chance is taken only when you play from the hand.",
        "chance_rule": "No chances are taken at this table: the stock is for drawing.",
        "chance_opening": "The opening play comes first.",
        "six_hand": "Six cards in hand work for at most {most} players: the deck has {deck} cards.",
        "two_losers": "Two idiots need at least three players.",
        "drew": "You drew {cards}.",
        "begins": "{name} begins.",
        "you_begin": "You begin.",
        "came": "{name} is at the table.",
        "left": "{name} is away.",
        "stands_in": "{agent} plays for {name} until {name} is back.",
        "trouble": "{name} could not decide because of an error; {agent} chose this once.",
        "person": "player",
        "no_table": "This table does not exist any more.",
        "no_seat": "This link gives no seat at the table.",
        "no_free_seat": "Every seat at the table is taken.",
        "full": "There are too many tables now: end one, or try again later.",
        "not_over": "The game can be saved when it is over: it shows all cards.",
        "no_model": "There is no model, so nobody can say what it thinks.",
        "no_answer": "The model could not answer because of an error.",
        "failed": "Something went wrong on the server. Its log says what.",
        "no_guests": "Other people can join only where the server was started with --host.",
        "too_fast": "Too many messages came at once.",
    },
}
"""Sentences by language; both languages have the same keys."""


def say(key: str, lang: str, **values: object) -> str:
    """One sentence, with its values filled in."""
    return TEXTS[check_lang(lang)][key].format(**values)


class Refused(Exception):
    """A request that changes nothing; ``sentence`` tells a person why, in their language."""

    def __init__(self, key: str, status: int = 409, **values: object) -> None:
        super().__init__(key)
        self.key, self.status, self.values = key, status, values

    def sentence(self, lang: str) -> str:
        return say(self.key, lang, **self.values)
