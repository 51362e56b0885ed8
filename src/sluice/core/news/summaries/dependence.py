"""Recognises sentences that point to another one: a pronoun, "the company", "However"."""

import re
from typing import Final

from sluice.core.news.analysts.words import content_words

_ENGLISH: Final = re.compile(
    r"""^["“]?(?:
    (?:It|He|She|They|This|That|These|Those|Its|His|Her|Their|Both|Such|So|Here|There|Neither|Either|Some|Others?|Another|All\ of|
       One\ of\ (?:them|the)|Many\ of|Most\ of|None\ of|Each\ of|The\ (?:latter|former|two|three|four|five|other|others|same|rest|result|second))\b
    | (?:However|But|And|Or|Yet|Also|Still|Then|Thus|Therefore|Moreover|Furthermore|Meanwhile|Instead|Nevertheless|Nonetheless|Otherwise|
       Additionally|Similarly|Likewise|Consequently|Besides|Hence|Even\ so|Afterwards|Later|Earlier|Since\ then|Until\ then|
       In\ (?:addition|contrast|turn|response|comparison|that|this|other\ words|fact|doing\ so|a\ statement)|As\ (?:a\ result|such|for)|
       At\ (?:the\ same\ time|that|this)|On\ (?:the\ other\ hand|top\ of)|For\ (?:example|instance|this|that)|Because\ of|Due\ to\ th|
       Despite\ (?:this|that)|After\ (?:that|this)|By\ (?:contrast|comparison)|If\ (?:so|true)|To\ (?:that|this)|With\ (?:this|that)|That's|It's)\b
    )""",
    re.VERBOSE,
)
# A definite description of somebody who was named before.
_DEFINITE: Final = re.compile(
    r"(?:(?:The|Der|Die|Das|Le|La|Les|El|Los|Las|Il|Lo|Gli|O|Os|As?(?=\s\w+(?:ção|são|dade|agem|ência|ância|resa|dida|pra|tora)s?\b))\s+|L')([\w-]+)(?:\s+([\w-]+))?"
)
_PARTIES_WORDS: Final = (
    "company firm group exchange bank fund lender miner maker agency regulator ministry kingdom country state "
    "city court judge move step decision news announcement deal agreement plan proposal bill law ruling "
    "report study figure number amount price purchase sale hack attack theft incident event operator startup "
    "start-up platform network token executive founder chief chair senator minister spokesman spokeswoman "
    "official author analyst trader investor lawyer prosecutor defendant suspect man woman pair trio duo "
    "lawsuit complaint rule measure vote verdict sentence committee commission board broker custodian "
    "developer researcher retailer insurer airline issuer protocol project partnership merger acquisition "
    "transaction filing settlement outage breach flaw bug victim customer attacker hacker institution "
    "authority watchdog department mine site plant facility programme program product trust rollout release"
)
_PARTIES: Final = frozenset(_PARTIES_WORDS.split())
# Everybody knows which one is meant, or the sentence says it.
_KNOWN_TO_ALL_WORDS: Final = (
    "country state city price number amount network law news figure court executive chief chair customer"
)
_KNOWN_TO_ALL: Final = frozenset(_KNOWN_TO_ALL_WORDS.split())
# A name before them in the same sentence says who is meant.
_NAMED_PARTIES_WORDS: Final = (
    "company firm group exchange bank fund lender miner maker agency regulator operator startup start-up platform broker "
    "custodian retailer insurer airline issuer project"
)
_NAMED_PARTIES: Final = frozenset(_NAMED_PARTIES_WORDS.split())
# "The price of bitcoin", "La directora de Talis": what follows says which one.
_COMPLEMENT: Final = re.compile(
    r"\S+\s+[\w-]+\s+(?:(?:of|behind)\s+(?!the\b|this\b|that\b|these\b|those\b|its\b|their\b|his\b|her\b)|(?:de|del|du|da|do|di|della|von|der|des)\s+[A-Z])"
)
_OTHERS: Final = re.compile(
    r"^(?:"
    # German: a pronoun is followed by a verb, an article by a noun.
    r"(?:Das|Dies|Diese[rsmn]?|Es|Er|Sie|Damit|Dazu|Dadurch|Dabei|Doch|Aber|Allerdings|Zudem|Außerdem|Jedoch|Dennoch|Trotzdem|Auch|So|Beide|Deshalb|Daher|Ihr|Sein)(?=\s[a-zäöü])|"
    r"(?:Diese[rsmn]?|Ihre|Seine|Ihr|Sein)\s|"
    r"(?:Ell[eao]s?|Cela|Ce|Cette|Ces|Mais|Cependant|Toutefois|Son|Sa|Ses|Leurs?|C'est|Ainsi|Ils?)\b|"
    r"(?:Est[oae]s?|Es[oae]s?|Él|Ellos|Ellas|Además|Sin embargo|Pero|También|Así|Sus?|Por ello|Por eso|Según él)\b|"
    r"(?:Iss?[to]o?|El[ea]s?|Mas|Porém|Além|Seus?|Suas?|Ess[ea]s?|Questo|Questa|Inoltre|Tuttavia|Però)\b|"
    r"これ|それ|その|この|あの|彼|彼女|同社|同氏|同行|一方|しかし|また|さらに|なお|そこで|つまり|"
    r"它|他|她|这|這|该|該|此|其|但|然而|因此|同时|同時|另外|此外|不过|不過|而且|"
    r"그는|그녀는|이는|이것|그것|이에|하지만|그러나|또한|한편|그들은|"
    r"(?:Он|Она|Оно|Они|Это|Эт[иао]|Однако|Но|Кроме|Также|Его|Её|Их)\b)"  # noqa: RUF001 - Cyrillic
)


