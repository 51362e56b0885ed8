"""Headlines that report no event: guides, calendars, tables, open questions. They are neutral whatever their words."""

import re
from typing import Final

_NUMBER: Final = r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten)"
_NO_NEWS: Final = re.compile(
    rf"^(?:how (?:to|do|does)|what (?:is|are) (?!behind|driving|causing)|who is|guide|a guide|the guide|beginner|glossary|quiz|podcast|video|watch|"
    rf"listen|sponsored|advert|ad:|press release|partner content|promoted|paid|explainer|explained|review|film|book|learn|tutorial|"
    rf"interview|q&a|transcript|recap|calendar|newsletter|opinion poll|looking back|the story of|the man who|the woman who|meet the|inside|(?:crypto |economic )?calendar|on this day|fear and greed|{_NUMBER} "
    rf"(?:\w+ )?(?:things|charts|ways|facts|tips|books|questions|terms|myths|lessons)|top \d+|best .*(?:compared|20\d\d|wallets|exchanges|apps|cards)|"
    rf"(?:morning|evening|daily|weekly) (?:\w+ )?(?:brief\w*|report|digest|recap|note|update)|week (?:in review|ahead)|what to (?:watch|know|expect)|"
    rf"(?:a|an|the) (?:short |brief |oral |visual )?history)\b"
    r"|^what .* means?$|\b(?:a primer|price prediction|price forecast 20\d\d|live (?:chart|price|updates)|price today|to usd|explained$|for beginners|things to know|oral history|"
    r"(?:short|brief) history|history of|years on$|anniversary of|step by step|step-by-step|cheat sheet|compared$|tells the story|a timeline|"
    r"a guide$|: a guide|calculator|everything you need|here's how|a beginner's|what it means|glossary|documentary|in (?:ten|five) minutes)\b"
)
_PROCEDURE: Final = re.compile(
    r"\b(?:sets? (?:\w+ )?date|schedules?|scheduled|to (?:report|speak|testify|adjust|present|host|attend|vote|meet|discuss|publish|decide)|"
    r"hears? (?:closing |opening )?arguments|comment period|publish(?:es)? (?:a )?(?:paper|report|study)|appoints?|names? (?:new|\w+ as)|hires?|renames?|rebrands?|"
    r"files? updated|prospectus\w*|expires? on|conference|summit|headquarters|debate|discuss(?:es)?|released with|attend(?:s)?|"
    r"opens? (?:consultation|comment)|consultation|adds support for|left to mine|mined$|partnership agreement|survey|study|poll|comment|has not decided|"
    r"did not move|moves? to \w+ for 20\d\d|white ?paper|block [\d,]+|version \d[\d.]*|v\d[\d.]*|core v?\d[\d.]*|updates? (?:its|guidance|terms|app)|tests?|testnet|signet|hardware wallet|firmware|specification|open letter|pilot|trial date)\b"
)
_CALM: Final = re.compile(
    r"\b(?:holds? steady|little changed|trad(?:es?|ing) (?:flat|sideways|in a)|flat (?:near|at|around)|unchanged|stays? put|"
    r"consolidat\w+|sideways|range-?bound|in a (?:tight |narrow )?range|treads? water|steady (?:at|near|around|as|ahead|before)|near par|quiet|cancel out|"
    r"(?:are|is) split|split on|mixed|(?:traders|investors|markets?|bulls|bears) wait for|awaits?|await|directionless|rangebound|stable at|hovers?|between \$)\b"
)
_SMALL_MOVE: Final = re.compile(
    r"\b(?:rises?|gains?|climbs?|up|adds?|falls?|slips?|drops?|down|dips?|eases?|loses?|higher|lower)\s+(?:by )?0\.[0-3]\d?%"
)
_OPEN_QUESTION: Final = re.compile(
    r"^(?:will|can|could|should|is|are|does|do|would|has|have|what|which|who|where|when|might|may|what's|how (?:much|many|long|will|would|could|can|does|do))\b|\bor\b|\bwhat next\b|\bwhat's next\b"
)
_DIRECTED_QUESTION: Final = re.compile(
    r"^(?:why\b|how (?:low|high|far)\b|what(?:'s| is) (?:behind|driving|causing))|\?\s*\w"
)
_SIGNED: Final = re.compile(r"^(?:btc|bitcoin|xbt|btc/usd|btcusd)\b[^+\-\u2212a-z]{0,20}([+\-\u2212])\d+(?:\.\d+)?%")


def find_signed_move(title: str) -> float:
    """Return 1 or -1 for a table that begins with Bitcoin's change, else 0."""
    found = _SIGNED.match(title)
    return 0.0 if found is None else 1.0 if found[1] == "+" else -1.0


def is_no_event(title: str) -> bool:
    """Return whether a title announces a guide, a list, a table or the like, or a move too small to matter."""
    return _NO_NEWS.search(title) is not None or _SMALL_MOVE.search(title) is not None


def is_open_question(title: str) -> bool:
    """Return whether a title asks without taking an answer for granted."""
    return title.endswith("?") and not _DIRECTED_QUESTION.search(title) and _OPEN_QUESTION.search(title) is not None


def is_procedure(title: str) -> bool:
    return _PROCEDURE.search(title) is not None


def is_calm(title: str) -> bool:
    return _CALM.search(title) is not None
