"""Stage three: the texts of a target, from the phrase banks, for all six kinds."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from scenarios.haystack.generation import bank
from scenarios.haystack.generation.bank import Rival, Voice, Words
from scenarios.haystack.generation.grounding import Grounded, filled

_PIECE = re.compile(r"<(v|s)(?:\.(\w+))?>")
_BEGIN = re.compile(r"(^|[.?!]\s+)([a-z])")
_ENDS = (".", "?", "!", ":", '."', '?"')
_ERRAND = 0.25
"""How often a needle also asks for something small."""


def target(grounded: Grounded, seed: str) -> dict[str, Any]:
    """Return a target as its file holds it."""
    raw = _Wording(grounded, seed).target()
    _prune(raw)
    return raw


class _Wording:
    """Words one target. Whatever it draws depends on a seed."""

    def __init__(self, grounded: Grounded, seed: str) -> None:
        self.grounded = grounded
        self.frame = grounded.frame
        self.words: Words = self.frame.words[grounded.person]
        self.voice: Voice = bank.voice(grounded.person)
        self.chance = Random(f"words/{grounded.person}/{grounded.chain.tool}/{seed}")
        self._spoken: set[str] = set()

    def target(self) -> dict[str, Any]:
        """Return the whole target."""
        frame = self.frame
        services = [self.grounded.chain.service]
        raw: dict[str, Any] = {
            "generated": True,
            "title": self._drawn(frame.title),
            "about": self._drawn(frame.about),
            "services": services,
            "pieces": {name: [*several] for name, several in self.grounded.pieces.items()},
            "needed": dict(self.grounded.needed),
            "oracle": [*self.grounded.oracle, {"say": self._put(frame.done)}],
        }
        if frame.must is not None and frame.claim is not None:
            raw["statements"] = [self._statement(frame.must, frame.claim)]
            raw["statements"] += [self._deep(one) for one in frame.more]
        if self.grounded.dictated:
            raw["change"] = {"dictated": [*self.grounded.dictated]}
        raw["answers"] = self._answers()
        raw["kinds"] = dict(self._kinds())
        return raw

    def _statement(self, must: str, claim: dict[str, Any]) -> dict[str, Any]:
        made = {"name": "done", "must": self._put(must), "claim": self._deep(claim)}
        if self.grounded.tables:
            made["holds"] = f"len(added.{self.grounded.tables[0]}) > 0"
        return made

    def _answers(self) -> dict[str, Any]:
        frame = self.frame
        asked = {
            frame.main: (frame.asked, frame.answer, "v"),
            frame.side: (frame.side_asked, frame.side_answer, "s"),
        }
        answers = {}
        for piece, (known, answer, mark) in asked.items():
            forms = [f"<{mark}>"]
            if "dollars" in self.grounded.pieces[piece][0]:
                forms.append(f"<{mark}.dollars>")
            elif "clock" in self.grounded.pieces[piece][0]:
                forms.append(f"<{mark}.clock>")
            elif "said" in self.grounded.pieces[piece][0]:
                forms.append(f"<{mark}.value>")
            value = "|".join(forms)
            answers[piece] = {
                "asked": [self._drawn(one) for one in known],
                "value": self._pieces(value),
                "not": [self._pieces(value, other=True)],
                "say": self._put(answer),
            }
        return answers

    def _kinds(self) -> Iterator[tuple[str, dict[str, Any]]]:
        words = self.words
        shift = self.chance.choice(["announced", "unannounced"])
        easy = self._put(self.frame.easy)
        rival = self.chance.choice(self.voice.rivals[self.frame.type])
        hard = self._drawn(self.frame.hard, rival=rival.what)
        asked = self._ask(words.round, words.main, words.side)
        yield "recall_single", {"ask": asked, "needles": [self._told()]}
        asked = self._ask(words.round, words.main, words.hidden)
        needles = [self._told(), self._side()]
        self.chance.shuffle(needles)
        yield "recall_multi", {"ask": asked, "needles": needles}
        asked = self._ask(words.round, words.main, words.side)
        lines = words.announced if shift == "announced" else words.fresh
        needles = [self._told(other=True), self._told(lines)]
        yield "shift_explicit", {"shift": shift, "ask": asked, "needles": needles}
        asked = self._ask(words.round, words.main, words.side)
        needles = [self._told(words.say, other=True), self._told(words.situation)]
        yield "shift_implicit", {"ask": asked, "needles": needles}
        asked = self._ask(words.round, words.main, words.side)
        yield "missing_easy", {"question": easy, "ask": asked}
        asked = self._ask(words.knows, words.hard, words.side)
        needle = self._rival(rival)
        yield "missing_hard", {"question": hard, "ask": asked, "needles": [needle]}

    def _ask(self, indirect: Sequence[str], main: str, side: str) -> list[str]:
        self._spoken.clear()
        asked = []
        for lines in (self.words.plain, indirect):
            line = self._pick(lines)
            asked.append(self._user(line.replace("{main}", main).replace("{side}", side)))
        return asked

    def _told(self, lines: Sequence[str] = (), *, other: bool = False) -> dict[str, Any]:
        """Return a needle that says the main piece."""
        options = [*(lines or self.words.say)]
        if not lines and not other:
            options += self.words.worked
        line = self._pick(options)
        if "|" in line:
            question, _, answer = (part.strip() for part in line.partition("|"))
            talk = [{"user": self._user(question)}, {"assistant": self._put(answer)}]
            return {"by": "assistant", "talk": [*talk, *self._ending()]}
        follows = "<v>" not in line
        ack = self._pick(bank.follows()) if follows else self._ack(self.frame.acks, other=other)
        talk = [{"user": self._user(line, other=other)}, {"assistant": ack}]
        return {"by": "user", "talk": [*talk, *self._ending()]}

    def _side(self) -> dict[str, Any]:
        """Return a needle that says the side piece."""
        line = self._pick(self.words.side_say)
        ack = self._ack(self.frame.side_acks)
        return {
            "by": "user",
            "talk": [{"user": self._user(line)}, {"assistant": ack}, *self._ending()],
        }

    def _rival(self, rival: Rival) -> dict[str, Any]:
        """Return a needle in which the other value belongs to something else."""
        said = {"user": self._user(rival.says, other=True)}
        talk = [said, {"assistant": rival.ack}, *self._ending()]
        return {"by": "user", "talk": talk}

    def _ack(self, acks: Sequence[str], *, other: bool = False) -> str:
        return _capital(self._put(self._pick(acks), other=other))

    def _ending(self) -> list[dict[str, Any]]:
        """Return how a talk ends: with a small errand, or with a closing."""
        errands = [one for one in self.voice.errands if one.ask not in self._spoken]
        if errands and self.chance.random() < _ERRAND:
            errand = self.chance.choice(errands)
            self._spoken.add(errand.ask)
            call: dict[str, Any] = {"call": errand.call}
            if errand.args:
                call["args"] = errand.args
            call["save"] = errand.save
            call = copy.deepcopy(call)
            return [{"user": errand.ask}, call, {"assistant": errand.says}]
        return [{"user": self._pick(self.voice.closings)}]

    def _pick(self, lines: Sequence[str]) -> str:
        """Return one of some lines that was not used in this kind, as long as there is one."""
        left = [line for line in lines if line not in self._spoken]
        line = self.chance.choice(left or lines)
        self._spoken.add(line)
        return line

    def _user(self, text: str, *, other: bool = False) -> str:
        said = self._put(text, other=other)
        return said if self.voice.small else _capital(said)

    def _put(self, text: str, *, other: bool = False) -> str:
        return self._pieces(self._drawn(text), other=other)

    def _drawn(self, text: str, **more: str) -> str:
        return filled(text, {**self.grounded.names, **more})

    def _pieces(self, text: str, *, other: bool = False) -> str:
        """Return a text with the pieces' expressions in place of `<v>` and `<s>`."""
        of = {"v": self.frame.main, "s": self.frame.side}

        def put(found: re.Match[str]) -> str:
            piece = of[found[1]]
            told = "said" if "said" in self.grounded.pieces[piece][0] else "value"
            owner = f"other.{piece}" if other else piece
            return f"${{{owner}.{found[2] or told}}}"

        return _PIECE.sub(put, text)

    def _deep(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._deep(part) for key, part in value.items()}
        if isinstance(value, list):
            return [self._deep(part) for part in value]
        return self._put(value) if isinstance(value, str) else value


def _capital(text: str) -> str:
    """Return a text whose sentences begin with a capital letter."""
    whole = text if text.endswith(_ENDS) else f"{text}."
    return _BEGIN.sub(lambda found: found[1] + found[2].upper(), whole)


def _prune(raw: dict[str, Any]) -> None:
    """Leave out the parts of values that no text and no call holds."""
    rest = str({key: value for key, value in raw.items() if key != "pieces"})
    for name, several in raw["pieces"].items():
        for value in several:
            for part in [*value]:
                if f"{name}.{part}}}" not in rest and f"{name}.{part})" not in rest:
                    del value[part]
