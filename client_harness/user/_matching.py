"""Which answers a question is about, and what it proposes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from client_harness.user._asking import Ask, Option
from client_harness.user._done import done, waits
from client_harness.user._focus import focused
from client_harness.user._proposals import (
    ASIDE,
    REASON,
    SEGMENTS,
    names_value,
    option_of,
    proposal_of,
    undecided,
    wrongly,
)
from client_harness.user._shapes import PLAN, WH
from client_harness.user._sorts import leaves_it, mends
from client_harness.user._values import bases, mentions, mentions_other, right, tokens, words, wrong
from client_harness.user._wording import FILLER, GENERIC, asks_with, holds, unknown
from scenarios.answer import Answer

_POINTS = words(
    "it that this them those these one ones either both instead him her hers his its theirs he she"
    " two option options"
    " so there other others latter former following below above it's that's which who whom"
)
_SEVERAL = re.compile(
    r"\b(?:two|both|several|multiple|more\s+than\s+one|second)\s+(?:[\w']+[ ,]+){0,4}[\w']+",
    re.IGNORECASE,
)
_WHAT_TO_DO = words(
    "do does want wants prefer like choose pick suggest be mean meant say think happens happen need"
)
_MY_DEED = re.compile(
    r"\b(?:shall|should|may|can|could)\s+i\b|\b(?:want|like|need)\s+me\s+to\b|\byou\s+(?:also\s+)?(?:like|want)\s+to\b|\b(?:ok|okay|right|fine)\s+(?:to|if\s+i)\b",
    re.IGNORECASE,
)
_THING = (
    r"([\w-]+(?:\s+(?!(?:for|of|to|in|on|at|by|with|from|so|that|and|or|as|if|when|before|after|until"
    r"|instead|i|you|she|he|it|they)\b)[\w-]+){0,2})"
)
_NEW_THING = re.compile(
    r"\b(?:i|me\s+to|like\s+to|want\s+to)\s+(?:(?:also|just|please)\s+)?\w+"
    r"(?:\s+(?:up|out|in|down|you|him|her|them|it))?\s+(?:(?:an?|some|any)\s+|some(?=thing))"
    + _THING,
    re.IGNORECASE,
)
_TODO = re.compile(
    r"\bwhat\s+(?:should|shall|do\s+you\s+want\s+me\s+to|would\s+you\s+like\s+me\s+to)\s+(?:i\s+)?(\w+)",
    re.IGNORECASE,
)
_ONE_NAMED = re.compile(r"\b(?:him|her|he|she|it|that\s+one|this\s+one)\b", re.IGNORECASE)
_TOMORROWS = re.compile(r"\btomorrow['\u2019]s\b", re.IGNORECASE)
"""What is of tomorrow is not put off until then."""
_INSTEAD = re.compile(
    r"\b(?:what|which|how|who)\b[^?]*\b(?:(?:use|try|do|take|go\s+with|send|proceed)\b[^?]*\binstead"
    r"|handle|proceed|go\s+on)\b|\bhow\s+else\b"
    r"|\bwhat\s+(?:(?:should|shall|can|may|could|do)\s+i|(?:would|do)\s+you\s+(?:like|want)\s+me\s+to)"
    r"\s+(?:use|go\s+(?:by|with)|rely\s+on)"
    r"(?:\s+in\s+its\s+place|\s+for\s+now)?\W*$"
    r"|^\W*what\s+else\s+(?:may|can|could|should|shall)\s+i\s+(?:use|go\s+by|rely\s+on|check|try)\b"
    r"|^\W*(?:any\s+)?alternatives?\b"
    r"|\bhow\s+should\b[^?]*,\s*then\W*$"
    r"|\bhow\b[^?]*\b(?:like|want|prefer)\s+me\s+to\s+(?:check|get|reach|find|deal|go\s+about|do)\b",
    re.IGNORECASE,
)
"""What is asked when one way is closed: "what would you like me to use instead?"."""
_WAITING = re.compile(
    r"\b(?:i'll|i will|i'm|i am)?\s*\b(?:wait|waiting|holding|hold|pausing|pause)\b"
    r"(?: off| on| here)* (?:for|until|till|on) (?:your?|hear)\b",
    re.IGNORECASE,
)
_ALSO = re.compile(
    r"\b(?:also|as well|too|in addition|while i'm at it|afterwards)\b", re.IGNORECASE
)
_OFFERS = re.compile(
    r"^(?:(?:so|and|but|or|also|then)[,\s]+)*"
    r"(?:shall|should|may|can|could|do you want|would you like)\b[^?]*\?|^want me\b",
    re.IGNORECASE,
)
_CONFIRMS = re.compile(
    r"\b(?:confirm\w*|approv\w+|whether|go[\s-]?ahead|if|ok|okay|permission|consent|yes|nod|say so"
    r"|thumbs|for you to|authori\w+|otherwise|disagree|object|speak now|stop me|word|wondering"
    r"|unless|correct|right|let me know|objections?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Match:
    """An answer that a question is about.

    `proposed` is True or False if the question proposes the right or a wrong value, and `option` is
    the one that holds the right value where the question lists several. `chooses` tells that it
    asks for one of several values, and not for a yes or a no.
    """

    key: str
    proposed: bool | None = None
    option: Option | None = None
    chooses: bool = False


def match(ask: Ask, answers: Mapping[str, Answer]) -> list[Match]:
    """Return the answers that a question is about, in the order of its words."""
    found: dict[str, Match] = {}
    for part in _clauses(ask.text):
        for one in _matches(part, ask, answers):
            found.setdefault(one.key, one)
    return list(found.values())


def _matches(part: str, ask: Ask, answers: Mapping[str, Answer]) -> list[Match]:
    """Return what a clause is about, without the reason that it gives if one can tell so."""
    core = REASON.sub("", part)
    found = _Clause(core, ask, answers).matches()
    return found or (_Clause(part, ask, answers).matches() if core != part else [])


def laid_out(text: str, answers: Mapping[str, Answer]) -> list[Match]:
    """Return the answers whose matter a text finds more than once, or with several values."""
    found = []
    for key, answer in answers.items():
        if (mentions(text, right(answer)) and wrongly(text, answer)) or _doubled(text, answer):
            found.append(Match(key, chooses=True))
    return found


def _doubled(text: str, answer: Answer) -> bool:
    """Return whether a text counts several of what an answer is about ("two Bens")."""
    several = [bases(tokens(found[0])) for found in _SEVERAL.finditer(text)]
    return any(holds(told, answer.asked) for told in several)


def leaves(ask: Ask, answers: Mapping[str, Answer]) -> bool:
    """Return whether a question names something that no answer is about ("What note …?")."""
    if not ask.text.rstrip(" \"')").endswith("?"):
        return False
    for part in _clauses(ask.text):
        clause = _Clause(part, ask, answers)
        if clause.word and clause.content and not clause.points() and not clause.matches():
            return True
    return False


def _clauses(text: str) -> list[str]:
    """Return the clauses of a question, each with at most one question word."""
    parts = re.split(
        rf"(?:,|;|\s[-\u2013\u2014])?\s+(?:and|or)\s+(?:also\s+)?(?:\(\w\)\s+)?"
        rf"(?=(?:(?:to|for|from|in|at|with)\s+)?{WH}\b|should\s+i\b|shall\s+i\b|whether\b"
        rf"|if\s+i\b)",
        text,
        flags=re.IGNORECASE,
    )
    return [part for part in parts if (part or "").strip()]


class _Clause:
    """One clause of a question, matched against the answers of a scenario."""

    def __init__(self, text: str, ask: Ask, answers: Mapping[str, Answer]) -> None:
        self.text = text
        self.ask = ask
        self.answers = answers
        self.shown = _WAITING.sub("", _TOMORROWS.sub(" ", text))
        self.words = bases(tokens(self.shown))
        self.word, self.focus = focused(text)
        labels = {option.label.casefold() for option in ask.options}
        self.content = {word for word in tokens(text) if word not in FILLER} - labels

    def matches(self) -> list[Match]:
        itself = self._about_itself()
        keys = {key for key in itself if not self._foreign(key)}
        if keys:
            return [self._match(key, self.shown) for key in self.answers if key in keys]
        if itself:
            return []
        if len(self.answers) == 1 and not self.ask.soft and _INSTEAD.search(self.text):
            return [self._match(key, "") for key in self.answers]
        if self.ask.soft or (not self.word and self._adds()):
            return []
        if not self.points():
            return self._planned()
        return self._in_context()

    def _planned(self) -> list[Match]:
        """Return the answers that settle the plan of which a proposal is only the outcome: "I'd go
        by Yahoo. Shall I send him 23 and 17?".
        """
        plan = self.ask.before[0] if self.ask.before else ""
        if not _MY_DEED.search(self.text) or not PLAN.search(plan) or done(plan):
            return []
        if self.word or _NEW_THING.search(self.text):
            return []
        keys = [key for key, answer in self.answers.items() if names_value(plan, answer)]
        return [self._match(key, self._proposal(key, plan, planned=True)) for key in keys]

    def _foreign(self, key: str) -> bool:
        """Return whether a question is of a thing that has nothing to do with an answer."""
        if self.word or not _MY_DEED.search(self.text):
            return False
        answer = self.answers[key]
        if self._means(answer):
            return False
        spoken = [*answer.asked, answer.value or "", *answer.others, answer.say]
        known = bases(tokens(" ".join(spoken).replace("|", " ")))
        new = _NEW_THING.search(self.text)
        if new is not None and unknown(new[1], known):
            return True
        if names_value(self.shown, answer) or mentions_other(self.shown, answer):
            return False
        if answer.value is None:
            return False
        names = {name.casefold() for name in re.findall(r"(?<=\w )[A-Z]\w+", self.text)}
        return any(not bases([word]) & known for word in self.content - names)

    def _about_itself(self) -> list[str]:
        named = [key for key, answer in self.answers.items() if self._is_about(answer)]
        valued = [key for key, a in self.answers.items() if names_value(self.shown, a)]
        if self.word:
            return self._asked_for(named)
        if self._adds():
            told = set(valued) if _MY_DEED.search(self.text) else set()
            return [key for key in named if key not in told]
        kinds = [k for k, a in self.answers.items() if mentions_other(self.shown, a)]
        kinds = [key for key in kinds if key not in valued]
        valued += [key for key in kinds if key in named] or (kinds if len(kinds) == 1 else [])
        return valued or named

    def _adds(self) -> bool:
        """Return whether a clause proposes one thing more: "Yahoo also has it, shall I look there?"
        does not.
        """
        deed = _MY_DEED.search(self.text)
        return _ALSO.search(self.text, deed.start() if deed is not None else 0) is not None

    def _names(self, answer: Answer) -> bool:
        """Return whether the clause holds a phrase; "which email" is not "which one … email"."""
        apart = bool(self.focus & {"one", "ones", "of"})
        phrases = [p for p in answer.asked if not (apart and p.startswith(("which", "what")))]
        return holds(self.words, phrases)

    def _is_about(self, answer: Answer) -> bool:
        return self._names(answer) or self._means(answer)

    def _means(self, answer: Answer) -> bool:
        """Return whether the clause is about an answer in words of its own."""
        return not self.word and mends(self.text, answer)

    def _asked_for(self, named: list[str]) -> list[str]:
        focus = bases(self.focus | {self.word})
        found = [key for key in self.answers if holds(focus, self.answers[key].asked)]
        if self.word in ("when", "where"):
            found += [key for key in named if asks_with(self.word, self.answers[key].asked)]
        if found:
            return list(dict.fromkeys(found))
        mended: list[str] = []
        if self.word == "how":
            mended = [key for key, answer in self.answers.items() if mends(self.text, answer)]
        return mended or self._offered()

    def _offered(self) -> list[str]:
        """Return the keys of which the clause or the list beside it holds right and wrong values.

        Where names differ, amounts and days that differ with them are not what is asked.
        """
        texts = [self.shown, *(option.text for option in self.ask.options)]
        named = []
        others = []
        for key, answer in self.answers.items():
            if not any(mentions(text, right(answer)) for text in texts):
                continue
            if any(mentions(text, wrong(answer)) for text in texts):
                named.append(key)
            elif any(mentions_other(text, answer) for text in texts):
                others.append(key)
        return named or others

    def points(self) -> bool:
        """Return whether the clause leaves to the text around it what it is about."""
        if self.word in ("who", "whom", "whose"):
            return "yours" not in tokens(self.text)
        if self.word:
            if self.focus - GENERIC or self.word in ("when", "where", "why"):
                return False
            if self.word == "which" or waits(self.text):
                return True
            if self.word == "what":
                todo = _TODO.search(self.text)
                if todo is not None and todo[1].casefold() not in _WHAT_TO_DO:
                    return False
                return not self.content or bool(set(tokens(self.text)) & _WHAT_TO_DO)
        if waits(self.text):
            return True
        return not self.content or bool(set(tokens(self.shown)) & _POINTS)

    def _proposes(self) -> bool:
        if self.word:
            return False
        return self.text.rstrip(" \"')").endswith("?") or bool(_CONFIRMS.search(self.text))

    def _in_context(self) -> list[Match]:
        listed = self._offered()
        if listed and self.ask.options:
            return [self._match(key, "") for key in listed]
        for away, text in enumerate(self.ask.before[:8]):
            if done(text) and not self.word:
                continue
            keys = self._near(text)
            if keys:
                planned = self._proposes() and (
                    PLAN.search(text) is not None
                    or len(text) < 80
                    or (not away and _ONE_NAMED.search(self.text) is not None)
                )
                return [self._match(key, self._proposal(key, text, planned)) for key in keys]
        for text in [*(option.text for option in self.ask.options), *self.ask.after]:
            keys = self._near(text)
            if keys:
                return [self._match(key, "") for key in keys]
        around = [self.text, *self.ask.before, *self.ask.after]
        alone = len(self.answers) == 1 and not any(re.search(r"\bor\b", text) for text in around)
        if self.word in ("who", "whom", "whose"):
            alone = alone and all(answer.value is not None for answer in self.answers.values())
        return [self._match(key, "") for key in self.answers] if alone and self.word else []

    def _proposal(self, key: str, text: str, planned: bool) -> str:
        """Return a sentence of the context if it proposes one value, else nothing."""
        answer = self.answers[key]
        several = any(undecided(p, answer) for p in SEGMENTS.split(ASIDE.sub("", text)))
        all_of_them = re.search(r"\bboth\b", text, re.IGNORECASE) and PLAN.search(text)
        return text if planned and (all_of_them or not several) else ""

    def _near(self, text: str) -> list[str]:
        """Return the answers that a sentence of the context is about."""
        several = []
        valued = []
        for key, answer in self.answers.items():
            good = mentions(text, right(answer))
            bad = wrongly(text, answer)
            if good and bad:
                several.append(key)
            if good or bad:
                valued.append(key)
        told = bases(tokens(text))
        named = []
        for key, answer in self.answers.items():
            own = mends(text, answer)
            if own or holds(told, answer.asked) or holds(told | bases({self.word}), answer.asked):
                named.append(key)
        if several:
            return several
        if self._proposes() and valued and PLAN.search(text):
            return valued
        if not named and not _OFFERS.search(self.text):
            loose = told | {"which", "what", "who", "whose"}
            for key, answer in self.answers.items():
                if holds(loose, answer.asked):
                    named.append(key)
        return named or valued

    def _form(self, key: str) -> str:
        """Return the item of a form ("To: Ana Reyes") that proposes a value, or nothing."""
        items = [option.text for option in self.ask.options]
        if not items or not all(re.match(r"[\w ]+:\s", item) for item in items):
            return ""
        told = [item for item in items if names_value(item, self.answers[key])]
        return told[0] if told else ""

    def _match(self, key: str, proposal: str) -> Match:
        answer = self.answers[key]
        if self._proposes() and not names_value(proposal, answer):
            proposal = self._form(key) or proposal
        proposed = None
        if self._proposes() and proposal and not _ALSO.search(self.text):
            proposed = proposal_of(proposal, answer, self.ask.options)
        if answer.value is None and answer.say.startswith("Yes") and leaves_it(self.text):
            proposed = False
        option = None if proposed is not None else option_of(self.ask.options, answer)
        chooses = bool(self.word) or bool(re.search(r"\bor\b", self.text))
        return Match(key, proposed, option, chooses)
