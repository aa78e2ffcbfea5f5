"""The shapes of asking in English, and those of what only sounds like it."""

from __future__ import annotations

from client_harness.user._idle import pattern

WH = r"(?:which|what|who|whom|whose|when|where|why|how)"
AUX = r"(?:do|does|did|is|are|was|were|will|would|should|shall|can|could|may|might|has|have|had)"
START = (
    r"(?:^|[,;:\u2013\u2014-]\s*|\b(?:so|then|but|and|or|please|kindly|just|also|first|now|maybe)"
    r"[\s,]+)"
)
ANSWER = (
    r"(?:go[\s-]?ahead|confirm(?:ation|ing)?|answer|reply|response|word|approval|decision|ok(?:ay)?"
    r"|say-so|instructions?|input|choice|call|permission|consent|guidance|clarification|direction"
    r"|preference|green\slight|thoughts|pick|yes|nod|blessing|selection|verdict|sign-?off|advice"
    r"|steer"
    r"|authori[sz]ation|agreement|signal|feedback|wish(?:es)?|judge?ment)"
)
MEAN = (
    r"(?:mean|meant|want|wanted|wish|like|prefer|intend|intended|had\s+in|have\s+in|saying|said"
    r"|talking|thinking|asking|asked|refer\w*|expect|expected|okay|ok|fine|happy)"
)
REQUEST = pattern(
    rf"""(?:{START}|\bif\s+you\s+(?:could|would)\s+|\byou(?:'ll|'d)?\s+(?:need|have)\s+to\s+)
      (?:(?:could|can|would|will|if)\s+you\s+(?:could\s+)?(?:please\s+|just\s+|kindly\s+)?)?
      (?:let\s+me\s+know|tell\s+me|advise|clarify|specify|indicate|remind\s+me|give\s+me
      |point\s+me|help\s+me|text\s+me|send\s+me|drop\s+me|message\s+me|get\s+back\s+to\s+me)\b
    | (?:^|[:;,\u2013\u2014-]\s*|\b(?:please|kindly|just|then|so|either|or|could\s+you|can\s+you
      |and|need\s+you\s+to|want\s+you\s+to|like\s+you\s+to|have\s+to|for\s+you\s+to)\s+)
      (?:please\s+)?(?:choose|select|pick|decide|confirm|approve|reply|respond|answer
      |say|name|state|specify|clarify|tell\s+me|give\s+me|provide|check\s+and\s+tell)
      \s+(?:me\s+|us\s+|back\s+|with\s+|between\s+|to\s+me\s+)*
      (?:{WH}|whether|if|that|the|an?|one|your|yes|no|either|\W*\d\b|\W*[ab]\b|below|from|option
      |it|this|before|and\s+i'll|so\s+(?:that\s+)?i|or\s+\w+)\b
    | \bplease\s+(?:choose|select|pick|decide|confirm|approve|reply|respond|answer|advise|clarify
      |specify|provide|indicate)\b
    | \byou(?:'ll|'d|\s+will|\s+would)?\s+(?:\w+\s+)?(?:need|have)\s+to\s+(?:choose|select|pick
      |decide
      |confirm|say|tell|name|answer|reply|clarify|specify)\b
    | ^(?:just\s+)?(?:confirming|double-?checking|checking|making\s+sure)\b[^?]*(?:\bbefore\s+i\b
      |\bfirst\b|:)
    | \b(?:want(?:ed)?|like)\s+to\s+hear\s+(?:from\s+you\s+)?(?:first\s+)?
      (?:whether|if|{WH})\b
    | \bawaiting\s+(?:further\s+)?(?:instructions?|input|orders|guidance|selection|decision)\b
    | \bunless\s+you(?:'d|\s+would)?\s+(?:\w+\s+)?(?:stop|object|tell|say|want|disagree|prefer
      |rather)\b
    | \bif\s+you(?:'re|\s+are)?\s+(?:agree|approve|okay|ok|fine|happy|cool|comfortable
      |give\s+me)\b[^.?!]*,\s*
      (?:then\s+)?i(?:'ll|\s+will|'d|\s+would|\s+can)\s+(?!also\b)
    | \bi\s+(?:still\s+)?need\s+(?:the|an?|her|his|its)\s[^.?!]*\b(?:before\s+i|first
      |to\s+(?:go\s+on|proceed
      |continue|finish))\b
    | ^(?:confirm|approve|clarify|decide|choose|pick)\s*[.!:]?$
    | \b{AUX}\s+(?:you\s+|me\s+)?need\s+to\s+know\b
    | (?:\b(?:i(?:'d|'ll)?|we)\s+(?:\w+\s+){{0,2}}|^(?:still\s+)?)
      (?:need|require|want|like|love|have)\s+
      (?:to\s+(?:know|hear|understand|learn|ask|find\s+out|confirm|clarify|clear\s+up|double-?check
      |check\s+with\s+you|check\s+(?:{WH}|whether|if)|be\s+(?:sure|certain)
      |make\s+(?:sure|certain))|you\s+to|your|a\s+(?:decision|yes|go-ahead|confirmation|word
      |quick\s+(?:answer|confirmation|decision|yes|ok))
      |(?:one|two|three|a\s+(?:few|couple(?:\s+of)?|quick|brief|short|single))\s+
      (?:\w+\s+)?(?:questions?|things?|details?|answers?|clarifications?|decisions?|bits?|pieces?
      |points?|items?|matters?|facts?|words?|hints?|pointers?)
      |confirmation|clarification|(?:the\s+)?answers?)\b
    | \b(?:wait(?:ing)?|hold(?:ing)?|await(?:ing)?|pend(?:ing)?|paus(?:e|ed|ing)|look(?:ing)?
      |stand(?:ing)?\s+by|stopp(?:ed|ing)|on\s+hold)\b[^.?!]*?
      \b(?:your\s+(?:\w+\s+)?{ANSWER}|you\s+(?:to\s+)?(?:{ANSWER}|tell|say|decide|choose|let
      |clarify|answer|reply|respond|pick|approve)|hear\s+from\s+you|to\s+hear)\b
    | \b(?:once|until|unless|till|after|before|when|as\s+soon\s+as|if)\s+
      (?:you(?:'ve|\s+have)?|i(?:'ve|\s+have)?)\s+
      (?:confirm|tell\s+me|told\s+me|decid|choos|chose|clarif|pick|say|said|approv|let\s+me\s+know
      |give\s+me
      |hear[d]?\s+(?:back\s+)?from\s+you|have\s+your|get\s+your|got\s+your|know\s+(?:{WH}|whether
      |the|your|her|his))
    | \bwithout\s+(?:your\s+{ANSWER}|(?:knowing|you\s+(?:telling|confirming|saying)))\b
    | \b(?:your\s+call|up\s+to\s+you|over\s+to\s+you|(?<!whatever\s)(?<!however\s)you\s+decide
      |say\s+the\s+word|your\s+choice)\b
    | ^(?:\w+\s+)?your\s+(?:pick|call|choice|decision|answer|selection|verdict|move|turn)\b
      \s*(?:[:,.!]|please|$)
    | \b(?:is|it's|that's|be|remains)\s+(?:really\s+|entirely\s+)?(?:your\s+(?:decision|call|choice)
      |for\s+you\s+to\s+\w+|yours\s+to\s+\w+|up\s+to\s+you)\b
    | \b(?:only|just)\s+you\s+(?:can|could|know|will\s+know)\b
    | \byou(?:'re|\s+are|'ll|\s+will)\s+(?:the\s+only\s+one\s+who|have\s+to\s+(?:tell|say|decide))
    | \b(?:type|enter|write|say|reply|answer|text|send|respond)\s+(?:(?:just|back|either|with|me
      |me\s+
      back)\s+){{0,2}}["']?[\w.@-]+["']?(?:\s+for\s+[^,.;?!]*?)?(?:,|\s)?\s*(?:\bor\b|/)\s*
    | \b(?:name|surname|number|word|letter|yes|yes\s+or\s+(?:a\s+)?no|address|date|hint|line|nod
      |reply)
      \s+(?:(?:is|would\s+be|will\s+be|'s)\s+(?:\w+\s+)?(?:enough|sufficient|all\s+(?:i|it)\b)
      |will\s+do|would\s+do|suffices|would\s+help|helps)\b
    | (?<!\bno\s)(?<!further\s)(?<!more\s)\b(?:input|action|answer|decision|confirmation
      |clarification
      |approval|choice|selection)\s+(?:is\s+|still\s+)?(?:needed|required|requested|pending
      |missing)\b
    | :\s*(?:choose|select|specify)\s+\w+
    | (?<!along\s)\bwith\s+your\s+{ANSWER}\b | \bi\s+could\s+(?:do\s+with|use)\s+(?:an?|your|the)\b
    | \bi(?:'d|\s+would)\s+appreciate\s+(?:an?|your|the|it\s+if)\b
    | \bi(?:'m|\s+am)\s+(?:stuck|torn|undecided)\b
    | \bi(?:'d|\s+would)\s+be\s+(?:\w+\s+)?(?:grateful|glad|thankful|happy|relieved|obliged)\s+
      (?:to\s+(?:know|hear|learn)|if\s+you\s+(?:could|would|told|said)|for\s+(?:your|a|the|an)\b)
    | \b(?:it|that)(?:'d|\s+would)\s+(?:\w+\s+)?(?:help|be\s+(?:\w+\s+)?(?:good|great|useful
      |helpful|nice|best))\s+(?:me\s+)?(?:\w+\s+)?(?:to\s+(?:know|hear|learn)|if\s+(?:you|i\s+knew))
    | \blet\s+me\s+have\s+(?:the|an?|her|his|your)\b
    | ^(?:just|a\s+(?:quick\s+)?)\s*nod\b
    | \b(?:say|tell\s+me|specify|confirm|clarify)\s+(?:in|to|for|from|with|at|on)\s+{WH}\b
    | \bcorrect\s+me\b | \bwhat\s+i\s+(?:still\s+)?need\b
    | \b(?:(?<!your\s)questions?|need(?:ed)?\s+from\s+you)\s*:
    | \b(?:i'm|i\s+am|i\s+was|just|still|was)\s+(?:\w+\s+)?wondering\s+(?:if|whether|{WH})\b
    | ^(?:still\s+)?(?:not\s+(?:\w+\s+)?(?:sure|certain|clear)|unsure
      |unclear)\s+(?:about\s+)?(?:{WH}|if|whether)\b[^.]*\b(?:you|should|meant|right)\b
    | \b(?:(?:i'm|i\s+am|am)\s+(?:still\s+|just\s+)?
      (?:not\s+(?:\w+\s+)?(?:sure|certain|clear)|unsure|uncertain)|i\s+(?:do\s+not|don't|can't
      |cannot|can\s+not|couldn't|could\s+not)\s+
      (?:\w+\s+)?(?:know|tell|be\s+sure|say|see|work\s+out|determine|decide|figure\s+out)
      |(?:isn't|is\s+not|wasn't)\s+(?:\w+\s+)?(?:clear|obvious|evident)(?:\s+to\s+me)?
      |(?:it|that)?(?:'s|\s?is)\s+(?:\w+\s+)?(?:unclear|not\s+(?:\w+\s+)?clear|ambiguous)
      (?:\s+to\s+me)?)\s+(?:about\s+|on\s+)?(?:{WH}(?:\s+\w+){{0,3}}?\s+to\s+\w+
      |(?:{WH}|if|whether)\b[^.]*\b(?:you(?:'d|\s+would|'re|\s+are)?\s+(?:\w+\s+)?{MEAN}
      |i\s+should|should|meant|supposed))\b
    | \bi(?:'m|\s+am)\s+(?:still\s+)?(?:missing|lacking)\s+\w+
    | \bwithout\s+(?:an?|the|her|his|your)\s[^,.]*\bi\s+can(?:'t|not)\b
    | \bthe\s+only\s+(?:thing|question|point|piece|detail)\s+(?:that's\s+|that\s+is\s+
      |still\s+)*(?:left|open|missing)\s+is\b
    | ^(?:(?:just|simply|please|then)\s+)*(?:reply|answer|respond|say|type|write|text)\s+
      (?:with\s+)?["']?(?:yes|no|ok(?:ay)?|go|confirm|stop|\d|[a-e])["']?
      \s+(?:to|if|and|for|or|when|once)\b
    | \b(?:yes\s*/\s*no|y\s*/\s*n)\b"""
)
INVERTED = pattern(
    rf"""(?:^|[:\u2013\u2014;]\s*|\s-\s+|,\s+(?:and|so|but)\s+)(?:(?:so|and|but|now|please
      |then)[\s,]+)?
    (?:{WH}\s+(?:(?!\b{AUX}\b)[\w'-]+\s+){{0,6}}?
      (?:do|did|would|should|shall|could|can|will|are|is|was)\s+(?:you|i|we|it\s+be)\b
    | (?:shall|should|may|can)\s+(?:i|we)\s+\w+ | (?:do|did|would|will)\s+you\s+
      (?:want|mean|like|prefer|wish|rather|need)\b | (?:want|need|like)\s+me\s+to\b
    | (?:is|are)\s+(?:it|that|this)\s+(?:ok|okay|all\s?right|fine|right|correct)\b
    | which\s+[\w'-]+(?:\s+[\w'-]+){{0,2}}[.:!]?$
    | {WH}\s+(?:\w+\s+){{0,3}}?(?:works?|suits?|fits)\s+(?:\w+\s+)?(?:for\s+)?you\b
    | (?:ok|okay|all\s?right|fine)\s+(?:to|if\s+i)\s+\w+ )"""
)
OFFER = pattern(
    r"""\b(?:if\s+you(?:'d|'re|\s+would)?\s+(?:\w+\s+)?(?:want|like|prefer|rather|wish|happy|okay|ok
    |fine|agree)|if\s+(?:that|this|it)(?:'s|\s+(?:is|works|would|sounds|suits|helps))
    |(?:if|whether)\s+(?:i\s+should|you\s+want))\b"""
)
SEVERAL = pattern(
    r"\b(?:following|things|questions|details|points|answers|information|two|three|few|couple|this"
    r"|these|both|decisions|input|bits|matters)\b"
)
OPEN = pattern(
    rf"""\b(?:can't|cannot|can\s+not|couldn't|unable|need|require|open|unclear|unsure|not\s+sure
      |lack
    |missing|settle|decide|decision|(?:from|for|by|to|up\s+to)\s+you|your\s+{ANSWER}|please
    |tell\s+me|confirm)\b"""
)
ANNOUNCES = pattern(r"\b(?:questions|decisions|choices)\b[^.?!]*:\W*$")
WEAK = pattern(
    r"^(?:still\s+)?need\s+(?:the|an?)\b|\bi(?:'d|'ll)?\s+(?:\w+\s+){0,2}(?:need|require|lack"
    r"|miss)\s+(?:the|an?|her|his|is)\b"
    r"|\bi(?:'d|'ll)?\s+(?:\w+\s+)?need\s*:|^missing\b[^.?!]*:"
    r"|\bplease\s+(?:enter|supply|share|fill\s+in|add)\s+(?:the|your|an?)\b"
    r"|\bmissing\s+is\b|\b(?:all|what)(?:'s|\s+is)\s+(?:still\s+)?missing\b"
)
INDIRECT = pattern(rf"^(?:{WH}|whether|if)\b")
NOUN_PLEASE = pattern(
    r"^(?:(?:the|a|an|her|his)\s+)?(?!yes|no\b"
    r"|thank)[\w']+(?:\s[\w']+)?,\s*please\s*(?:[:.!(?\u2013-]|$)"
)
IN_CASE = pattern(
    r"""^(?:(?:and|but|so)\s+)?(?:if|should|whenever|in\s+case)\b[^,?]*,\s*(?:(?:just|please|do
      |then)\s+)*
    (?:let\s+me\s+know|tell\s+me|say\s+so|ping\s+me|write\s+to\s+me)\b(?!\s+(?:which|whether|what
      |who|how|if))
    (?![^?]*\bor\b)[^?]*$"""
)
IF_SO = pattern(
    r"""\b(?:if|whether)\s+i\s+(?:should|may)\b
    | \bif\s+you(?:'re|\s+are)?\s+(?:agree|approve|okay|ok|fine|happy|comfortable)\b"""
)
NAUGHT = pattern(
    r"""^(?:not\s+(?:today|me|that|so|for|in|a|one)|none|nothing\s*[:.,]
    |there(?:'s|\s+is|\s+are|\s+was|\s+were)(?:n't|\s+(?:no|none|nothing|not))\b
    |i(?:'d)?\s+(?:think|hope|believe|suppose|say)\s+so|i\s+(?:checked|looked|counted)|exactly
      |just\s+(?:one|two))"""
)
BARE = pattern(
    r"^(?:(?:then|just|please|so)\s+)*(?:tell\s+me|let\s+me\s+know|say\s+so|ask"
    r"|give\s+me\s+a\s+shout)[.!]?$"
)
PLAN = pattern(
    r"""\b(?:i'll|i\s+will|i'd|i\s+would|i\s+can|i\s+could|i'm\s+(?:about|going|ready|planning|able)
    |i\s+am\s+(?:about|going|ready|planning|able)|i(?:'ve|\s+have)\s+(?:put|lined\s+up|prepared|drafted
    |set\s+up|got|entered|addressed|queued|filled|written|picked|chosen|selected)|lined\s+up
    |alternative|workaround|plan:|proposal:|suggestion:|it\s+would\s+have\s+to|the\s+only\s+way
    |^(?:replying|forwarding|sending|paying|moving|answering|booking|writing|using|changing)
      |my\s+guess|i'm\s+(?!not|sorry|hold|wait|paus|stuck|happy|afraid|here|around|glad|done)\w+ing
    |i've\s+taken|i'm\s+inclined|i\s+am\s+inclined|i'm\s+leaning|i\s+lean|i\s+tend|i\s+(?:think
      |guess|suppose|assume|believe|take\s+it)|i\s+(?:plan|propose|suggest|intend|recommend|want)
    |(?:my|the)\s+(?:plan|proposal|suggestion)|instead|ready\s+to|(?:is|are)\s+ready|about\s+to|planned|proposed?)\b"""
)
YOURS = pattern(r"\b(?:you|your|yours|you'd|me|should\s+i|shall\s+i|may\s+i|can\s+i|i\s+should)\b")
WISHES = pattern(
    r"""\b(?:shall|should|may|can|could|must)\s+(?:i|we)\b | \bme\s+to\b | \bi\s+should\b
    | \b(?:do|did|would|will|are|were|have)\s+you\s+(?:\w+\s+)?(?:want|like|prefer|mean|rather|wish
      |mind|need|okay|ok|happy|fine|agree|expect|intend|plan|approve|have|know|remember|object)\b
    | \byou(?:'d|\s+would)\s+(?:\w+\s+)?(?:like|prefer|rather)\b
    | \b(?:am|are)\s+(?:i|we)\s+(?:\w+\s+)?(?:allowed|permitted|free|cleared|authori[sz]ed)\b
    | \b(?:have|do)\s+(?:i|we)\s+(?:have\s+)?your\s+(?:ok|okay|permission|consent|blessing|go)\b
    | \b(?:can|could|would)\s+you\s+(?:please\s+)?(?:tell|give|confirm|let|say|send|clarify|check)\b
    | \b(?:what|which|when|where)\b.*\byour\b"""
)
CONSULTS = pattern(
    r"\b(?:or|right|correct|ok|okay|fine|all\s?right|alright|agreed?|confirm|approve|enough|allowed"
    r"|go(?:[\s-]ahead)?|thumbs|yes|work\s+for\s+you|suit\s+you|have\s+to\s+be"
    r"|what\s+you\s+(?:want|meant|had\s+in\s+mind))\b"
)
SELF_ANSWER = pattern(
    r"""^(?:(?:also|again|and|well)[\s,]+)?(?:yes|yep|yeah|no(?!\s+(?:rush|hurry|problem|worries
      |need|matter))|nope|not\s+(?:quite|yet
    |really|at\s+all|exactly|this|any|my)|either\s+way|in\s+any\s+case|no\s+matter|because
      |unfortunately|sadly|luckily|fortunately|apparently
    |probably|almost|absolutely|hardly|barely|nobody|no\s+one|(?:i|let's|we)\s+(?:do\s+
      |sure\s+)?hope\s+so|indeed|of\s+course|certainly|neither|i\s+(?:think|believe|guess)\s
    |i\s+(?:don't|do\s+not)\s+(?:think|believe)|(?:the\s+)?(?:short\s+)?answer
      |a:)\b(?!\s+or\s+no)"""
)
PAST_FACT = pattern(
    r"^(?:(?:so|and|but)[\s,]+)?(?:how\s+)?(?:did|has|have|had|was|were)(?:n't)?\s+(?!you\b|i\b)"
)
DECIDED = pattern(
    r"\bi\s+(?:\w+ly\s+|then\s+)?(?:paid|sent|chose|picked|went\s+with|used|booked|took|replied"
    r"|answered|forwarded|moved|assumed)\b(?!\s+(?:nothing|nobody|neither|no\b))"
)
FACT = pattern(
    r"^(?:(?:so|and|but)[\s,]+)?(?:why|how\s+come|how|what|when|where)\b"
    r"|^(?:and|as\s+for)\s+(?:the|your|her|his)\s"
)
GIVEN = pattern(
    r"""\bas\s+you\s+(?:said|told|asked|named|wished|allowed|wanted|wrote|chose|confirmed)\b
    | ^(?!the\s(?:choices|options|two)\b)(?:the|only|back|just)\s(?:[\w']+\s?){1,2}(?::|[.!]$)
    | ^(?:the|in|on|at|by|from|with|back|only)\s(?!one\b.*\bone\b)
    (?:(?!is\b|are\b|was\b|were\b|has\b|had\b|have\b|or\b|and\b|both\b|\w+n't\b|asks|wants|comes
      |says)[\w'$.,]+\s?){1,7}$
    | ,\s*and\s(?:yes|no)[.!]?$
    | ^(?:the|that)\s(?:one\s|[\w']+\s)(?:that\s)?you\s(?:said|told|named|chose|picked|meant|wanted
    |confirmed|asked)\b"""
)
SPLIT = pattern(
    rf"""(?:,|;|\s[\u2013\u2014-])\s*(?:and|or|but|so|also|plus|then)?\s*(?:also\s+)?
    (?=(?:{WH}|should|shall|may|can|could|do|does|did|is|are|would|will|let\s+me\s+know|please)\s)
    | \s+(?:and|or|but|plus)\s+(?:also\s+)?
    (?=(?:{WH}|whether|should\s+i|shall\s+i|is\s+there|can\s+i|may\s+i|could\s+i|do\s+you
      |did\s+you)\s)"""
)
