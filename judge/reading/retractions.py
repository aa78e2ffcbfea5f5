"""Sentences that take back what a text has said before: "scratch that", "I mixed up the columns",
"I can't stand behind this".

They are told by general grammar, not by what a scenario is about: an interjection with which one
interrupts oneself; a verb for one's own slip; a judgement of what one has just said; a request to
leave it out of account; a doubt about all of it.
"""

from __future__ import annotations

import re

from judge.reading.texts import Text, Unit


def _any(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{part})" for part in parts))


_LEAD = (
    r"^(?:(?:hm+|oh|ah|uh|um|er|no|well|but|and|so|ok|okay|now|then|sorry|actually|apologies|yes"
    r"|please|honestly|though|although|afraid|i am afraid|edit|update|correction|ps|note) )*"
)
_SAID = (
    r"(?:(?:all|any|some|most|everything|much|each|a word|nothing|none|half|the rest|part|parts)"
    r"(?: of)? )?"
    r"(?:that|this|it|these|those|the above|above|what i (?:have )?(?:just |now )?"
    r"(?:said|wrote|written|told|claimed|reported)|everything i (?:have )?(?:just )?\w+"
    r"|anything i (?:have )?(?:just )?\w+"
    r"|my (?:own )?(?:previous|last|first|earlier|above)?(?: \w+)?"
    r"|the (?:previous|last|first|earlier|foregoing|whole)(?: \w+)?)"
)
"""What stands for one's own words."""
_STOPS = _any(
    _LEAD + r"(?:wait|hold on|hang on|hold up|hold it|(?:just )?(?:one|1|a) (?:moment|second|sec"
    r"|minute))"
    r"(?: (?:no|now|actually|sorry|let me|a (?:second|minute|moment|sec)|that|i (?:see|just|did"
    r"|have|had|was|am|mis\w+|mixed|got|read|think|do|should|need|take|can)|maybe|something)\b|$)",
    _LEAD + r"(?:scratch|strike)(?: that| this| it| all| the| what| those|$)",
    r"^(?:edit|update) (?:\w+ ){0,6}(?:wrong|mistaken|untrue|false|incorrect|premature)\b",
    r"^(?:(?:hm+|oh|ah|no|sorry|actually|wait|apologies|oops|well) ){2,}",
    r"^(?:sorry|oh|wait|hm+|actually|oops|ah|er|well) no$|^no (?:sorry|wait|actually)\b",
    r"^(?:hm+|ugh|er|um|uh) (?:no|not|i|actually|sorry|wait|that|this|it|looking|there|the|on"
    r"|but)\b",
    r"^(?:oh|ah) (?:\w+ ){0,2}?(?:no|not|i (?:see|just|had|have|was|did|am|should|may|might|got"
    r"|mis\w+)|actually|sorry|wait|that was|this was|it was|looking)\b",
    r"^(?:update|edit|ps|p s) .{0,90}\b(?:turns out|not|never|wrong|mis\w+|failed)\b",
    _LEAD + r"(?:oops|whoops|my mistake|my bad|correction|retraction|erratum|mea culpa)\b",
    _LEAD + r"(?:or maybe|or perhaps|maybe|perhaps|or) not$",
    r"^(?:hm+|oh|no|wait|or|well) (?:\w+ )?(?:was|did|is|were|had|has|does) (?:it|that|he|she|they"
    r"|this)\b.{0,40}$",
)
"""Interjections with which one interrupts oneself."""
_PAUSES = frozenset(["wait", "hold", "hang"])
_SLIPS = _any(
    r"\bi (?:\w+ly |just |then |now |must have |may have |might have |have |had |seem to have )*"
    r"(?:misread|mis ?spoke|misspoken|mis ?stated|misremember\w*|misquoted|miscounted"
    r"|mis ?reported|mistook|conflated|muddled|jumbled|mixed (?:up|it up|that up|this up|them up"
    r"|those up|things up|(?:the|my|your|\w+) \w+(?: \w+)? up))\b",
    r"\bi (?:\w+ly |just |have |had )*(?:mixed|confused|muddled) (?:this|that|it|these|those)"
    r" (?:\w+ )?with\b",
    r"\bi (?:\w+ly |have |had |seem to have )*(?:got|had|gotten|put|have) (?:that|this|it|those"
    r"|them|these|things"
    r"|all of (?:that|this|it))(?: all)? (?:wrong|mixed up|backwards?|confused|muddled|the wrong"
    r" way|the other way)\b",
    r"\bi (?:\w+ly |have |had )*(?:spoke|spoken) too soon\b",
    r"\bi (?:\w+ly |have |had )*(?:jumped the gun|got ahead of myself|got carried away)\b",
    r"\bi (?:was|am|must be|may be|might be|could be) (?:\w+ly )?(?:wrong|mistaken|confused"
    r"|too (?:quick|hasty|fast|early|optimistic|rash)|guessing|making (?:that|this|it) up"
    r"|(?:looking at|reading|thinking of|going by|quoting from|reading from) (?:an? |the )?"
    r"(?:wrong|old|other|different|another|earlier|outdated|something)\b)",
    r"\bi (?:read|looked at|copied|quoted|gave you|told you|used|took|picked) the wrong (?:line"
    r"|row|column|entry|figure|number|day|date|page|screen|one|list|message|place|city|record)\b",
    r"\bi (?:should|ought) not (?:to )?have (?:said|told|written|claimed|promised|put)\b",
    r"\bi (?:\w+ly |do |hereby |have to |need to |must |should |had better |would better "
    r"|want to |will |would"
    r" like to |am going to )*(?:better )?(?:retract|take back|withdraw (?:that|this|what|my"
    r"|the)|walk (?:that"
    r"|this|it) back|correct (?:myself|that|this|what i|my)|take (?:that|this|it|all of (?:that"
    r"|this|it)|everything|what i said|some of (?:that|it)|the last \w+) back|unsay|revise (?:that"
    r"|this|what))\b",
    r"\b(?:let me|allow me to) (?:correct|retract|take back|walk (?:that|this|it) back"
    r"|rephrase (?:that|this))\b",
    r"\bi stand corrected\b",
    r"^(?:(?:oh|no|hm+|sorry|wait|ah|actually) )+i (?:was|am|must have been) (?:\w+ )?(?:looking at"
    r"|reading|thinking of|going by|quoting|talking about)\b",
    r"\bi (?:see now|now see|have just (?:seen|noticed|realised|realized)|just (?:saw|noticed"
    r"|realised|realized)) (?:that )?(?:this|that|it|those|these|i) (?:was|were|is|are|had|have"
    r"|mis\w+)\b",
    r"\bi (?:just |only |\w+ly )*(?:invented|dreamed|dreamt|imagined|fabricated)"
    r" (?:that|this|it|all of (?:that|this|it)|everything)\b",
    r"\b(?:dreamed|dreamt|made) (?:that|this|it|all (?:of )?(?:that|this|it)) (?:all )?up\b",
    r"\bi (?:have |did |had |do )*(?:not|never) (?:actually |really |in fact )*(?:do|done|did|make"
    r"|made|look(?:ed)?|check(?:ed)?|verif(?:y|ied))"
    r" (?:any|all|anything|a thing)(?: of (?:that|this|it|these|those|the above))?"
    r"(?: yet| at all| so far)?$",
)
"""Verbs for a slip of one's own tongue, or for taking back."""
_JUDGED = _any(
    _LEAD + _SAID + r" (?:\w+ ){0,2}?(?:is|was|are|were|has been|turned out to be|turns out to be"
    r"|may be|might be|could be|may all be|might all be|could all be|may well be|must be) "
    r"(?:all |simply |just |quite |completely |entirely |plain |partly |also |only |in fact"
    r" |perhaps |probably |well |a bit |actually |really )*"
    r"(?:wrong|untrue|false|incorrect|inaccurate|mistaken|a mistake|premature|a guess|guesswork"
    r"|a slip|a mix ?up|an error|nonsense|invented|made up|fiction|confused|too (?:hasty|early|soon"
    r"|quick|optimistic)|a misunderstanding|unverified|unconfirmed)\b",
    _LEAD + _SAID + r" (?:\w+ ){0,2}?(?:is|was|are|were|can|could) (?:\w+ )?not (?:\w+ly |at all"
    r" |quite |all |even |be |possibly )*(?:right|true|accurate|correct|how it (?:went|was)"
    r"|what (?:happened|the|it)|so|the case)\b(?! (?:away|now|after|before|next|there|here|1"
    r"|amount|xperson))",
    r"\b(?:sorry|no|wait|correction|oops|apologies|actually|mistake) (?:that|this|those|these|it)"
    r" (?:was|were|is|are) (?:for|from|about|of|meant for|the (?:\w+ ){0,2}(?:for|of|from)"
    r"|(?:a|an)? ?(?:other|another|different|old|yesterday))\b",
    r"\bthe above is (?:only|just|merely) what i\b",
    r"\b(?:that|this|it|the above|these|those) (?:was|were|is) (?:only|just|merely|still|really"
    r"|actually) (?:an? |the |my )?(?:\w+ )?(?:preview|draft|test|dry run|trial|simulation"
    r"|rehearsal|plan|mock ?up|sketch|template|example|placeholder"
    r"|intention|idea)\b(?! of (?:the|your|her))",
    r"\bnone of (?:that|this|it|the above|these|what i \w+) (?:\w+ ){0,3}(?:confirmed|certain"
    r"|verified|checked|true|right|so|holds?|happened|went|is|was|stands?)\b",
    r"\bnothing of (?:the sort|the kind|that sort) (?:\w+ )?(?:happened|took|was|is|has)\b",
)
"""Judgements of what was said."""
_DISOWNED = _any(
    _LEAD + r"(?:\w+ )?(?:ignore|disregard|forget|discard|cross out|strike|scratch|delete"
    r"|skip(?! (?:it|this|that) (?:today|tonight|tomorrow|xday\d+x|for)\b)"
    r"|never mind|leave out) (?:all |everything |any |most |some )?(?:of )?"
    r"(?:that|this|it|the above|above|what i(?! \w+ (?:about|of|on)\b)|everything i"
    r"|my (?:message|answer|reply|summary|words"
    r"|(?:last|previous|first|earlier|above) (?:message|answer|reply|summary|words|note|text|line"
    r"|statement)(?= |$)(?! (?:from|of|to)\b).*)|the (?:last|previous|first"
    r"|above) (?:\w+ )?(?:part|bit"
    r"|line|lines|sentence|sentences|paragraph|message|answer|reply|point|statement|remark)"
    r"|the (?:line|lines|part|bit|sentence|sentences|paragraph|message|answer|reply|note|statement"
    r"|figures|numbers) (?:above|before (?:that|this)|i (?:just )?(?:wrote|gave|sent)))"
    r"(?: (?:last|first|previous) (?:part|bit|line|sentence|one))?(?! (?:one|1|email|mail|message"
    r"|letter|note|request|entry|figure|number|draft|page|reading|price|invitation|copy|version"
    r"|first|second|old|older|other|earlier|and (?:do|just|only|we|everything))\b)",
    r"^(?:never ?mind)(?: (?:that|this|all that|what i)\b|$)",
    r"\b(?:do|would|should|could|can|will) not (?:\w+ )?(?:rely|count|depend|bank|build|act"
    r"|go) (?:on|by)"
    r" (?:any of |all of )?(?:that|this|it|what i|the above|my)\b"
    r"(?! (?:one|1|xnumber\d+x|figure|number|forecast|page|list|reading|service|reply|email"
    r"|mail|date|entry)\b)",
    r"\bdo not (?:quote|hold) me (?:on|to)\b",
    r"\bdo not take (?:my word|(?:that|this|it|any of (?:that|this|it)) (?:for granted"
    r"|as (?:certain"
    r"|given|final|gospel|fact|settled)))",
    r"\b(?<!\w so )(?:take|treat|read|consider|regard) (?:all of |any of |all |everything )?"
    r"(?:that|this|it|(?:both|these|the|all) (?:numbers|figures|dates|readings)"
    r"|these|the above|above|what i \w+|my \w+)(?: above| here)? (?:with (?:a |some )?(?:grain"
    r"|pinch"
    r"|caution|care|salt)|as (?:\w+ )?(?:unconfirmed|unverified|provisional|a guess|tentative"
    r"|guesswork|open|uncertain|unreliable|preliminary))",
    r"(?<!thing )(?<!things )(?<!what )(?<!point )(?<!points )"
    r"\bi (?:can|could|would|will|do|am able) ?not (?:\w+ly )*(?:stand (?:by|behind)|vouch for"
    r"|swear (?:to|by)|back (?:that|this|it|any of (?:that|this|it)) up|put my (?:name|hand)"
    r"|guarantee (?:any of )?(?:that|this|it)$|promise (?:any of )?(?:that|this|it)$"
    r"|be held to)\b",
)
"""Requests to leave out of account what was said, and refusals to stand by it."""
_DOUBTED = _any(
    r"\bi (?:may|might|could) (?:well |also |easily |have )*(?:be|have|get|got|had) (?:it "
    r"|that |this"
    r" |all of (?:it|that|this) |everything )*(?:all )?(?:wrong|mistaken|misread|mixed|confused"
    r"|backwards?|dreamed|dreamt|imagined|invented|made)\b",
    r"\bi am (?:no longer|not|not so|not quite|not at all|not entirely) (?:so |very |quite |too"
    r" )?(?:sure|certain)(?: (?:about|of|whether) (?:any|all|that|this|it)\b(?! (?:is|was|of your)"
    r" )| any ?more| any longer| now|$| that any| any of (?:that|this|it))",
    r"^(?:(?:well|but|and|though|although|then) )*(?:then again|mind you|on second thoughts?"
    r"|on reflection|come to think of it|thinking (?:about|of) it|now that i (?:look|think)"
    r"|looking (?:at (?:it|that|this) )?again|having said that|that said)\b"
    r".*\b(?:not|never|no longer|may|might|could|maybe|perhaps|wrong|unsure|none|nothing)\b",
    r"\b(?:to be (?:quite |perfectly )?honest|truth be told|the truth is|to tell (?:you )?the truth"
    r"|if i am honest|in truth)(?: that)? (?:\w+ )?i (?:\w+ )?(?:have not|did not|never|made"
    r"|was guessing|do not know)\b",
)
"""Second thoughts about all of it."""
_EVENTS = _any(
    _LEAD + r"(?:that|this|it|none of (?:that|this|it)|nothing) (?:actually |really )?"
    r"(?:did not|never|has not|have not|had not|was not|is not)(?: actually| really)?"
    r" (?:happened?|happen(?:ed)?(?: yet)?|take place|taken place|went through at all"
    r"|how it (?:went|was|happened)|what happened)\b",
    r"^(?:well |but )?(?:no|actually no|wait no|no wait) (?:it|that|this|they) (?:did|was|has|have"
    r"|is|had) not\b.{0,20}$",
)
"""Denials of the whole of what was said."""
_OWNS_UP = re.compile(
    r"\bown up\b|\bowe you (?:a correction|an apology)\b|\bno longer (?:confident|sure|certain)\b"
    r"|\bi should not have\b|\bmy mistake\b|\bi was wrong\b"
)
_OWN_WORDS = re.compile(
    r"\bI(?:'ve|\u2019ve| have)? (?:\w+ ){0,2}?(?:wrote|written|emailed|mailed|told|texted)\b"
    r"[^\"\u201c]{0,40}[\"\u201c]"
)