_MORE_OPENINGS: Final = re.compile(
    r"""(?:
    (?:Four|Five|Six|Two|Three|Several|Few|Many|Most|Some|All|None|Half|One|Part|Much)\ of\ (?:them|these|those|it)
    | (?:A\ )?[Ff]urther | (?:Not\ everyone|Nobody|Everyone|Everybody|Somewhere|Elsewhere|Anyone|Someone) | More\ (?:recently|precisely)
    | (?:In|On|At|By|For|With|From|Under|Since|Until|Before|After|During|Despite|Besides|Beyond|Following|Given)\ (?:this|that|these|those|it|them|such|which|then)
    | (?:Until|By|Since|Up\ to)\ (?:now|then) | (?:According\ to|Unlike|Like)\ (?:him|her|them|it)
    | (?:Asked|Pressed|Reached|Contacted)\b | (?:Separately|Subsequently|Conversely|Regardless|Accordingly|Ultimately|Notably|Indeed|Again|Overall|Perhaps|Maybe|Why|How|What|Because|Hence|Too|Either\ way|Even)\b
    | (?:In\ (?:short|brief|sum|summary|essence|particular|total|all|both)|To\ (?:sum\ up|put|be\ (?:clear|sure|fair))|For\ (?:context|comparison|reference|now|more)|
      As\ (?:mentioned|noted|reported|previously|described|well|expected)|(?:Simply|Put)\ (?:put|simply)|Last\ but|Not\ (?:so|all|only|everyone)|Back\ in|Speaking\ (?:later|there|at\ the\ same))\b
    # German, French, Spanish, Portuguese, Italian
    | (?:Und|Oder|Darunter|Beides|Entsprechend|Insbesondere|Genau|Hier|Ihm|Ihnen|Deren|Dessen|Dennoch|Dafür|Davon|Daraufhin|Demnach|Danach|Zuvor|Dagegen|Hingegen|Stattdessen|Zugleich|Gleichzeitig|Dort|Darüber|Darin|Darauf|Hinzu|Letztere[rs]?|Somit|Folglich|Denn|Anders(?=\s[a-zäöü])|Ebenso|Ähnlich)\b
    | (?:En\ revanche|Par\ ailleurs|De\ son\ côté|En\ effet|Selon\ (?:lui|elle|eux)|Or|Et|Puis|Enfin|D'autre\ part|Pourtant|Néanmoins|Celui-ci|Celle-ci)\b
    | (?:Se\ trata|Según\ (?:él|ella|ellos)|Por\ su\ parte|En\ cambio|De\ la\ misma|De\ esta|En\ es[ao]s?|Según\ su|No\ obstante|Asimismo|Dich[oa]s?|Mientras\ tanto|Por\ otr[ao]|Ello|Ambos|Y|Por\ tanto|Aun\ así)\b
    | (?:Segundo\ el[ea]s?|No\ entanto|Entretanto|Contudo|Procurad[oa]s?|Trata-se|Por\ sua\ vez|Já|Ambos|E|Além\ disso|Assim|Por\ outro\ lado|Apesar\ disso|Nesse|Ness[ae]|Dess[ae])\b
    | (?:Secondo\ (?:lui|lei|loro)|Invece|Infatti|Si\ tratta|Entrambi|Quest[aoie]|Ma|Anche|Così|Quindi)\b
    | (?:Mit|In|Bei|Nach|Von|Vor|Aus|Für|Zu|Auf|Durch|Wegen|Trotz|An)\ (?:diese|jene)[mnrs]?\ (?!Jahr|Woche|Monat|Tag|Sommer|Winter|Herbst|Frühjahr|Quartal)
    | (?:Con|En|Por|De|A|Para|Tras|Desde|Sobre|Ante|Com|Após)\ (?:est|es|ess)[aeo]s?\ (?!año|ano|semana|mes|mês|lunes|martes|mi[ée]rcoles|jueves|viernes)
    | (?:Avec|Dans|Pour|Par|Sur|Après|Selon)\ (?:ce|cet|cette|ces|leurs?|son|sa|ses)\ (?!mois|matin|semaine|année)
    # Japanese, Chinese, Korean
    | 同[社氏行国庁省局所] | ただ | 当該 | 両[社者氏行国] | 前述 | 上記 | こうした | そうした | だが | もっとも | しかも | 加えて | 果たして | では
    | [^\uff0c]{0,6}\uff0c[她他它其] | 此前 | 对此 | 對此 | 为此 | 為此 | 据此 | 據此 | 与此 | 與此 | 随后 | 隨後 | 尽管如此 | 相比之下 | 另一方面 | 那么 | 那麼 | 上述 | 其中 | 之后 | 之後
    | 이\ | 그\ | 해당 | 이들 | 이번 | 이같은 | 이러한 | 이로써 | 이후 | 그런 | 그러 | 또 | 다만 | 반면 | 이어 | 이와 | 아울러 | 앞서 | 이날 | 나머지
    )""",
    re.VERBOSE,
)
# A word in the middle that ties the sentence to the one before it.
_TIES: Final = re.compile(
    r"""[,\s](?:meanwhile|however|nevertheless|nonetheless|therefore|moreover|consequently|instead|too|as\ well|in\ turn|by\ contrast|in\ contrast|
    on\ the\ other\ hand|for\ example|for\ instance|hingegen|dagegen|allerdings|jedoch|zudem|außerdem|dafür|davon|en\ revanche|toutefois|cependant|
    por\ su\ parte|en\ cambio|sin\ embargo|no\ entanto|por\ sua\ vez|invece|tuttavia)(?=[\s,.])
    | \bthe\ (?:latter|former|other|others|remaining|rest|same|second|third|fourth|two|three|four|five|trio|duo|pair)\b
      (?!\ (?:quarter|half|time|week|month|year|day|largest|biggest|highest|most|of\ the\ year|straight|consecutive))
    | (?<!and)\ (?:of|in|on|at|by|for|with|from|before|after|to|under|than|behind|against|over|about)\ (?:this|that|these|those|such)\ (?!week|month|year|quarter|day|
      morning|evening|afternoon|summer|winter|spring|autumn|fall|decade|century|time|point|sum|total|is|was|are|were|a\b)[a-z]+
    | \b[Dd]iese[mnrs]?\ (?!Jahr|Woche|Monat|Tag|Sommer|Winter|Herbst|Frühjahr|Quartal|Zeitung|Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonntag)[A-ZÄÖÜ]
    | \b(?:est[ae]|estos|estas|esa|esas|esos)\ (?!año|semana|mes|lunes|martes|miércoles|jueves|viernes|sábado|domingo|mañana|tarde|noche|trimestre|verano)[a-zñ]{4}
    | \b[nd]?es[st][ae]s?\ (?!ano|semana|mês|segunda|terça|quarta|quinta|sexta|sábado|domingo|manhã|tarde|noite|trimestre|año|mes|lunes|martes|mi|jueves|viernes)[a-z]{4}
    | \b(?:cet|cette|ces)\ (?!année|semaine|mois|matin|après|automne|hiver|été)[a-zé]{3}
    | 同社 | 同氏""",
    re.VERBOSE,
)
# A pronoun after words in lower case only, so that nobody was named before it.
_EARLY_PRONOUN: Final = re.compile(
    r"\S+(?:\s[^A-ZÀ-Ý\s]\S*)*?\s(?:er|sie|ihm|ihn|dessen|deren|elles?|ils|lui|él|ell[ao]s?|el[ea]s?|dele|dela|lei)\b"
)
# "Before joining the bank, she …", "At Talis, he …", "Two weeks later, …": who or when stands in the sentence before.
_DANGLING: Final = re.compile(
    r"""(?:Before|After|While|When|Since|Upon|By|On|Without|Besides|In|Prior\ to)\ (?:\w+\ ){0,2}?\w+ing\b[^,]*,?\ (?:he|she|they|it)\b
    | (?:Having|Born|Based|Trained|Raised|Educated|Formerly|Previously|Currently|Outside|Away)\b[^,]*,?\ (?:he|she|they|it)\b
    | (?:In|At|On|From|During|Under|For|With|As|Over|Through|Until|Between)\ [^,]{2,60},\ (?:he|she|they|it|his|her|their|its)\b
    | (?:An?|One|Two|Three|Four|Five|Six|Seven|Eight|Nine|Ten|Several|Some|\d+|Just|Only|Barely|Hours|Days|Weeks|Months|Years|Shortly|Minutes|Soon|Moments)\b
      \ ?(?:[a-z]+\ ){0,3}?(?:(?:later|earlier|afterwards?|thereafter)\b(?=,|\ [A-Z])|(?:before|after),)
    | (?:Like|Unlike)\ (?:many|most|some|other|its|their|his|her)\b | (?:Aquel(?:l[ao]s?)?|Aquele|Aquela|Celui-là|Jene[rsmn]?)\b
    | (?:Nor|Back\ then|Once\ there|Now|At\ first|Eventually|Finally|Initially|Soon|Next|Rather|Equally|All\ (?:two|three|four|five|six)|Among\ (?:them|those))\b(?!\ that)
    | The\ (?:next|following|previous|same|preceding)\ (?:day|week|month|year|morning|evening|night|hour)""",
    re.VERBOSE,
)
_SPEECH: Final = r"(?:sa(?:y|ys|id)|wr(?:ites?|ote)|add(?:s|ed)|told|tells?|argue[sd]?|believe[sd]?|think|thought|expect(?:s|ed)?|warn(?:s|ed)?|note[sd]?)"
# "…," they wrote; "Supporters say it …": whoever that is stands in the sentence before.
_SPEAKER: Final = re.compile(
    rf"""["“].*[,.!?]["”]\s+(?:he|she|they|it)\s+{_SPEECH}\b|[A-Z]\w+s\s+{_SPEECH}\s+(?:that\s+)?(?:it|this)\b"""
)
_OPENING_QUOTES: Final = "\"'“\u2018«„\u2039「『 \u00a0\u202f"
_PERSON: Final = re.compile(r"\b(?:he|she|him|his|hers?)\b")
_THING: Final = re.compile(r"\b(?:it|its)\b")
_SEVERAL: Final = re.compile(r"\b(?:they|them|their)\b")
_PLURAL: Final = re.compile(r"\w{3,}s\b|\b(?:and|people|police|men|women|children|staff|both|each|every\w*|anyone)\b")
_NAME: Final = re.compile(r"(?<!^)(?<!^[\"“])\b[A-Z]\w+|\bwho\b|^[\"“]?[A-Z]\w+ [A-Z]\w+")
_NOUN: Final = re.compile(
    r"\b(?!(?:after|before|when|while|since|until|under|despite|during|with|from|last|next|this|that|what|where|then|also|said|"
    r"once|even|because|although|though|and|but|the|for|was|has|had|not|one|two|who|how|why|enough|year|month|week)\b)[A-Za-z]\w{2,}"
)
_WITH_ARTICLE: Final = re.compile(r"\bthe ([a-z][\w-]+)\b(?! (?:of|that|which|who|behind|for|to)\b)")
_CAPITAL: Final = re.compile(r"(?:\b([A-Z][\w.'\u2019-]*)\s+)?\b([A-Z][a-z]\w+)")


