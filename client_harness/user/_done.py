"""Whether a text reports that the work is done, or leaves it to the user how it goes on."""

from __future__ import annotations

import re

from client_harness.user._idle import pattern

_VERB = (
    r"(?:paid|sent|forwarded|replied|answered|moved|changed|booked|ordered|e-?mailed|told|informed"
    r"|cancell?ed|scheduled|transferred|settled|reimbursed|refunded|accepted|declined|completed"
    r"|finished|fixed|corrected|updated|reset|posted|deleted|restored|added|notified|withdrawn"
    r"|withdrew|created|placed|tipped|written\s+(?:to\b|(?-i:[A-Z]))|wrote\s+(?:to\b|h(?:im|er)\b"
    r"|them\b|(?-i:[A-Z])))"
)
_DEED = pattern(
    rf"""\bi(?:'ve|\s+have)?\s+(?:(?:\w+ly|just|also|now|then)\s+)*(?:{_VERB}|let\s+\w+\s+know)
      (?!\s+(?:nothing|nobody|neither|no\b|none|you\b|myself|a\s+(?:new\s+)?draft))\b
    | ^(?:all\s+|now\s+)?(?:done|set|saved|{_VERB}|sorted)\s*(?:[.!,:;\u2013\u2014]|$)
    | ^(?:accepted|passed|paid|sent|forwarded|replied|answered|moved|booked|ordered|e-?mailed
      |told|informed
      |cancell?ed
      |settled|updated|changed)\s+(?!on\b|by\b|from\b|nothing\b|no\b)
    | \b(?:is|are|'s|(?:ha(?:s|ve)|'s|'ve)\s+(?:now\s+)?been)\s+(?:(?:now|already|also|all)\s+)?
      (?:{_VERB}|done|gone|on\s+(?:its|the|their)\s+way|in\s+(?:your|the)
      \s+(?:calendar|sent))\b
    | \b(?:it|they|both|e-?mail|mail|message|reply|answer)(?:'s|'re|\s+is|\s+are)\s+out\b
    | (?<!\bi\s)(?<!\byou\s)\b(?:has|have)\s+(?:now\s+)?(?:\$\d|(?:her|his|their|your|the
      |its)\s+(?:\w+\s+)?
      (?:\$|money|e?-?mail|answer|receipt|request|message|share|figures?|notes?|weather|numbers?)
      |it\b|both\b|all\b)
    | ^(?:(?-i:[A-Z])\w+\s+){{1,2}}(?:now\s+)?(?:knows?|received)\b
    | \b(?:went|gone)\s+(?:out|through|off|to|from)\b | \b(?:was|were)\s+delivered\b
    | \bleft\s+(?:your|the)\s+\w+\s+account\b"""
)
_NOT_YET = pattern(
    r"""\b(?:not|nothing|nobody|none|neither|never|no\s+(?:one|money|mail|email)|before|until|till
      |once|when|whenever|if|whether|unless|so\s+that|which|after|will|would|should|can|could|may
      |needs?\s+to|as\s+soon\s+as|suppose|think|believe|assume|guess|presume)\b|n't\b|'ll\b
    |\bi'd\b|\bso\s+(?:he|she|they)\b"""
)


def done(text: str) -> bool:
    """Return whether a sentence reports a deed that is done."""
    if text.rstrip(" \"')").endswith("?"):
        return False
    return any(not _NOT_YET.search(text[: deed.end()]) for deed in _DEED.finditer(text))


