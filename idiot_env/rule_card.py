"""The rule card: all rules of one table, numbered, for somebody who has never played.

The text is put together from the options and mentions only what applies at the table in question; its numbers
count what is there, and are not those of ``rules.py``.  One function a language, one paragraph a subject, in
the order in which a newcomer meets them.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill

from idiot_env.rules import MAX_PLAYERS, Rules
from idiot_env.words import check_lang


def rule_card(rules: Rules, lang: str, width: int = 88) -> str:
    """The complete rules of a table as numbered paragraphs of plain text.

    Raises:
        ValueError: for an unknown language.
    """
    paragraphs = list((_norwegian if check_lang(lang) == "no" else _english)(rules))
    title = f"Idiot: reglene ved bordet «{rules}»" if lang == "no" else f'Idiot: the rules of the table "{rules}"'
    numbered = [
        fill(
            f"{number:>2}. {text}",
            width,
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for number, text in enumerate(paragraphs, 1)
    ]
    return "\n".join([title, "", *numbered])


def max_players(rules: Rules) -> int:
    """How many the table seats at most."""
    return min(MAX_PLAYERS, (52 + rules.jokers) // (6 + rules.hand_size))


def min_players(rules: Rules) -> int:
    """How many the table needs."""
    return rules.losers + 1


def _english(rules: Rules) -> Iterator[str]:
    swaps, jokers = rules.swap != "never", rules.jokers > 0
    burners = "tens and jokers" if jokers else "tens"
    a_burner = "a ten or a joker" if jokers else "a ten"
    specials = "2, 10 and joker have powers of their own" if jokers else "2 and 10 have powers of their own"
    low_order = "3 4 5 6 7 8 9 10 J Q K A, then 2" + (", then joker" if jokers else "")

    if rules.losers == 1:
        yield (
            "Aim: be rid of all your cards. There is no winner to speak of, but the last one with cards is the idiot."
        )
    else:
        yield "Aim: be rid of all your cards. The last two players with cards are both idiots."
    deck = "an ordinary deck of 52 cards and two jokers" if jokers else "an ordinary deck of 52 cards"
    yield (
        f"Cards: {deck}, for {min_players(rules)} to {max_players(rules)} players. From low to high "
        "the ranks are "
        f"3 4 5 6 7 8 9 10 J Q K A; {specials}. Suits mean nothing."
    )
    hand = "three" if rules.hand_size == 3 else "six"
    yield (
        "Deal: one card at a time, starting at the dealer's left. Each player gets three face-down "
        "cards in a row, which "
        f"nobody may look at, then three face-up cards, then {hand} cards in hand. What is left is the stock."
    )
    if swaps:
        yield (
            "Exchange: before the start, one player after another from the dealer's left may trade "
            "hand cards for their "
            "own face-up cards, one for one and at most three times. Trading a rank for itself is "
            "pointless and not done."
        )
    if rules.swap == "anytime":
        yield (
            "Later, too: on your own turn, while you play from the hand and before you do anything "
            "else, you may trade in "
            "the same way, as many times as you have face-up cards when the turn begins."
            + (" This waits until the opening play has been made." if rules.opening == "lowest" else "")
        )
    yield "Who starts: " + _starter_en(rules, low_order, swaps)
    if rules.opening == "lowest":
        yield (
            "The opening: the starter must begin with the lowest rank in hand, one or more cards of "
            "it; nothing else is "
            "allowed before that."
        )
    yield (
        "Turns go clockwise. If your turn begins with cards in hand, you play from the hand for that "
        "whole turn. With an "
        "empty hand you play from your face-up cards, and only when those are gone, too, from the "
        "face-down ones."
    )
    yield (
        "Laying: put one card, or several of the same rank, on the pile. "
        "On an empty pile or on a 2 any rank may be laid. Otherwise yours must be as high as the top "
        "card or higher. "
        + (
            f"A 2 may be laid on everything. {burners.capitalize()} may be laid on everything as well."
            if rules.ten_on == "any"
            else f"A 2 may be laid on everything, but {burners} only on an empty pile, a 2, or a card below ten."
        )
        + (" Tens and jokers are never laid together." if jokers else "")
    )
    if rules.seven_low:
        yield (
            "Sevens turn the order round: on a 7, an ordinary card must be lower than 7, and another "
            "7 is not allowed. "
            f"A 2 fits, and so {'do tens and jokers' if jokers else 'does a ten'}."
        )
    yield (
        "Drawing: after laying, you fill your hand up to three cards from the stock, for as long as "
        "it lasts. "
        "With three or more cards in hand you draw nothing."
    )
    yield (
        f"Burning: {a_burner} removes the whole pile from the game, itself included, and so do four "
        "cards of one rank on "
        "top of each other, no matter who laid them or when. Whoever burns the pile fills up the hand "
        "and has another turn."
    )
    if rules.after_two == "again":
        yield (
            "Twos: whoever lays a 2 fills up the hand and has another turn; the pile stays, and anything fits on it."
        )
    else:
        yield "Twos: a 2 starts the order afresh. The pile stays, and the next player may lay anything on it."
    if rules.runs:
        yield (
            "Runs: three or more ordinary cards of neighbouring ranks, one of each, may be laid at "
            "once if the lowest of "
            f"them fits. 9 and J are neighbours; 2, 10{' and jokers' if jokers else ''} belong to no "
            "run. The highest "
            "card ends on top and counts as the only one of its rank there, so a run never burns the pile"
            + (" and never skips anybody." if rules.skip_same else ".")
        )
    if rules.sneak_three:
        yield (
            "Sneaking: from the hand or the face-up cards, any number of threes may be slipped under "
            "the pile instead, "
            "whatever lies on top, unless the pile is empty. The top card stays what it was and the "
            "turn passes on. "
            "Where the whole pile is threes, they count together, and four of them burn."
        )
    if rules.chance:
        yield (
            "Taking a chance: on a turn from the hand, while there is a stock, you may turn its top "
            "card instead of "
            "choosing one, even when you could lay something. If it fits, it counts as laid by you. "
            "If it does not, you "
            "take it and the whole pile into your hand."
        )
    if rules.stack:
        yield (
            "Stacking: on a turn from the hand, before laying, you may move hand cards onto your own "
            "face-up cards of the "
            "same rank, as often as you like, and draw one from the stock each time you have fewer "
            "than three left. The "
            "hand may not become empty by it."
            + (" It has to wait until the opening play has been made." if rules.opening == "lowest" else "")
        )
    if rules.skip_same:
        yield (
            "Skipping: whoever lays the same rank as the top card makes the next player miss a turn, "
            "unless the pile burns " + ("or a 2 gives another turn." if rules.after_two == "again" else "by it.")
        )
    empty = ""
    if rules.last_two != "allowed":
        empty = " On an empty pile you may pass in this way only when nothing you have may be laid."
    yield (
        "Taking the pile: if you cannot or will not lay anything, you take the whole pile into your "
        "hand. You draw "
        f"nothing, your turn is over, and the next player lays whatever they like.{empty}"
    )
    if rules.face_up_take == "with_card":
        yield (
            "Taking from the face-up cards costs one of them: you choose it, add it to the pile "
            "(where it burns nothing) "
            "and take everything into your hand."
        )
    else:
        yield "Taking the pile while you play from the face-up cards leaves them all where they are."
    yield (
        "Face-down cards: choose one and turn it onto the pile without having seen it. If it fits, it "
        "counts like any card "
        "you lay. If not, you take it and the pile. There is no other way to take the pile here, and "
        "you come back to the "
        "cards on the table once the hand is empty again."
    )
    if rules.last_two == "forbidden":
        yield (
            "No two at the end: nobody may lay twos that would leave them without a single card, and "
            "a very last face-down "
            "card that turns out to be a 2 does not fit."
        )
    elif rules.last_two == "blind_only":
        yield (
            "No two at the end: nobody may lay twos that would leave them without a single card. Only "
            "a last face-down card "
            "may be a 2."
        )
    yield (
        "Going out: without a card in hand or on the table you are out, and the others go on without "
        "you. An extra turn "
        "that you would have had goes to the next player."
    )
    if rules.losers == 1:
        yield "The end: as soon as only one player has cards, the game is over, and that player is the idiot."
    else:
        yield ("The end: as soon as only two players have cards, the game is over, and both of them are idiots.")
    yield (
        "Open and secret: everybody sees the face-up cards, the pile and how many cards each player "
        "has, and may remember "
        "which cards were burned or were taken into a hand. Nobody knows the face-down cards and the stock."
    )


def _starter_en(rules: Rules, low_order: str, swaps: bool) -> str:
    after = ", after the exchange," if swaps else ""
    if rules.starter == "left_of_dealer":
        return "the player to the dealer's left."
    if rules.starter == "first_three":
        return (
            "the player who was first dealt a face-up 3"
            + (", whatever was exchanged since" if swaps else "")
            + f". If there was none, the player nearest the dealer's left with a 3 in hand{after} "
            "starts. If nobody has "
            f"one there either, look for a 4 in the same way, and so on in the order {low_order}."
        )
    text = f"the player with the lowest card in hand{after} in the order {low_order}. "
    return (
        text
        + {
            "nearest_left": "If several have it, the one of them nearest the dealer's left starts.",
            "most_low": (
                "If several have it, their hands are compared card by card from the lowest up, and "
                "the lower hand starts; if "
                "those are alike, too, the one nearest the dealer's left."
            ),
            "left_of_dealer": "If several have it, the player to the dealer's left starts, whether "
            "they have it or not.",
        }[rules.starter_tie]
    )


def _norwegian(rules: Rules) -> Iterator[str]:
    swaps, jokers = rules.swap != "never", rules.jokers > 0
    burners = "tiere og jokere" if jokers else "tiere"
    a_burner = "en tier eller en joker" if jokers else "en tier"
    specials = "2, 10 og joker har egne krefter" if jokers else "2 og 10 har egne krefter"
    low_order = "3 4 5 6 7 8 9 10 J Q K A, så 2" + (", så joker" if jokers else "")

    if rules.losers == 1:
        yield (
            "Mål: bli kvitt alle kortene. Det kåres ingen vinner, men den som sitter igjen med kort "
            "til slutt, er idioten."
        )
    else:
        yield "Mål: bli kvitt alle kortene. De to som sitter igjen med kort til slutt, er idioter begge to."
    deck = "en vanlig kortstokk med 52 kort og to jokere" if jokers else "en vanlig kortstokk med 52 kort"
    yield (
        f"Kort: {deck}, for {min_players(rules)} til {max_players(rules)} spillere. Fra lav til høy er "
        "valørene "
        f"3 4 5 6 7 8 9 10 J (knekt) Q (dame) K (konge) A (ess); {specials}. Farge betyr ingenting."
    )
    hand = "tre" if rules.hand_size == 3 else "seks"
    yield (
        "Utdeling: ett kort om gangen, fra giverens venstre side. Alle får tre skjulte kort på rad, "
        "som ingen får se på, "
        f"så tre åpne kort og så {hand} kort på hånden. Det som er igjen, er stokken."
    )
    if swaps:
        yield (
            "Bytting: før start kan spillerne etter tur, fra giverens venstre side, bytte kort på "
            "hånden mot sine egne åpne "
            "kort, ett mot ett og høyst tre ganger. Like kort byttes ikke mot hverandre."
        )
    if rules.swap == "anytime":
        yield (
            "Også senere: på din egen tur, når du spiller fra hånden og før du gjør noe annet, kan du "
            "bytte på samme måte, "
            "så mange ganger som du har åpne kort når turen begynner."
            + (" Dette må vente til åpningsutspillet er gjort." if rules.opening == "lowest" else "")
        )
    yield "Hvem begynner: " + _starter_no(rules, low_order, swaps)
    if rules.opening == "lowest":
        yield (
            "Åpningen: den som begynner, må legge den laveste valøren på hånden, ett eller flere kort "
            "av den. Ingenting "
            "annet er lov før det er gjort."
        )
    yield (
        "Turen går med klokka. Har du kort på hånden når turen din begynner, spiller du fra hånden "
        "hele den turen. Er hånden "
        "tom, spiller du de åpne kortene, og først når de også er borte, de skjulte."
    )
    yield (
        "Å legge: legg ett kort, eller flere med samme valør, på bunken. "
        "På tom bunke og på en toer passer alt. Ellers må kortet ditt være minst like høyt som det øverste. "
        + (
            f"En toer kan legges på alt, og det kan {burners} også."
            if rules.ten_on == "any"
            else f"En toer kan legges på alt, men {burners} bare på tom bunke, en toer eller et kort under ti."
        )
        + (" Tiere og jokere legges aldri sammen." if jokers else "")
    )
    if rules.seven_low:
        yield (
            "Sjuere snur rekkefølgen: på en sjuer må et vanlig kort være lavere enn sju, og en ny "
            "sjuer er ikke lov. "
            f"Toere passer som ellers, og det gjør {burners} også."
        )
    yield (
        "Trekking: når du har lagt, fyller du hånden opp til tre kort fra stokken, så lenge den "
        "varer. Har du tre eller "
        "flere, trekker du ikke."
    )
    yield (
        f"Brenning: {a_burner} tar hele bunken ut av spillet, seg selv medregnet. Det gjør også fire "
        "kort av samme valør oppå "
        "hverandre, uansett hvem som la dem og når. Den som brenner bunken, fyller opp hånden og har "
        "en tur til."
    )
    if rules.after_two == "again":
        yield (
            "Toere: den som legger en toer, fyller opp hånden og har en tur til. Bunken blir "
            "liggende, og alt passer på den."
        )
    else:
        yield (
            "Toere: en toer begynner rekkefølgen på nytt. Bunken blir liggende, og neste spiller kan "
            "legge hva som helst."
        )
    if rules.runs:
        yield (
            "Rekker: tre eller flere vanlige kort med nabovalører, ett av hver, kan legges på en gang "
            "hvis det laveste "
            f"passer. 9 og J er naboer; 2, 10{' og jokere' if jokers else ''} er ikke med i noen "
            "rekke. Det høyeste kortet "
            "havner øverst og regnes som det eneste av sin valør der, så en rekke brenner aldri bunken"
            + (" og hopper aldri over noen." if rules.skip_same else ".")
        )
    if rules.sneak_three:
        yield (
            "Sniking: fra hånden eller de åpne kortene kan treere, så mange du vil, i stedet snikes "
            "inn under bunken, uansett "
            "hva som ligger øverst, men ikke når den er tom. Toppkortet er det samme som før, og "
            "turen går videre. Er hele "
            "bunken treere, regnes de sammen, og fire brenner."
        )
    if rules.chance:
        yield (
            "Sjanse: på en tur fra hånden, så lenge stokken varer, kan du snu det øverste kortet i "
            "stokken i stedet for å "
            "velge et selv, også når du kunne ha lagt noe. Passer det, gjelder det som lagt av deg. "
            "Passer det ikke, tar du "
            "det og hele bunken på hånden."
        )
    if rules.stack:
        yield (
            "Stabling: på en tur fra hånden, før du legger, kan du flytte kort fra hånden oppå dine "
            "egne åpne kort av samme "
            "valør, så mange ganger du vil. Du trekker ett kort fra stokken hver gang du har færre "
            "enn tre igjen. Hånden kan "
            "ikke bli tom av det."
            + (" Det må vente til åpningsutspillet er gjort." if rules.opening == "lowest" else "")
        )
    if rules.skip_same:
        yield (
            "Hopping: den som legger samme valør som toppkortet, får neste spiller til å miste turen, "
            + (
                "om ikke bunken brenner eller en toer gir ny tur."
                if rules.after_two == "again"
                else "om ikke bunken brenner."
            )
        )
    empty = ""
    if rules.last_two != "allowed":
        empty = " Er bunken tom, kan du stå over på denne måten bare når ingenting du har, kan legges."
    yield (
        "Å ta bunken: kan eller vil du ikke legge noe, tar du hele bunken på hånden. Du trekker ikke, "
        "turen din er over, og "
        f"neste spiller legger hva som helst.{empty}"
    )
    if rules.face_up_take == "with_card":
        yield (
            "Å ta bunken når du spiller de åpne kortene, koster et av dem: du velger ett, legger det "
            "i bunken (der det ikke "
            "brenner noe) og tar alt sammen på hånden."
        )
    else:
        yield "Tar du bunken når du spiller de åpne kortene, blir de liggende alle sammen."
    yield (
        "Skjulte kort: velg ett og snu det på bunken uten å ha sett det. Passer det, virker det som "
        "et kort du legger. Passer "
        "det ikke, tar du det og bunken på hånden. På annen måte kan bunken ikke tas her. Bordkortene "
        "kommer du tilbake til "
        "når hånden er tom igjen."
    )
    if rules.last_two == "forbidden":
        yield (
            "Ingen toer til slutt: ingen kan legge toere som ville gjort dem helt tomme for kort, og "
            "er det aller siste "
            "skjulte kortet en toer, passer den ikke."
        )
    elif rules.last_two == "blind_only":
        yield (
            "Ingen toer til slutt: ingen kan legge toere som ville gjort dem helt tomme for kort. "
            "Bare når det siste skjulte "
            "kortet snus, kan det være en toer."
        )
    yield (
        "Å gå ut: uten kort på hånden og på bordet er du ute, og de andre spiller videre. En ekstra "
        "tur du skulle hatt, går "
        "til neste spiller."
    )
    if rules.losers == 1:
        yield "Slutt: så snart bare én spiller har kort, er spillet over, og den spilleren er idioten."
    else:
        yield "Slutt: så snart bare to spillere har kort, er spillet over, og begge er idioter."
    yield (
        "Åpent og hemmelig: alle ser de åpne kortene, bunken og hvor mange kort hver spiller har, og "
        "kan huske hvilke kort som "
        "er brent eller tatt opp på en hånd. Ingen kjenner de skjulte kortene eller stokken."
    )


def _starter_no(rules: Rules, low_order: str, swaps: bool) -> str:
    after = " etter byttingen" if swaps else ""
    if rules.starter == "left_of_dealer":
        return "spilleren til venstre for giveren."
    if rules.starter == "first_three":
        return (
            "den som først fikk delt ut en åpen treer"
            + (", uansett hva som er byttet siden" if swaps else "")
            + ". Var det ingen, begynner den nærmest giverens venstre side som har en treer på "
            f"hånden{after}. Har ingen det "
            f"heller, leter dere etter en firer på samme måte, og så videre i rekkefølgen {low_order}."
        )
    text = f"den som har det laveste kortet på hånden{after}, i rekkefølgen {low_order}. "
    return (
        text
        + {
            "nearest_left": "Har flere det, begynner den av dem som sitter nærmest giverens venstre side.",
            "most_low": (
                "Har flere det, sammenlignes hendene deres kort for kort nedenfra, og den lavere "
                "hånden begynner; er de også like, "
                "den nærmest giverens venstre side."
            ),
            "left_of_dealer": "Har flere det, begynner spilleren til venstre for giveren, enten hun "
            "har det eller ikke.",
        }[rules.starter_tie]
    )


__all__ = ["max_players", "min_players", "rule_card"]
