"""Recognises sentences that belong to the site or to nobody: calls to subscribe, disclaimers, captions, bios, tables."""

import re
from typing import Final

_ENGLISH: Final = re.compile(
    r"""
    \b(?:sign(?:ing)?\ up|subscrib\w+|newsletters?|log\ ?in|sign\ in|register\ (?:now|here|to|for)|free\ trial|paywall|
       members?\ only|for\ members|members\ get|become\ a\ member|join\ (?:today|now|us|our)|unlimited\ access|free\ articles?|
       to\ continue\ reading|continue\ reading|read\ (?:more|also|next|the\ full|this\ article)|click\ (?:here|each|to)|
       cookies?\ (?:to|policy)|accept\ all|privacy\ policy|terms\ of\ (?:use|service)|your\ browser|enable\ javascript|
       follow\ us|stay\ (?:with\ us|tuned)|more\ to\ follow|share\ this|copy\ link|leave\ a\ comment|in\ the\ comments|
       all\ rights\ reserved|©|copyright|(?:financial|investment|legal|tax)\ advice|do\ your\ own\ research|
       high\ market\ risk|information(?:al)?\ (?:purposes\ )?only|views\ expressed|author'?s\ own|does\ not\ (?:constitute|necessarily)|
       sponsored|paid\ (?:press|post|partner|content)|press\ release|advertis\w+|promo(?:tional)?\ code|use\ code|affiliate|
       featured\ image|image\ (?:via|credit|source|by|from)|photo\ (?:by|credit|via)|shutterstock|getty|
       (?:earlier|previous)\ version\ of\ this|this\ (?:story|article|post|page)\ (?:is|was|has|will|may|contains|first|originally)|
       updated\ (?:at|on|with)|will\ be\ updated|originally\ (?:appeared|published)|live\ (?:coverage|updates|blog)|
       edited\ by|reporting\ by|written\ by|reach\ (?:her|him|them|the\ author)|(?:is|was)\ an?\ (?:\w+\ ){0,3}(?:reporter|journalist|editor|writer|correspondent|freelancer|contributor)|
       contact\ (?:the\ author|us)|holds?\ a\ (?:degree|bachelor|master)|has\ covered|send\ (?:us\ )?(?:tips|feedback)|
       could\ not\ (?:immediately\ )?be\ reached|declined\ to\ (?:comment|name|say|elaborate)|did\ not\ (?:immediately\ )?(?:respond|reply)|
       page\ (?:you\ are|not\ found)|front\ page|home\ ?page|popular\ now|most\ read|trending|recommended|related|
       let'?s\ dive|dive\ in|here\ (?:is|are|'s)\ (?:what|how|why|everything)|here's|key\ takeaways|that\ is\ all|that's\ all|more\ on\ this|
       as\ if\ it\ were|of\ course|for\ sure|if\ true|stay\ up\ to\ date|appeared\ first\ on|story\ continues|scroll\ (?:down|to)|tap\ here|min(?:utes?)?\ read|sign-up|
       translated\ (?:by|from)|(?:produced|written|generated)\ with|courtesy\ of|not\ responsible|past\ performance|capital\ (?:is\ )?at\ risk|
       your\ capital|risk\ warning|opinions\ expressed|not\ reflect|fact-checked|this\ (?:report|newsletter|video|podcast)\ (?:is|was|has)|
       was\ first\ published|subject\ to\ change|back\ to\ top|skip\ to|view\ comments|show\ more|load(?:ing)?\ more|see\ also|ask\ us|download\ (?:the|our)\ app|available\ on\ (?:ios|android)|
       buy\ (?:tickets|now)|limited\ (?:time|offer)|\d+%\ off|bonus|welcome\ to\ our|good\ (?:morning|evening|afternoon)|
       (?:thrilled|excited|delighted|proud|pleased|honou?red)\ to|forward-looking|(?:results|outcomes|events)\ (?:may|could|might)\ (?:differ|vary)|(?:no|any)\ (?:obligation|duty)\ to|safe\ harbou?r\ statement|litigation\ reform|
       is\ (?:a|an|the|one\ of\ the)\ (?:[\w'-]+\ ){0,2}(?:leading|premier|foremost|trusted|largest\ and\ most)|media\ contact|investor\ relations|
       follow\ (?:our|this)|(?:our|your)\ consent|\d+\ partners|personalised\ ad\w*|personalized\ ad\w*|notifications?|whole\ story|what\ happens\ next|you\ (?:have|can|may|should|need|must|agree)|your\ (?:email|inbox|account|experience)|tell\ us|
       # How a text was made, by whom and for which medium
       (?:edited|shortened|condensed|abridged)\ for|the\ editors|news\ ?rooms?|journalism|webcast|live\ ?stream|transcript|recording\ of|
       asked\ (?:not\ to\ be|to\ remain|for\ anonymity)|(?:on\ )?condition\ of\ anonymity|(?:first|early|earlier|late|evening)\ editions?|mis(?:named|quoted|identified|reported|printed)|
       (?:spelled|spelt)\ wrongly|may\ (?:be|contain)\ (?:incomplete|inaccura\w+|errors|outdated|delayed)|(?:story|report|piece|item)\ (?:on|about)\ .{0,40}\ (?:was|is|has|appears)|
       in\ the\ (?:story|article|piece|column)|comes?\ from\ (?:donors|readers|grants)|all\ times\b.{0,40}\btime|
       corrections?\ (?:on|to|of|in|was|were)|quiz|gift\ cards?|job(?:s)?\ board|open\ roles|comments\ (?:on|about|are|below|section)|on\ holiday|briefing\ (?:each|every)|as\ of\ \d|
       the\ text(?!\ of)|podcasts?|webinars?|photographs?\ (?:of|were|was|are)|contributed\ (?:research|reporting|data)|registration\ for|to\ mark\ the|
       # Where a text comes from, what will follow it, and what a company always says about itself
       (?:additional|with|further)\ reporting|reporting\ (?:from|for|contributed)|(?:was|were|is)\ compiled\ (?:from|by|with|using)|(?:wire|news)\ (?:services|agencies)|
       (?:more|further)\ (?:details|information|news)\ .{0,60}(?:shortly|soon|follow|expected|to\ come|available)|(?:shown|quoted|listed|displayed|given)\ (?:here|above|below)|
       delayed\ by\ (?:at\ least\ )?\d+\ minutes|(?:print|digital|weekend|printed)\ edition|translat\w+\ .{0,60}(?:machine|software|automatically|an?\ ai)|machine[ -]translat\w+|
       (?:risky|speculative|volatile)\b.{0,60}\b(?:lose|loss|losing)|loss\ of\ (?:all|the\ entire)|lose\ (?:all|everything)|
       founded\ in\ \d{4}\b.{0,60}\b(?:headquartered|based|operates|offices)|(?:headquartered|based)\ in\b.{0,40}\bfounded\ in)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LABELS: Final = re.compile(
    r"""^(?:disclaimer|disclosure|correction|editor'?s?\ note|note|update[ds]?|image|photo|picture|source|sources|credit|caption|video|
    watch|listen|podcast|tags?|topics?|filed\ under|related|see\ also|also\ read|read|sponsored|ad|advertisement|breaking|live|
    weather|poll|quiz|author|by|about\ the\ author|contact|share|popular|key\ points|tl;?dr)\b\s*[:|(]""",
    re.IGNORECASE | re.VERBOSE,
)
_OTHER_LANGUAGES: Final = re.compile(
    r"""
    # German, French, Spanish, Portuguese, Italian
    stell\w+\ keine\b|(?:kauf|anlage)empfehlung|(?:der|dieser)\ (?:text|beitrag|artikel)\b|der\ verfasser|die\ verfasserin|printausgabe|e-paper|mediathek|mitschnitt|(?:an|bei)\ der\ recherche|erschien\ zuerst|zuerst\ erschienen|agenturmaterial|
    ne\ constitu\w+\ (?:pas|en)|conseils?\ d'investissement|\b(?:le|ce)\ texte\b(?!\ de)|édition\ (?:papier|imprimée|abonnés)|accès\ payant|avec\ (?:l')?(?:afp|reuters|agences?)\b|a\ contribué|en\ replay|
    no\ constituy\w+|recomendaci(?:ón|ones)\ de|\bel\ texto\b(?!\ de)|edición\ impresa|foto\ de\ archivo|imagen\ de\ archivo|con\ información\ de|
    não\ constitu\w+|recomendaç(?:ão|ões)\ de|\bo\ texto\b(?!\ d)|edição\ impressa|com\ informações\ d|(?:informações|dados|informaciones|informations|informazioni)\ (?:acima|abaixo|anteriores|ci-dessus|qui\ sopra)|
    non\ costituisc\w+|lesen\ sie|mit\ material\ von|quelle:|foto:|newsletter|abonnier\w+|anmelden|melden\ sie|jetzt\ (?:testen|lesen)|cookies|haftungsausschluss|keine\ anlageberatung|
    lire\ (?:aussi|la\ suite)|abonnez|inscrivez|newsletter|conseil\ en\ investissement|
    suscr[íi]b\w+|bolet[íi]n|lea\ (?:también|este|más)|leer\ más|regístrate|no\ constituye|
    assine|inscreva|leia\ (?:mais|também)|boletim|não\ constitui|iscriviti|leggi\ anche|
    # Japanese, Chinese, Korean, Russian
    続きを読む|会員登録|会員限定|関連記事|ログイン|登録が必要|無断転載|投資助言|こちら(?:から|を)|
    点击|點擊|查看更多|免责声明|免責聲明|责任编辑|責任編輯|不构成|不構成|扫码|关注我们|阅读全文|相关阅读|来源[\uff1a:]|订阅|
    기사\ 제보|무단\ 전재|재배포\ 금지|구독|로그인|관련\ 기사|투자\ 조언|
    подпи[шс]\w+|читайте\ также|не\ является|рассылк
    """,
    re.IGNORECASE | re.VERBOSE,
)
_FIRST_PERSON: Final = re.compile(r"""^["“«„]?(?:I|I'm|I've|My|We|We're|Our|Me|You|Your)\b""")
_TIME_STAMP: Final = re.compile(r"^\(?\d{1,2}[:.]\d{2}\b")
_ROW: Final = re.compile(r"^[A-Z]{2,6}\s+[$€£]?[\d.,]+\s+[+-]?[\d.]+%?$")
_BULLET: Final = re.compile(r"^[-•*▪◦>]\s")
_QUOTE_ONLY: Final = re.compile(r"""^["“«「].*["”»」][.!?]?$""")
_EMAIL: Final = re.compile(r"\S+@\S+\.\w+|https?://")
_MIN_LETTERS: Final = 0.5


def is_boilerplate(sentence: str) -> bool:
    """Return whether a sentence must not stand in a summary, whatever stands around it."""
    sentence = sentence.replace("\u2019", "'")
    patterns = (_LABELS, _FIRST_PERSON, _TIME_STAMP, _ROW, _BULLET, _QUOTE_ONLY)
    if any(pattern.match(sentence) for pattern in patterns):
        return True
    if any(pattern.search(sentence) for pattern in (_ENGLISH, _OTHER_LANGUAGES, _EMAIL)):
        return True
    letters = sum(char.isalpha() or char.isspace() for char in sentence)
    return sentence.rstrip('"”)」』').endswith(("?", "\uff1f")) or letters < _MIN_LETTERS * len(sentence)
