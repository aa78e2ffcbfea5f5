"""What the user says to a text of the agent."""

from __future__ import annotations

import re
from collections.abc import Mapping

from client_harness.user._asking import asks, hesitates
from client_harness.user._matching import Match, laid_out, leaves, match
from client_harness.user._proposals import option_of
from client_harness.user._values import mentions, right, words
from client_harness.user.hearing import hear
from scenarios.answer import Answer, aliases

_AGREES = re.compile(
    r"^(?:yes|yeah|yep|sure|ok(?:ay)?|all right|of course|fine)\b[,.!:;]?\s*(?:please\b[,.]?\s*)?",
    re.IGNORECASE,
)
_REFUSES = re.compile(r"^(?:no|nope|not|don't|neither)\b", re.IGNORECASE)
_SIGH = re.compile(r"^(?:oh|ah|well|hm+|sorry|right)\b[,.!]?\s+", re.IGNORECASE)
_LOWER = words(
    "the a an it it's that that's this those these there there's there're they they're"
    " we we've we're you you're he he's she she's here here's all put enter add"
    " my our your his her their to from with for on in"
    " at by both only just please use send pay book take make do go ask tell write move put give"
    " choose pick forward reply keep leave set schedule order buy call"
)


class User:
    """Answers an agent's questions.

    At most `limit` texts are answered in an episode; after that the user says nothing more.
    """

    def __init__(self, answers: Mapping[str, Answer], default: str, limit: int) -> None:
        self._answers = dict(answers)
        self._default = default
        self._left = limit

    def answer(self, text: str) -> tuple[str, str] | None:
        """Return `(key, what the user says)` if the text asks something, else None.

        The key is "default" if nobody foresaw what is asked; the keys of several answers are joined
        by "+".
        """
        if self._left <= 0:
            return None
        reply = self._reply(text)
        if reply is not None:
            self._left -= 1
        return reply

    def _reply(self, text: str) -> tuple[str, str] | None:
        """Return what the user says as it has learned to hear, where that is sure, else by rule."""
        if len(self._answers) > 1:
            return self._by_rule(text)
        key, answer = next(iter(self._answers.items()), ("", None))
        heard = hear(text, key, answer)
        if heard is None:
            return self._by_rule(text)
        if heard.asks == "nothing":
            return None
        if heard.asks == "other" or answer is None:
            return "default", self._default
        told = say(answer, self._chosen(text, key, answer, heard.proposed))
        return key, f"{told} {self._default}" if heard.more else told

    def _chosen(self, text: str, key: str, answer: Answer, proposed: bool | None) -> Match:
        """Return how a text asks for an answer. A proposal that a rule knows to be wrong is wrong;
        where nothing is proposed, there may be a list of options.
        """
        if proposed:
            for ask in asks(text):
                turned = any(one.proposed is False for one in match(ask, {key: answer}))
                proposed = proposed and not turned
        option = None
        if proposed is None:
            for ask in asks(text):
                option = option or option_of(ask.options, answer)
        return Match(key, proposed, option)

    def _by_rule(self, text: str) -> tuple[str, str] | None:
        found: dict[str, Match] = {}
        clear: set[str] = set()
        unforeseen = False
        questions = False
        rest = False
        for ask in asks(text):
            matches = match(ask, self._answers)
            for one in matches:
                found[one.key] = _joined(found.get(one.key), one, clear)
            if not ask.soft:
                unforeseen = unforeseen or not matches
                questions = questions or ask.text.rstrip(" \"')").endswith("?")
                rest = rest or leaves(ask, self._answers)
        if not found and not questions and hesitates(text):
            found = {one.key: one for one in laid_out(text, self._answers)}
        if not found:
            return ("default", self._default) if unforeseen else None
        told = [say(self._answers[key], one) for key, one in found.items()]
        if rest:
            told.append(self._default)
        return "+".join(found), " ".join(told)


def _joined(earlier: Match | None, later: Match, conflicts: set[str]) -> Match:
    """Return what two questions about the same answer come to."""
    if earlier is None:
        return later
    option = earlier.option or later.option
    known = {one.proposed for one in (earlier, later)} - {None}
    if len(known) > 1:
        conflicts.add(later.key)
    if later.key in conflicts or not known:
        return Match(later.key, None, option, earlier.chooses or later.chooses)
    return Match(later.key, known.pop(), option)


def say(answer: Answer, asked: Match) -> str:
    """Return what the user says: `say`, after a yes, a no or the option's label if one fits."""
    if answer.value is None:
        return answer.say if asked.proposed is not False else re.sub("^Yes", "No", answer.say)
    if asked.proposed is not None:
        return _led("Yes" if asked.proposed else "No", answer)
    if asked.option is not None and asked.option.label:
        label = asked.option.label
        name = f"Number {label}" if label.isdigit() else f"Option {label.upper()}"
        return _led(name, answer)
    if mentions(answer.say, right(answer)) or _decides(answer.value):
        return answer.say
    return _led("", answer) if asked.chooses or asked.option else answer.say


def _decides(value: str) -> bool:
    return aliases(value)[0].casefold() in ("yes", "no")


def _led(lead: str, answer: Answer) -> str:
    """Return a lead ("Yes", "Option B", or none) with the right value, and the rest of `say`."""
    value = aliases(answer.value or "")[0]
    parts = [part for part in re.split(r"(?<=[.!?])\s+", answer.say.strip()) if part]
    for number, part in enumerate(parts):
        bare = _SIGH.sub("", _AGREES.sub("", part))
        if mentions(bare, right(answer)) and not _REFUSES.search(bare):
            kept = [earlier for earlier in parts[:number] if not earlier.endswith("!")]
            return " ".join([f"{lead}, {_small(bare)}", *kept, *parts[number + 1 :]])
    first = _capital(_AGREES.sub("", parts[0]))
    rest = [part for part in [first, *parts[1:]] if part.strip(" .!")]
    named = f"{lead}, {value}." if lead else f"{_capital(value)}."
    return " ".join([named, *rest])


def _small(text: str) -> str:
    first = re.split(r"[\s,.]", text, maxsplit=1)[0]
    return text[:1].lower() + text[1:] if first.casefold() in _LOWER else text


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
