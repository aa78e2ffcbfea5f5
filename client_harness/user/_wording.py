"""What the words of a question and of an answer's phrases have in common, those aside that say
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from client_harness.user._values import bases, plain, tokens, words

GENERIC = words(
    "one ones of the these those two three them option options person thing exactly ever else both"
    " a an which kind sort precisely then number letter"
    " lady man guy woman fellow friend party side now next"
    " your my call choice decision pick preference verdict wish take opinion way route"
)
FILLER = words(
    "a an the and or but so if whether to of for in on at by with from as about into up out be "
    "is are was were am been being do does did have has had will would should shall can could "
    "may might must i i'd i'll i'm i've me my you you'd you'll you've your we us our it that "
    "this them those these they there here he him his she her one ones both either which what "
    "who whom whose when where why how please kindly just then now first before until once let "
    "know tell say confirm confirmation clarify advise choose select pick decide reply respond "
    "answer go ahead proceed continue wait waiting hold need want like prefer wish mean meant "
    "okay ok fine right correct alright all good go-ahead word sure certain yes no not instead "
    "way next think thing things option options happy approve approval don't didn't isn't "
    "haven't done anything hear back handle deal work sound agree make sense use send pay book "
    "forward move write it's that's following below above two question questions quick call "
    "decision input response instruction instructions further any action more exactly really "
    "still also off holding pausing paused stopped standing awaiting pending unless object "
    "objection objections number letter give given gives press button hit pull trigger "
    "permission consent blessing choice preference say-so nod verdict selection pick picks "
    "allow allowed mind green light help concur suggestion suggestions idea ideas wishes minds "
    "needed required missing input action look agreed wrong specify any assume assumption "
    "suppose guess thinking track choosing thumbs up yay nay payment transfer transaction "
    "release submit email mail message otherwise stop thoughts steps try find some check look"
)


def unknown(thing: str, known: set[str]) -> bool:
    """Return whether a thing has a name of its own, of which no word is known."""
    name = [word for word in tokens(thing) if word not in FILLER | GENERIC]
    return bool(name) and not bases(name) & known


def asks_with(word: str, phrases: Iterable[str]) -> bool:
    """Return whether a phrase names a question word itself, as "when|where rehearsal"."""
    return any(word in phrase.split()[0].casefold().split("|") for phrase in phrases)


def holds(words: set[str], phrases: Iterable[str]) -> bool:
    """Return whether words hold all the words of one of the phrases."""
    for phrase in phrases:
        parts = plain(phrase).casefold().split()
        if all(words & bases(part.split("|")) for part in parts):
            return True
    return False