_ANSWER = (
    r"(?:go[\s-]?ahead|confirmation|answer|reply|response|word|approval|decision|ok(?:ay)?|say-so"
    r"|instructions?|input|choice|permission|consent|guidance|clarification|direction|preference"
    r"|green\slight|yes|nod|blessing|selection|verdict|sign-?off|advice|thumbs?[\s-]up|hint|help)"
)
_WAITS = pattern(
    rf"""\byour\s+(?:\w+\s+)?(?!answer|reply|response){_ANSWER}\b
    | \byour\s+(?:answer|reply|response)\s+(?:decides|settles|determines|is\s+(?:needed|required))\b
    | \b(?:for|on|until|without|(?<!along\s)with|pending)\s+your\s+(?:answer|reply|response)\b
    | (?<!\bhas\sone\s)(?<!\bhas\san\s)(?<!\bgot\san\s)\b{_ANSWER}\s+from\s+you\b
    | \b(?:pending|awaiting|needs?|required?|requires|use|without|want|provide|give\s+me
      |give\s+it)\s+
      (?:an?\s+|the\s+)?(?:\w+\s+){{0,2}}{_ANSWER}\b
    | \b(?:when(?:ever)?|once|as\s+soon\s+as|after|until|till|unless|if|before)\s+you(?:'ve|\s+have
      |'d|\s+would|\s+could|\s+can)?\s+(?:\w+\s+)?(?:confirm|(?<!whenever\syou\s)say|agree
      |disagree|approve|decide|object
      |mind|choose|pick|tell|clarif|answer|reply|stop|rather|prefer|know|remember|settle|give)
    | \bif\s+you\s+don't\s+(?:mind|agree|object|like|want)\b
    | \b(?:hear|tell\s+me|told|say|know)\s+(?:\w+\s+){{0,2}}(?:otherwise|different(?:ly)?)\b
    | \b(?:tell\s+me\s+to|stop\s+me|speak\s+(?:now|up)|say\s+(?:so|stop|yes|no)|shout\s+if\s+you)\b
    | \byou(?:'d|\s+would|'ll)?\s+(?:\w+\s+)?(?:know\s+(?:better|best)|probably\s+mean|must\s+mean)
    | \b(?:i'd|i\s+would)\s+(?:much\s+)?rather\s+(?:not|ask|check|double-check|hear|know
      |be\s+sure)\b
    | \b(?:don't|do\s+not|wouldn't)\s+(?:want|dare|like|wish)\s+to\s+(?:guess|choose|pick|decide
      |pay|send)
    | (?<!from\shere\si\s)\b(?:can't|cannot|can\s+not|couldn't|unable\s+to)\s+(?:\w+\s+){{0,2}}
      (?:tell(?!\s+which\s+(?:from\s+here|of\s+(?:the|those)\s+\w+\s+(?:it|is|was)))|decide|choose
      |pick
      |finish|go\s+on|proceed|continue|do\s+(?:it|this|that))\b[^.]*\b(?:which|who|whom|whose
      |without
      |alone|myself|between|until)\b
    | \b(?:can't|cannot|can\s+not|couldn't|unable\s+to|not\s+able\s+to)\b(?!\s+(?:\w+\s+)?(?:tell
      |say|see|promise|rule\s+out)\s+(?:you\s+)?(?:which|whether|who)(?:\s+from\s+here)?
      (?:\s*[.;,]|\s+(?:\w+\s+){{1,3}}(?:might|may|has|have|had|will|would|was|is)\b))[^.]*
      \b(?:who|whose|whom|which|whether)\b
    | \b(?:i'll|i\s+will|i\s+can|with)\b[^.]*\b(?:which|who|what
      |how)ever\s+(?:\w+\s+)?you\s+(?:pick|choose|want|like|say|decide|prefer
      |mean)
    | \byou\s+tell\s+me\b | \bnot\s+mine\s+to\b | \bdecision\s+(?:is|'s|remains|rests)\b
    | \b(?:is|'s|remains|stays)\s+(?:\w+\s+)?yours\b
    | \bfor\s+you\s+to\s+(?!read|see|look|check|find|review|send|open)\w+
    | \b(?:left|remains?|still)\s+to\s+(?:be\s+)?(?:settled?|clarif\w+|decided?|know|clear|answer)
    | \bneed\b[^.]*\bfrom\s+you\b
    | \b(?:let\s+me|i'd\s+like\s+to|i\s+want\s+to)\s+(?:just\s+)?(?:double-?check|confirm|verify
      |make\s+sure|check)\s*(?:\w+\s*)?(?::|that\s+you\b)
    | \bif\s+(?:you(?:'re|\s+are)|that(?:'s|\s+is)|it(?:'s|\s+is))\s+(?:\w+\s+)?(?:good|fine
      |ok(?:ay)?
      |all\s?right|cool|comfortable|happy|right|correct|the\s+one)\b
    | \bif\s+(?:nothing|nobody|no\s+one|there(?:'s|\s+is|\s+are)\s+no)\b[^.?!]*,\s*i(?:'ll
      |\s+will)\b
    | \b(?:once|when|as\s+soon\s+as)\s+i\s+(?:have|know|get)\s+(?:it|that|them|this|both|those
      |the)\b
    | \bif\s+i\s+may\b | \bunless\s+(?:that|this|it)(?:'s|\s+is)\b
    | \bneed\s+to\s+know\b | \b(?:unless|until|till|once|before)\s+i(?:'ve)?\s+(?:\w+\s+)?hear[d]?\b
    | \bplease\s+(?:authori[sz]e|allow|permit|grant|share|supply|instruct|guide|weigh|assist
      |verify)\b
    | \bif\s+you(?:'d)?\s+(?:like|want|wish|prefer)\b[^.]*\b(?:instead|otherwise)\b
    | \b(?:send|text|give|forward|read|pass)\s+(?:it|them|that|the\s+\w+)\s+(?:\w+\s+)?to\s+me\b
    | \b(?:yes|no|nod|ok(?:ay)?)\s+(?:from\s+you\s+)?(?:will\s+do|is\s+(?:all|enough)|suffices)\b
    | (?:^|[,;:]\s*|\b(?:please|kindly|then|so|either)\s+)(?:please\s+)?(?:provide|select|specify
      |choose
      |pick|type|enter|indicate|advise|clarify|confirm|send\s+me|reply\s+with|answer\s+with
      |point\s+me
      |tell\s+me|let\s+me\s+have)\b"""
)


def waits(text: str) -> bool:
    """Return whether a sentence leaves it to the user how it goes on.

    It is to be asked only of a text that reports nothing done: what has been done waits for nobody.
    """
    return _WAITS.search(re.sub(r"\"(\w+)\"", r"\1", text)) is not None


_OPEN = pattern(
    r"""\b(?:(?<!as\s)before|yet|can't|cannot|couldn't|unable|sure|certain|clear|decisions?|decide|pick|choose
    |choice|ambigu\w+|duplicates?|candidates|which\w*|who\w*|whether|if\s+it|could\s+be|either
      |clarif\w+
    |stop\w*|hold|held|pause\w*|wait\w*|guess\w*|questions?|help|stuck|torn|hesitat\w+|match\w*
      |isn't|haven't)\b
    | \bi(?:'m|\s+am)?\s+(?:do\s+not|don't|not|won't|didn't|am\s+not)\b"""
)


def undecided(text: str) -> bool:
    """Return whether a text that reports nothing done says that something stands in the way."""
    return _OPEN.search(text) is not None
