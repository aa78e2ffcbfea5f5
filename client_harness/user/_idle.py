"""What sounds like asking and asks nothing: courtesies, wishes for news, and exclamations."""

from __future__ import annotations

import re


def pattern(text: str) -> re.Pattern[str]:
    """Return a pattern that ignores case and its own white space."""
    return re.compile(text, re.IGNORECASE | re.VERBOSE)


COURTESY = pattern(
    r"""(?<!\bor\s)(?<!\btry\s)(?<!\buse\s)\b(?:anything|something|what)\s+else\b
      (?!\s+(?:may|can|could|should|shall)\s+i\s+(?:use|go\s+by|rely|check|try|take))
    | ^(?:(?:is|was)\s+)?(?:everything|nothing)\s+else\b
    | \bany(?:thing)?\s+(?:other\s+(?:question|thing|request|wish|help|business|issue
      |way\s+i\s+can)\w*
      |more|further|questions?|issues?|changes?|trouble|concerns?)\b
    | (?<!\bone\s)(?<!\bneed\s)\b(?:further|more|other)\s+(?:questions?|assistance|help|details?
      |information|info)\b
    | \b(?:can|could|may|shall)\s+i\s+(?:\w+\s+){0,2}(?:help|assist)\b
    | \bi\s+can\s+(?:\w+\s+){0,2}(?:help|assist|do\s+for\s+you|do\s+(?:any\w*\s+)?more)\b
      | \bcan\s+i\s+do\s+for\s+you\b
    | \b(?:of|be)\s+(?:any\s+)?(?:further\s+|more\s+)?(?:help|assistance|service)\b
    | \bif\s+you(?:'d|'ll|'ve|\s+ever)?\s+(?:\w+\s+){0,2}
      (?:need|have|want|like)\s+(?:any|some|more|help|further|me\s+again|questions|it\s+again)
    | \bif\s+(?:there(?:'s|\s+is|\s+are)|you\s+(?:see|notice|spot|run\s+into))\s+(?:any|some|more)
    | \bif\s+(?:any|some)(?:thing)?\b(?!\s*\?|\s+other\b|[^.?!]*\b(?:will|would)\s+do\b)
    | \bif\s+(?:that|this|it)\s+(?:helps?|helped|looks)\b
    | \bif\s+(?:that|this|it)(?:'s|\s+is|\s+was)?(?:n't|\s+not)\s+
      (?:what|right|correct|the\s+case|as|how|okay|ok)\b
    | \bif\s+i(?:'ve|\s+have)?\s+(?:got|misunderstood|misread|made|missed|should\s+not)\b
    | \b(?:does|did)\s+(?:that|this)\s+help\b
    | ^(?:is|was|will)\s+(?:that|this)\s+(?:be\s+)?(?:all|it|everything)
      (?:\s+(?:for|then|today|now)\b[^?]*)?\?
    | \banswer(?:s|ed)?\s+your\s+question
    | \banything\s+(?:that\s+)?you(?:'d|\s+would)?\s+(?:like|want|wish)\b(?!\s+me\b)
    | \b(?:let\s+me\s+know|tell\s+me|write(?:\s+to\s+me)?|ask|shout|call)\s+
      (?:should|whenever|any\s?time|the\s+moment|if\s+ever)\s+you\b
    | \banything\s+(?:that\s+)?i(?:'ve|\s+have)?\s+(?:missed|forgot\w*|overlooked|left\s+out)\b
    | ^(?:and\s+|so\s+)?(?:questions?|doubts?|problems?|concerns?|worries|complaints?|trouble
      |comments?)\?
    | ,\s*(?:or\s+)?anything\? | ^anything\s+(?:still\s+)?(?:unclear|missing|odd|open|left|wrong)\b
    | \bthe\s+next\s+time\b | \b(?:let\s+me\s+know|tell\s+me)\s+should\b(?!\s+i\b)
    | \b(?:leave|keep)\s+it\s+at\s+that\?$
    | \bcall\s+it\s+(?:a\s+day|done|even)\b | ,\s*or\s+what\?
    | \bhow\s+(?:it|that|things)\s+(?:go|goes|went|works?\s+out)\b
    | \bif\s+you(?:'d)?\s+(?:\w+\s+)?(?:like|want|prefer)\s+(?!me\b|that\b)(?:\w+\s+){0,3}
      (?:different|another|chang|adjust)
    | ^if\s+you(?:'d)?\s+like,?\s+i\s+can\s+(?:look|check|try)\s+again\b
    | \b(?:happy|glad)\s+to\s+(?:look|check|try)\s+again\b[^.?!]*\bif\s+you(?:'d)?\s+
      (?:like|want|wish)\b
    | \bfeel\s+free\b | \bhesitate\b | \bhappy\s+to\s+(?:help|assist)\b | \bhope\s+(?:this|that)\b
    | \bhow\s+are\s+you\b | \bwhat\s+more\b | \bhow\s+else\s+(?:can|may)\s+i\s+(?:help|assist
      |serve)\b | \bokay\?\s*enjoy
    | \b(?:hearing|(?<!i\s)(?:hear|get))\s+back\b(?!\s+to\s+me) | \bhow\s+does\s+that\s+(?:sound
      |look)\s+so\s+far\b
    | \bask\s+(?:me\s+)?(?:again\s+)?(?:any\s?time|away)\b"""
)
_EVENT = (
    r"(?:writ(?:es?|ten)|repl(?:y|ies|ied)|answer(?:s|ed)?|call(?:s|ed)?|comes?|gets?|asks?|shows?"
    r"|arrives?|arrived|changes?|happens?|breaks?|fails?|bounces?|complains?|says?|turns?|appears?"
    r"|disappears?|lands?|wakes?|behaves?|wobbles?|starts?|stops?|opens?|closes?|cancels?|objects?"
    r"|accepts?|declines?|pays?|sends?|goes|go|rains?|snows?|feels?|responds?|rings?|phones?|texts?"
    r"|returns?|leaves?|likes?|shifts?|falls?|grows?|wants?\s+(?:more|another|anything|something))"
)
_NEWS = pattern(
    rf"""\b(?:let\s+me\s+know|(?:tell|ping|text|message|write)\s+me|(?:give\s+me\s+a|just)\s+
    (?:shout|call|ring)|shout|holler|drop\s+me\s+a\s+line|come\s+back(?:\s+to\s+me)?)\s+
    (?:if|when|once|as\s+soon\s+as|in\s+case|should)\s+
    (?!you\b|i\b|we\b)(?:(?:(?:the|your|her|his|my|its|their)\s+)?[\w']+\s+)(?:(?:ever|still
      |really|also|actually|do
    |does|doesn't|don't|did|didn't|has|have|hasn't|haven't|not|should|does\s+not)\s+){{0,2}}
    {_EVENT}\b(?![^.?!]*\bor\b)
    | \b(?:let\s+me\s+know|tell\s+me|love\s+to\s+(?:hear|know))\s+how\s+(?!much|many|long|soon
      |often|far|you|i\b|we\b|to\b)
    (?:[\w']+\s+){{1,4}}(?:go(?:es)?|went|was|were|is|are|turn(?:s|ed)?|tastes?|tasted|likes?|liked
    |fares?|fared|feels?|felt|works?|worked)\b
    | \b(?:let\s+me\s+know|tell\s+me|ping\s+me)\s+(?:if|when|once|as\s+soon\s+as|in\s+case)\s+
    (?:he|she|they|anyone|anybody|someone|somebody|nobody|no\s+one)\s+(?!is\b|was\b|are\b|were\b
      |means?\b
    |meant\b|wants?\b|needs?\b|should\b|has\b|have\b|can\b|may\b|might\b|would\b|could\b|prefers?\b
    |likes?\b|must\b|will\b)[a-z]+\b(?![^.?!]*\bor\b)
    | \bif\s+(?:he|she|they|it|the\s+\w+|[A-Z]\w+)\s+(?:does|do|did|has|have|is|are)(?:n't
      |\s+not)?\s[^.?!]*,\s*
    (?:(?:just|please|do|then)\s+)*(?:let\s+me\s+know|tell\s+me|ping\s+me|say\s+so)\b
    (?![^.?!]*\b(?:or|which|whether|what)\b)
    | \b(?:let\s+me\s+know|tell\s+me)\s+how\s+you\s+(?:like|liked|get\s+on|got\s+on|enjoy\w*|feel
      |felt)\b
    | \b(?:let\s+me\s+know|tell\s+me|ping\s+me|write\s+me)\s+if\s+you\s+(?!want|mean|meant|prefer
      |agree
    |approve|would|are\b|have\b|know|remember|can\b|could|did\b|still|rather|accept|recogni|expect
      |like\b
    |think|see\b|do\b|don)[a-z]+\b
    | \b(?:let\s+me\s+know|tell\s+me|ping\s+me)\s+(?:when|once|as\s+soon\s+as)\s+(?!you|i\b|we\b
      |it\b|that|this)
    (?![^.?!]*\b(?:should|works?|suits?|would(?!\s+you\?)|or|best)\b)
    | \btell\s+me\s+(?:\w+\s+)?about\b[^.?!]*\b(?:when|once|after)\b
    | \b(?:let\s+me\s+know|tell\s+me|ping\s+me)\s+if\s+(?-i:(?:[A-Z]\w+\s+){{1,2}}(?!is\b|was\b
      |has\b|means|wants|needs
    |works|suits|looks|sounds|does\b|likes)[a-z]+s\b)(?![^.?!]*\bor\b)
    | \bwhat\s+you\s+(?:think|thought)\b[^.?!]*\bwhen\b
    | \btell\s+me\s+(?:all|everything)\s+about\b
    | \b(?:tell|show)\s+me\b[^.?!]*\b(?:some\s?time|some\s?day|one\s+day)\b
    | \b(?:let\s+me\s+know|tell\s+me)\s+(?:when|once)\s+you(?:'re|\s+are|\s+get|\s+have)\s+
    (?:back|home|there|in|landed|arrived)\b
    | \bif\s+(?:[\w']+\s+){{1,3}}?any\s+good\b"""
)
_EXCLAMATION = pattern(
    r"""\bwho(?:\s+(?:would|could)(?:\s+have|'ve)?|'d(?:\s+have|\s?'ve)?)\s+
      (?:ever\s+)?(?:thought|guess(?:ed)?|known|imagined?|expect(?:ed)?|believed?)\b
    | ^(?:and\s+)?who\s+knew\b | \b(?:would|can)\s+you\s+believe\b | \bdon't\s+you\s+think\?
    | \bhow\s+about\s+that\?|\bwhat\s+do\s+you\s+know\? | \bwhat\s+are\s+the\s+odds\b
    | \bwhat\s+can\s+i\s+say\b | \bhow\s+\w+\s+is\s+that\? | ^what\s+an?\b[^?]*\?
    | ,\s*(?:you\s+|do\s+you\s+)?(?:remember|you\s+know|you\s+see|huh)\?
    | ^(?:do\s+you\s+)?remember\s+(?!which|who|what|whe|if\b|her\b|his\b)
    | ^ready\s+for\s+(?!me\b|it\b)
    | ^(?:(?:and|now|but|so)[,\s]+)?(?:is|was|are)n't\s+(?:that|this|it|life|they|technology
      |computers)\s+
      (?:just\s+|so\s+|rather\s+)?(?:nice|odd|great|lovely|funny|strange|weird|wonderful|typical
      |something|amazing|marvel\w+|silly|ironic|good|grand|annoying|curious|neat|fun|handy|perfect
      |better
      |an?\s+\w+(?:\s\w+)?)(?:\s+(?:to|that|how|when)\b[^?]*)?\?
    | ^(?:exciting|nice|odd|strange|funny|great|easy|lovely|weird|simple|neat|crazy|amazing|annoying
      |silly|typical|curious|good|wonderful|perfect|lucky|quick|convenient
      |not\s+bad)\b[^?.]{0,30},\s*
      (?:(?:is|was)n't\s+(?:it|that)|right|huh|eh|no)\?
    | \bwhat\s+could\s+(?:possibly\s+)?go\s+wrong\b | \bafter\s+all\?$
      | \bdon't\s+you\s+(?:just\s+)?(?:love|hate)\b
    | ^did\s+you\s+know\b
    | ^(?:do\s+you\s+)?want\s+to\s+(?:hear|know)\s+(?:something|a|the)\b | \bwho\s+says\b
    | ^you'll\s+(?:tell\s+me|let\s+me\s+know)\b | \bneed\s+(?:i|to)\s+(?:say|tell)\b
    | \bcan\s+you\s+imagine\b | \bcan\s+i\s+just\s+say\b
      | ^wish\s+me\b | \bwho(?:'s|\s+is)\s+counting\b | ^(?:and\s+)?who\s+(?:cares|needs)\b
    | \bwho\s+(?:(?:would|could|does|can)n't|(?:could|can|would)\s+(?:blame|say|resist|object))\b
    | ,\s*i\s+wonder\? | \bthat(?:'s|\s+is|\s+was)\s+(?:all|everything)\b[^?]*,\s*(?:is
      |was)n't\s+it\?
    | ^(?:do\s+you\s+)?feel\s+like\b
    | ^(?:maybe|perhaps)\s+(?:tomorrow|next\s+\w+|another\s+\w+|later|some\s?day)\?
    | ^(?!you\b|i\b|it\b|that\b|we\b|pick\b|choose\b|confirm\b)[^?]*,\s*(?:won't|will)\s+you\?
    | ^(?:have|enjoy|sleep|say\s+(?:hi|hello)|be\s+(?:good|safe|careful)|take\s+(?:care|it\s+easy)
      |give\s+(?:my|him|her|them)|don't\s+(?:forget|work|worry|be)|drive|sing|travel|relax|rest|safe
      |mind|stay\s+\w+|cheer|good)\b[^?]*,\s*(?:okay|ok|all\s?right|yes|eh|would\s+you|right)\?"""
)


def idle(text: str) -> bool:
    """Return whether a sentence is a courtesy, a wish for news, or an exclamation."""
    return any(shape.search(text) for shape in (COURTESY, _NEWS, _EXCLAMATION))


_ASK_ME = pattern(
    r"^(?:just\s+|simply\s+)?ask(?:\s+me|\s+away)?\s*[.!]|^i'm\s+(?:all\s+ears|around)\b"
)
_INVITES = pattern(
    r"""^(?:(?:just|simply|then|please)\s+)*(?:ask|say\s+(?:so|the\s+word)|shout|write\s+to\s+me|tell\s+me
    |let\s+me\s+know)(?:\s+(?:me|away|any\s?time))?\s*(?:[.!]|$)
    | ^i(?:'m|\s+am)\s+(?:\w+\s+)?(?:here|around|all\s+ears|listening|at\s+your|happy\s+to
      |glad\s+to)\b
    | ^you\s+know\s+where\s+to\s+find\s+me\b"""
)


def invites(text: str, finished: bool) -> bool:
    """Return whether a sentence only says that one may ask: "I'm all ears".

    "Just say so" is meant in earnest where the work is not finished.
    """
    return (_INVITES if finished else _ASK_ME).search(text) is not None