def starts_with_anaphor(sentence: str) -> bool:
    """Return whether a sentence begins with a word whose meaning stands in another sentence, or quotes a pronoun."""
    plain = sentence.replace("\u2019", "'")
    said = plain.lstrip(_OPENING_QUOTES)
    return _SPEAKER.match(plain) is not None or any(
        pattern.match(said) for pattern in (_ENGLISH, _OTHERS, _MORE_OPENINGS, _DANGLING)
    )


def depends_on_another(sentence: str) -> bool:
    """Return whether a word in the middle of a sentence needs another one; the first sentence of an article needs none."""
    if _TIES.search(sentence) or _EARLY_PRONOUN.match(sentence):
        return True
    person, thing = _PERSON.search(sentence), _THING.search(sentence)
    if person and not _NAME.search(sentence, 0, person.start()):
        return True
    if thing and not _NOUN.search(sentence, 0, thing.start()):
        return True
    several = _SEVERAL.search(sentence)
    return several is not None and not _PLURAL.search(sentence, 0, several.start())


def is_about_a_party(sentence: str) -> bool:
    """Return whether a sentence begins with "the company" or the like, so that it cannot come first."""
    found = _DEFINITE.match(sentence)
    return found is not None and found[1] in _PARTIES and not _COMPLEMENT.match(sentence)


