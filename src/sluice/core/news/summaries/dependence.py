"""Recognises sentences that point to another one: a pronoun, "the company", "However"."""

import re
from typing import Final

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
_DEFINITE: Final = re.compile(r"(?:(?:The|Der|Die|Das|Le|La|Les|El|Los|Las|Il|Lo|Gli)\s+|L')([\w-]+)(?:\s+([\w-]+))?")
_PARTIES: Final = frozenset(
    [
        "company",
        "firm",
        "group",
        "exchange",
        "bank",
        "fund",
        "lender",
        "miner",
        "maker",
        "agency",
        "regulator",
        "ministry",
        "kingdom",
        "country",
        "state",
        "city",
        "court",
        "judge",
        "move",
        "step",
        "decision",
        "news",
        "announcement",
        "deal",
        "agreement",
        "plan",
        "proposal",
        "bill",
        "law",
        "ruling",
        "move",
        "report",
        "study",
        "figure",
        "number",
        "amount",
        "price",
        "purchase",
        "sale",
        "hack",
        "attack",
        "theft",
        "incident",
        "event",
        "operator",
        "startup",
        "start-up",
        "platform",
        "network",
        "token",
        "executive",
        "founder",
        "chief",
        "chair",
        "senator",
        "minister",
        "spokesman",
        "spokeswoman",
        "official",
        "author",
        "analyst",
        "trader",
        "investor",
    ]
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


def points_elsewhere(sentence: str) -> bool:
    """Whether a sentence begins with a word whose meaning stands in another sentence."""
    return _ENGLISH.match(sentence) is not None or _OTHERS.match(sentence) is not None


def is_about_a_party(sentence: str) -> bool:
    """Whether a sentence begins with "the company" or the like, so that it cannot come first."""
    found = _DEFINITE.match(sentence)
    return found is not None and found[1] in _PARTIES


def missing_subject(sentence: str, said: str) -> bool:
    """Whether the sentence is about "the company" or "the bonds" and nothing of that was said."""
    found = _DEFINITE.match(sentence)
    if found is None:
        return False
    words = [word.lower() for word in found.groups() if word]
    # A name after the article needs no introduction: "The Fed", "The Lightning Network".
    is_german = sentence.startswith(("Der ", "Die ", "Das "))
    if found[1][:1].isupper() and not is_german:
        return False
    if words[0] in _PARTIES:
        return words[0] not in said.lower()
    return not any(word[: max(4, len(word) - 2)] in said.lower() for word in words)
