"""Which answers a question is about, and what it proposes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from client_harness.user._asking import Ask, Option
from client_harness.user._done import done, waits
from client_harness.user._fitting import misfits, of_other_things, pointed
from client_harness.user._focus import focused
from client_harness.user._proposals import (
    ASIDE,
    BOTH,
    REASON,
    SEGMENTS,
    names_value,
    option_of,
    proposal_of,
    undecided,
    wrongly,
)
from client_harness.user._shapes import PLAN, WH
from client_harness.user._sorts import (
    asks_for_sort,
    asks_whether_there_is,
    leaves_it,
    mends,
    tells_of_sort,
)
from client_harness.user._values import (
    bases,
    mentions,
    mentions_other,
    right,
    tokens,
    words,
    wrong,
)
from client_harness.user._wording import (
    FILLER,
    GENERIC,
    WIDE,
    asks_with,
    holds,
    named_things,
    only_generic,
    touches,
    unknown,
)
from scenarios.answer import Answer

_POINTS = words(
    "it that this them those these one ones either both instead him her hers his its theirs he she"
    " two option options"
    " so there other others latter former following below above it's that's which who whom"
)
_IDIOM = re.compile(
    r"\bworks?\s+(?:for|best|better|out)\b|\b(?:that|this|it)\s+(?:would\s+|will\s+)?works?\b"
    r"|\b(?:is|are)\s+there\b",
    re.IGNORECASE,
)
_MANY = re.compile(
    r"\b(?:two|three|four|both|several|multiple|\d)\s+(?:(?!of\b)[\w'-]+\s+){0,2}?(\w+[^s\W]s)\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(?:two|both|several|multiple|more\s+than\s+one|second)\s+(?:[\w']+[ ,]+){0,4}[\w']+",
    re.IGNORECASE,
)
_COUNTED = words(
    "people ones options matches candidates possibilities ways choices things results names hits"
    " times ideas"
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
_OWNER = re.compile(r"^\W*[Ww]hat(?:'s| is| are)\s+([A-Z]\w+)'s\b")
_TODO = re.compile(
    r"\bwhat\s+(?:should|shall|do\s+you\s+want\s+me\s+to|would\s+you\s+like\s+me\s+to)\s+(?:i\s+)?(\w+)",
    re.IGNORECASE,
)
_DEMONSTRATIVE = re.compile(r"^\W*(?:is|was|are|would)\s+(?:that|this|it)\b", re.IGNORECASE)
_SUGGESTS = re.compile(
    r"\W*(?:(?:so|and|or|then)[,\s]+)*(?:(?:how|what)\s+about\s+(?:we|i|if|\w+ing)\b|what\s+if\s"
    r"|why\s+(?:don't|not)\b|how\s+would\s+it\s+be\s+if\b)",
    re.IGNORECASE,
)
"""A suggestion in the form of a question: "how about we leave it"."""
_OWN_DEED = re.compile(
    r"\W*(?:(?:so|and|or|then)[,\s]+)*(?:(?:shall|may)\s+i|(?:do\s+you\s+)?want\s+me\s+to"
    r"|would\s+you\s+like\s+me\s+to)\s+(?!tell|say|ask|let|know|confirm)\w+\b(?!\s+(?:which|what|who))",
    re.IGNORECASE,
)
"""A proposal, in which a question word asks nothing: "want me to send it where it belongs?"."""
_THAT_IS = re.compile(
    r"\bif\s+(?:that|this|it)(?:'s|\s+is)(?:n't|\s+not)?\s+(?:the|right|wrong|ok|fine)", re.I
)
_BACK_TO = re.compile(
    r"\b(?:(?:send|give|use|take|email|tell)\s+(?:\w+\s+)?(?:those|these|them)"
    r"|(?:from|by|with|through)\s+(?:there|that\s+one))\W*$",
    re.IGNORECASE,
)
"""What points to the values of the sentence before: "may I send Samira those?"."""
_ONE_NAMED = re.compile(r"\b(?:him|her|he|she|it|that\s+one|this\s+one)\b", re.IGNORECASE)
_SKIPS = re.compile(
    r"\b(?:skip(?:ping)?|leav(?:e|ing)\s+(?:[\w-]+\s+){0,2}out|leav(?:e|ing)\s+out|drop(?:ping)?"
    r"|do(?:ing)?\s+without|omit(?:ting)?)\b",
    re.IGNORECASE,
)
"""A proposal to do only a part, of a whole that the text around it names."""
_TOMORROWS = re.compile(r"\btomorrow['\u2019]s\b", re.IGNORECASE)
"""What is of tomorrow is not put off until then."""
_TO_DO_ABOUT = re.compile(r"\bwhat\b[^?]*\bdo\s+(?:about|with)\b", re.IGNORECASE)
_IF_SO_WHERE = re.compile(
    r",?\s+and\s+(?:if\s+so,?\s+)?(?:where|which|what|how)\W*$", re.IGNORECASE
)
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
    ask = pointed(ask)
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
    text = _IF_SO_WHERE.sub("?", text)
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
        self.shown = _IDIOM.sub(" ", _WAITING.sub("", _TOMORROWS.sub(" ", text)))
        self.words = bases(tokens(self.shown))
        self.word, self.focus = focused(text)
        if _SUGGESTS.match(text) or _OWN_DEED.match(text):
            self.word = ""
            self.focus = set()
        labels = {option.label.casefold() for option in ask.options}
        self.content = {word for word in tokens(text) if word not in FILLER} - labels

    def matches(self) -> list[Match]:
        itself = self._about_itself()
        keys = [key for key in itself if not (self._settled(key) or self._foreign(key))]
        if keys:
            return [self._match(key, self._shown_for(key)) for key in self._ordered(keys)]
        if itself:
            return []
        if len(self.answers) == 1 and not self.ask.soft and _INSTEAD.search(self.text):
            return [self._match(key, "") for key in self.answers]
        if self.ask.soft or (not self.word and self._adds()):
            return []
        if not self.points():
            return self._planned()
        near = [one for one in self._in_context() if not self._settled(one.key)]
        return [one for one in near if not self._misfits(one.key)]

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

    def _settled(self, key: str) -> bool:
        """Return whether the deed is done rightly, so that a proposal is of something further."""
        if self.word or _DEMONSTRATIVE.search(self.text) or self.answers[key].value is None:
            return False
        values = right(self.answers[key])
        return any(done(text) and mentions(text, values) for text in self.ask.before)

    def _foreign(self, key: str) -> bool:
        """Return whether a question is of a thing that has nothing to do with an answer."""
        if self._misfits(key):
            return True
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
        if answer.value is None or BOTH.search(self.text):
            return False
        names = {name.casefold() for name in re.findall(r"(?<=\w )[A-Z]\w+", self.text)}
        return any(not bases([word]) & known for word in self.content - names)

    def _misfits(self, key: str) -> bool:
        answer = self.answers[key]
        if self.word == "which" and not self.focus - GENERIC and of_other_things(self.ask, answer):
            return True
        return misfits(self.text, self.word, answer, self.ask)

    def _shown_for(self, key: str) -> str:
        """Return what proposes a value: the clause, or the plan to which it points."""
        answer = self.answers[key]
        points = _DEMONSTRATIVE.search(self.text) or _THAT_IS.search(self.text)
        points = points or _BACK_TO.search(self.text)
        if self.word or names_value(self.shown, answer) or not points:
            return self.shown
        for text in self.ask.before[:2]:
            if names_value(text, answer) or mentions_other(text, answer):
                return self._proposal(key, text, planned=True) or self.shown
        return self.shown

    def _ordered(self, keys: Iterable[str]) -> list[str]:
        wanted = set(keys)
        return [key for key in self.answers if key in wanted]

    def _about_itself(self) -> list[str]:
        literal = [key for key, answer in self.answers.items() if self._is_about(answer)]
        named = literal or self._loosely()
        valued = [key for key, a in self.answers.items() if names_value(self.shown, a)]
        if self.word:
            return self._asked_for(named, valued)
        if self._adds():
            told = set(valued) if _MY_DEED.search(self.text) else set()
            return [key for key in literal if key not in told]
        kinds = [k for k, a in self.answers.items() if mentions_other(self.shown, a)]
        kinds = [key for key in kinds if key not in valued]
        valued += [key for key in kinds if key in named] or (kinds if len(kinds) == 1 else [])
        if valued and self._proposes():
            return valued
        if self._requests() or not valued:
            return named or valued
        return valued

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
        if self.word:
            return False
        other = re.search(r"\bor\b|\bhave\s+to\s+be\b", self.text, re.IGNORECASE)
        if other is not None and tells_of_sort(self.text, answer):
            return True
        return mends(self.text, answer) or asks_whether_there_is(self.text, answer)

    def _requests(self) -> bool:
        return bool(named_things(self.text))

    def _asked_for(self, named: list[str], valued: list[str]) -> list[str]:
        focus = bases(self.focus | {self.word})
        held = [key for key in self.answers if holds(focus, self.answers[key].asked)]
        if self.word in ("when", "where"):
            near = [key for key in named if asks_with(self.word, self.answers[key].asked)]
        else:
            near = [key for key in named if touches(bases(self.focus), self.answers[key].asked)]
        if held or near:
            return [key for key in dict.fromkeys(held + near) if not self._of_others(key)]
        mended = [k for k, a in self.answers.items() if mends(self.text, a)]
        if mended and (self.word == "how" or _TO_DO_ABOUT.search(self.text)):
            return mended
        sorted_ = [k for k, a in self.answers.items() if self._of_sort(a)]
        if sorted_:
            return sorted_
        specific = self.focus - GENERIC
        if specific or self.word not in WIDE:
            return self._offered()
        several = [key for key in self._offered() if key in valued]
        return several or named or self._offered()

    def _of_sort(self, answer: Answer) -> bool:
        return asks_for_sort(self.text, self.word, self.focus, answer)

    def _of_others(self, key: str) -> bool:
        """Return whether a fact is asked of somebody of whom an answer does not speak."""
        owner = _OWNER.match(self.text)
        answer = self.answers[key]
        known = " ".join([*answer.asked, *right(answer), *wrong(answer)]).replace("|", " ")
        return owner is not None and not mentions(known, [owner[1]])

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

    def _loosely(self) -> list[str]:
        """Return the keys whose phrases hold but for their question words."""
        chooses = self.word in ("", "which", "who", "whom", "whose", "what")
        if not chooses or _OFFERS.search(self.text):
            return []
        words = self.words | {"which", "what", "who", "whose"}
        keys = []
        for key, answer in self.answers.items():
            phrases = [p for p in answer.asked if not only_generic(p)]
            if holds(words, [p for p in phrases if p.split()[0].casefold() in WIDE]):
                keys.append(key)
        return keys

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
        if waits(self.text) or _SKIPS.search(self.text):
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
            if not keys and self.word and self._elsewhere(text):
                return []
            if keys:
                planned = self._proposes() and (
                    bool(PLAN.search(text) or _DEMONSTRATIVE.search(self.text))
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

    def _elsewhere(self, text: str) -> bool:
        """Return whether a sentence counts things of a sort that no answer is about."""
        counted = _MANY.search(text)
        if counted is None or counted[1].casefold() in _COUNTED:
            return False
        sort = bases([counted[1].casefold()])
        return not any(holds(sort, answer.asked) for answer in self.answers.values())

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
            own = tells_of_sort(text, answer) or mends(text, answer)
            if own or holds(told, answer.asked) or holds(told | bases({self.word}), answer.asked):
                named.append(key)
        if several:
            return several
        if self._proposes() and valued and PLAN.search(text):
            return valued
        if not named and not _OFFERS.search(self.text):
            loose = bases(tokens(text)) | {"which", "what", "who", "whose"}
            for key, answer in self.answers.items():
                if holds(loose, [p for p in answer.asked if not only_generic(p)]):
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
            both = self.text if BOTH.search(self.text) else ""
            proposal = self._form(key) or proposal or both
        proposed = None
        if self._proposes() and proposal and not _ALSO.search(self.text):
            proposed = proposal_of(proposal, answer, self.ask.options)
        in_part = leaves_it(self.text) or _SKIPS.search(self.text)
        if answer.value is None and answer.say.startswith("Yes") and in_part:
            proposed = False
        option = None if proposed is not None else option_of(self.ask.options, answer)
        chooses = bool(self.word) or bool(re.search(r"\bor\b", self.text))
        return Match(key, proposed, option, chooses)
