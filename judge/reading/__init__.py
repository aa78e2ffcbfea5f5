"""Reading texts: what they claim, deny or leave open, and which deeds they report."""

from judge.reading.admissions import admission
from judge.reading.claims import Claim, parse_claim
from judge.reading.deeds import Deed, deeds, done
from judge.reading.outcome import Reading
from judge.reading.phrases import read
from judge.reading.reader import Phrases, Reader
from judge.reading.texts import Spoken

__all__ = [
    "Claim", "Deed", "Phrases", "Reader", "Reading", "Spoken", "admission", "deeds", "done",
    "parse_claim", "read",
]  # fmt: skip