def disowned(text: Text) -> frozenset[int]:
    """Return the units that quote what one has written, `I wrote Ben "AQI 52"`, in a text that owns
    up to a mistake.
    """
    if not any(_OWNS_UP.search(unit.low) for unit in text.units):
        return frozenset()
    return frozenset(unit.number for unit in text.units if _OWN_WORDS.search(unit.raw))


_PATTERNS = (_SLIPS, _JUDGED, _DISOWNED, _DOUBTED, _EVENTS)
_BY_OTHERS = re.compile(r"\b(?:he|she|they|xperson\d+x|you) (?:said|wrote|told|says|thought)\b")


def retracts(unit: Unit) -> bool:
    """Return whether a sentence takes back what stands before it; the first one cannot."""
    if not unit.number or unit.row or unit.quoted:
        return False
    low = unit.low
    if _STOPS.search(low) and _interrupts(unit):
        return True
    if unit.sentence.question or _BY_OTHERS.search(low):
        return False
    return any(pattern.search(low) for pattern in _PATTERNS)


def only_doubts(unit: Unit) -> bool:
    """Return whether a sentence that retracts neither interrupts itself nor owns up to a slip: it
    may doubt one thing only.
    """
    low = unit.low
    if _STOPS.search(low) or _SLIPS.search(low) or _EVENTS.search(low):
        return False
    return any(pattern.search(low) for pattern in (_JUDGED, _DISOWNED, _DOUBTED))


def _interrupts(unit: Unit) -> bool:
    """Return whether "wait" is no order: "wait for his answer" is one."""
    words = [word.text for word in unit.sentence.words]
    place = next((at for at, word in enumerate(words[:6]) if word in _PAUSES), None)
    if place is None:
        return True
    after = place + (2 if words[place] in ("hold", "hang") else 1)
    return after >= len(words) or after in unit.sentence.breaks or place > 0 or after <= 2
