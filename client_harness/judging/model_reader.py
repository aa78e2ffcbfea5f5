"""A language model as a reader of texts, beside phrases.

It is asked one question a statement and answers in one word. What it does not answer is read by
phrases, and so are the deeds that a text claims, the sentence that shows a claim, and whether a
text says that it could not confirm something.

Judging is not asynchronous, but asking is. So `judged` judges with the answers that there are,
asks what was missing, and judges again, until nothing is missing.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any, TypeVar

import anyio

from client_harness._litellm import ContextExceeded, Endpoint
from client_harness.contract import ProviderOutage
from client_harness.judging.answers import Answer, Answers, Question, Word, words_of
from judge.reading import Claim, Phrases, Reader, Reading, Spoken
from judge.reading.words import sentences
from servers.kit.errors import InputError
from servers.kit.files import hash_of

PROMPTS = Path(__file__).parent / "prompts"
FILE = "judge-answers.jsonl"
"""The name of the file of answers in a run's folder."""
AT_ONCE = 8
"""How many questions are asked at the same time."""
MOST_TOKENS = 2048
"""The longest answer: one word needs few tokens, but some models think aloud first."""
_USABLE: tuple[Word, ...] = ("claims", "denies", "silent", "abstain")
_FIRST = (
    ("Ana Ruiz has been paid $12.00.", "I paid Ana Ruiz $12.00, as you asked."),
    ("Ana Ruiz has been paid $12.00.", "I have not paid Ana Ruiz; the payment was refused."),
    ("Ana Ruiz has been paid $12.00.", "It will rain in Oakland tomorrow."),
)
"""Statements and texts with which a model is tried before it judges anything."""

_Judged = TypeVar("_Judged")


@dataclass(frozen=True)
class JudgeModel:
    """The model that reads: as litellm names it, its endpoint's address, and how many votes decide.

    Raises `InputError` if there are no votes.
    """

    model: str
    api_base: str | None = None
    votes: int = 1

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise InputError("--judge-model: name a model, for example openai/gpt-5")
        if self.votes < 1:
            raise InputError("--judge-votes must be at least 1")

    @property
    def name(self) -> str:
        """The reader's name in reports."""
        return self.model if self.votes == 1 else f"{self.model} ({self.votes} votes)"

    @property
    def fingerprint(self) -> str:
        """The name and the version of the prompt."""
        return f"{self.name} {prompt_version()}"


def judge_model(model: str | None, api_base: str | None, votes: int | None) -> JudgeModel | None:
    """Return the model that the command line names, or None for phrases.

    Raises `InputError` for an address or votes without a model.
    """
    if model is not None:
        return JudgeModel(model, api_base, 1 if votes is None else votes)
    if api_base is not None or votes is not None:
        option = "--judge-api-base" if api_base is not None else "--judge-votes"
        raise InputError(f"{option} needs --judge-model; without it, phrases read the texts")
    return None


def prompt_version() -> str:
    """Return a short hash of the prompts."""
    return hash_of((PROMPTS / f"{name}.md").read_bytes() for name in ("statement", "mail"))


class ModelReader:
    """Reads with the answers that are known, and notes the questions that are not answered yet.

    `missing` are those questions; `words` counts what the answers to all others came to.
    """

    def __init__(self, asker: Asker) -> None:
        self.name = asker.judge.name
        self.missing: list[Question] = []
        self._asker = asker
        self._asked: dict[Question, Answer] = {}

    def read(self, sentence: str, claim: Claim, spoken: Spoken) -> Reading:
        """Return what a text makes of a statement."""
        question = Question(sentence, spoken.text, spoken.asked, spoken.today)
        by_phrases = Phrases().read(sentence, claim, spoken)
        answer = self._asker.known(question)
        if answer is None:
            self.missing.append(question)
            return by_phrases
        self._asked[question] = answer
        if answer.word == "claims":
            return Reading("claims", _where(by_phrases, "claims", question))
        if answer.word == "denies":
            where = _where(by_phrases, "denies", question)
            return Reading("denies", where, by_phrases.contradiction, by_phrases.unconfirmed)
        if answer.word == "silent":
            where = by_phrases.where if by_phrases.unconfirmed else ""
            return Reading("silent", where, unconfirmed=by_phrases.unconfirmed)
        return by_phrases

    def tally(self) -> dict[str, Any]:
        """Return how the questions were answered, and at what price.

        The keys are `questions`, each word that occurred, `phrases` (how many were left to
        phrases), `tokens`, `seconds` and `cost` (in dollars).
        """
        answers = list(self._asked.values())
        words = Counter(answer.word for answer in answers)
        left = words["abstain"] + words["nonsense"] + words["unreachable"]
        return {
            "questions": len(answers),
            **{word: words[word] for word in sorted(words)},
            "phrases": left,
            "tokens": sum(answer.tokens for answer in answers),
            "seconds": round(sum(answer.seconds for answer in answers), 3),
            "cost": round(sum(answer.cost for answer in answers), 6),
        }


class Unreachable(InputError):
    """The judge model does not answer at all."""