def lacks_subject(sentence: str, said: str) -> bool:
    """Return whether the sentence is about "the company" or "the bonds" and nothing of that was said."""
    if _mentions_unknown_party(sentence, said.lower()):
        return True
    found = _DEFINITE.match(sentence)
    if found is None or _COMPLEMENT.match(sentence):
        return False
    words = [word.lower() for word in found.groups() if word]
    # A name after the article needs no introduction: "The Fed", "The Lightning Network".
    is_german = sentence.startswith(("Der ", "Die ", "Das "))
    name = found[2] if is_german else found[1]
    if (name or "")[:1].isupper() or words[0] == "bitcoin":
        return False
    if words[0] in _PARTIES:
        return words[0] not in said.lower()
    return not any(word[: max(4, len(word) - 2)] in said.lower() for word in words)


def _mentions_unknown_party(sentence: str, said: str) -> bool:
    for found in _WITH_ARTICLE.finditer(sentence):
        noun = found[1]
        if noun not in _PARTIES or noun in _KNOWN_TO_ALL or noun in said:
            continue
        is_named = noun in _NAMED_PARTIES and _NAME.search(sentence, 0, found.start()) is not None
        if not is_named and noun not in sentence[: found.start()].lower():
            return True
    return False


def uses_short_name(sentence: str, before: str, said: str) -> bool:
    """Return whether a sentence says "Hewson" where only a sentence that is not quoted said "Margot Hewson"."""
    return any(
        f" {name}" not in f" {said}" and _is_introduced(name, before)
        for first, name in _CAPITAL.findall(sentence)
        if not _is_first_name(first)
    )


def _is_introduced(name: str, before: str) -> bool:
    return any(_is_first_name(first) for first in re.findall(rf"\b([A-Z][\w.'-]*)\s+{re.escape(name)}\b", before))


def _is_first_name(word: str) -> bool:
    return bool(word) and bool(content_words(word)) and not word.endswith(("'s", "\u2019s", "."))