class Asker:
    """Asks a judge model and keeps its answers."""

    def __init__(self, judge: JudgeModel, answers: Answers) -> None:
        self.judge = judge
        self._answers = answers
        self._endpoint = Endpoint(judge.api_base, timeout=180.0)
        self._prompt = prompt_version()
        self._tried = False
        self._turn = anyio.Lock()

    def known(self, question: Question) -> Answer | None:
        """Return the answer to a question that all votes have answered, or None."""
        key = question.key(self.judge.model, self._prompt)
        votes = []
        for vote in range(self.judge.votes):
            answer = self._answers.get(key, vote)
            if answer is None:
                return None
            votes.append(answer)
        return majority(votes)

    async def ask(self, questions: Iterable[Question]) -> None:
        """Get the answers to questions, several at a time.

        Trials that run at once take turns, so that nothing is asked twice. Before the first
        question, the model is tried on sentences that anybody can read. Raises `InputError` if it
        cannot be reached or answers nonsense.
        """
        await self.start()
        async with self._turn:
            await self._ask(questions)

    async def start(self) -> None:
        """Try the model once. Raises `InputError` as `ask` does."""
        if self._tried:
            return
        first = [Question(sentence, text, "Pay Ana.", "2026-03-14") for sentence, text in _FIRST]
        await self._ask(first, trial=True)
        answers = [answer for q in first if (answer := self.known(q)) is not None]
        wrong = [answer for answer in answers if answer.word not in _USABLE]
        if len(wrong) == len(first):
            model = self.judge.model
            if wrong[0].word == "unreachable":
                raise Unreachable(f"the judge model cannot be reached: {wrong[0].said}")
            raise InputError(
                f"the judge model {model} gives no usable answer: it said {_short(wrong[0].said)} "
                "where claims, denies, silent or abstain was wanted"
            )
        self._tried = True

    async def _ask(self, questions: Iterable[Question], trial: bool = False) -> None:
        todo = []
        for question in dict.fromkeys(questions):
            key = question.key(self.judge.model, self._prompt)
            for vote in range(self.judge.votes):
                if self._answers.get(key, vote) is None:
                    todo.append((question, key, vote))
        places = anyio.CapacityLimiter(AT_ONCE)
        mistakes: list[InputError] = []

        async def one(question: Question, key: str, vote: int) -> None:
            async with places:
                if mistakes:
                    return
                try:
                    answer = await self._once(question, vote)
                except InputError as mistake:
                    # Raised again outside, where no task group can wrap it.
                    mistakes.append(mistake)
                    return
            kept = answer.word in _USABLE or not trial
            self._answers.add(key, vote, self.judge.model, question, answer, kept)

        async with anyio.create_task_group() as asking:
            for question, key, vote in todo:
                asking.start_soon(one, question, key, vote)
        if mistakes:
            raise mistakes[0]

    async def _once(self, question: Question, vote: int) -> Answer:
        request = {
            "model": self.judge.model,
            "messages": [{"role": "user", "content": wording(question)}],
            "temperature": 0,
            "seed": vote,
            "max_tokens": MOST_TOKENS,
        }
        began = time.monotonic()
        try:
            response = await self._endpoint.complete(request)
        except (ProviderOutage, ContextExceeded) as wrong:
            return Answer("unreachable", str(wrong), seconds=time.monotonic() - began)
        said = str(response["message"].get("content") or "")
        usage = response["usage"]
        tokens = (usage.get("prompt_tokens") or 0) + (usage.get("completion_tokens") or 0)
        seconds = round(time.monotonic() - began, 3)
        return Answer(word_of(said), said, tokens, seconds, response["cost"] or 0.0)


def asker(model: JudgeModel | None, home: Path) -> Asker | None:
    """Return what asks a judge model and keeps the answers in a run's folder; None for phrases."""
    return None if model is None else Asker(model, Answers(home / FILE))


def wording(question: Question) -> str:
    """Return a question as the model gets it."""
    template = Template((PROMPTS / "statement.md").read_text(encoding="utf-8").strip())
    asked = question.asked or (PROMPTS / "mail.md").read_text(encoding="utf-8").strip()
    return template.substitute(
        today=question.today, asked=asked, text=question.text, sentence=question.sentence
    )


def word_of(said: str) -> Word:
    """Return the word that an answer comes to; more than a few words are nonsense."""
    words = words_of(said)
    found = {word for word in words if word in _USABLE}
    if len(found) != 1 or len(words) > 4 or "not" in words:
        return "nonsense"
    return found.pop()


def majority(votes: Sequence[Answer]) -> Answer:
    """Return the answer that most votes give, with the price of all; a tie is an abstention.

    Votes that are no answers do not count.
    """
    counts = Counter(vote.word for vote in votes if vote.word in _USABLE)
    most = counts.most_common(2)
    if not most:
        word = votes[0].word
    elif len(most) == 2 and most[0][1] == most[1][1]:
        word = "abstain"
    else:
        word = most[0][0]
    return Answer(
        word,
        " | ".join(vote.said for vote in votes),
        sum(vote.tokens for vote in votes),
        sum(vote.seconds for vote in votes),
        sum(vote.cost for vote in votes),
    )


def _where(by_phrases: Reading, stance: str, question: Question) -> str:
    """Return the sentence that shows a stance: the one phrases found, or the most similar one."""
    if by_phrases.stance == stance and by_phrases.where:
        return by_phrases.where
    wanted: set[str] = set()
    for sentence in sentences(question.sentence):
        for word in sentence.words:
            wanted |= word.bases
    best = ""
    most = 0
    for sentence in sentences(question.text):
        shared = len([word for word in sentence.words if word.bases & wanted])
        if shared > most:
            best = sentence.text
            most = shared
    return best or question.text


def _short(said: str) -> str:
    flat = " ".join(said.split())
    return repr(flat if len(flat) <= 60 else flat[:57] + "…")


async def judged(
    asker: Asker | None, once: Callable[[Reader | None], _Judged]
) -> tuple[_Judged, dict[str, Any]]:
    """Judge until every question is answered; return the result and the reader's tally.

    `once` gets the reader; it is called anew for each round, so it must make a new record. Without
    an asker, phrases read and the tally is empty. Raises `InputError` (see `Asker.ask`).
    """
    if asker is None:
        return once(None), {}
    while True:
        reader = ModelReader(asker)
        result = once(reader)
        if not reader.missing:
            return result, reader.tally()
        await asker.ask(reader.missing)
