"""Recognises sentences that speak to the reader or in the name of the site: "you", "our", "Unlock …", polite forms."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from sluice.core.news.vocabulary.summaries import (
    COMMANDS,
    ENTRY_VERBS,
    NOUN_COMMANDS,
    OBJECTS,
    SITE,
    SITE_WITHOUT_WORD_ENDS,
)

_QUOTED: Final = re.compile(r"""“[^”]*”|"[^"]*"|«[^»]*»|„[^“”]*[“”]|「[^」]*」|『[^』]*』""")
# Pronouns of the first and second person.
_PERSONS: Final = {
    "en": re.compile(
        r"\bI(?:'\w+)?(?=\s[a-z])|\b(?:[Mm]y|me|myself|[Ww]e|us|[Oo]urs?|ourselves|[Yy]ou|[Yy]ours?|yourself|[Ll]et's)\b"
    ),
    "de": re.compile(
        r"\b(?:[Ii]ch|mich|mir|[Mm]eine?[mrs]?|meinen\ eigenen|[Ww]ir|[Uu]ns|[Uu]nser\w{0,2}|[Dd]u|[Dd]ich|[Dd]ir|[Dd]eine?[mnrs]?|[Ee]uch|[Ee]ure?[mnrs]?)\b"
        r"|(?<=[\w,] )(?:Sie|Ihnen|Ihre?[mnrs]?)\b"
    ),
    "fr": re.compile(r"\b(?:je|nous|notre|nos|vous|votre|vos|tu|tes)\b|\bj'", re.IGNORECASE),
    "es": re.compile(
        r"\b(?:yo|mis?|nosotr[oa]s|nos|nuestr[oa]s?|t[uú]|tus|te|ti|usted(?:es)?|vuestr[oa]s?)\b", re.IGNORECASE
    ),
    "pt": re.compile(
        r"\b(?:eu|meus?|minhas?|nós|noss[oa]s?|vocês?|te|tu|teus?|tuas?|conosco|connosco)\b", re.IGNORECASE
    ),
    "it": re.compile(r"\b(?:io|mi[oa]|noi|nostr[oaie]|tu|tuo|tua|tuoi|voi|vostr[oaie])\b", re.IGNORECASE),
    "nl": re.compile(r"\b(?:ik|mijn|wij|ons|onze|jij|jouw|jullie|u|uw)\b", re.IGNORECASE),
    "pl": re.compile(r"\b(?:nasz\w{0,3}|nam|nas|wasz\w{0,3}|wam|was|tw[oó]j\w{0,3}|cię)\b", re.IGNORECASE),
    "tr": re.compile(r"\b(?:bizim|bize|biz|sizin|size|siz)\b", re.IGNORECASE),
    "ru": re.compile(
        r"\b(?:я|мы|нас|нам|наш\w{0,3}|вы|вас|вам|ваш\w{0,3})\b", re.IGNORECASE
    ),
    "ja": re.compile(
        r"ください|下さい|ませんか|ましょう|か。$|あなた|皆さん|みなさん|当サイト|弊社|編集部|[本当この]記事|筆者|私[はがた]"
    ),
    "zh": re.compile(
        r"您|你|我们|我們|咱|让我|讓我|(?:^|[,\uff0c、])[请請]|[本该該此][文站报報网網]|读者|讀者|小编|小編|编者|編者|笔者|筆者"
    ),
    "ko": re.compile(r"여러분|세요|십시오|까요|까\.?$|우리는|저희|본지|독자|본 기사|이 기사|당신"),
}  # fmt: skip
_VERBS: Final = COMMANDS.replace(" ", "|")
_NOUN_VERBS: Final = NOUN_COMMANDS.replace(" ", "|")
_OBJECTS: Final = OBJECTS.replace(" ", "|")
_COMMANDS: Final = {
    "en": re.compile(
        rf"(?:(?:please|simply|just|now|also|then|always)\s+)?(?:(?:{_VERBS})\s+(?!(?:of|was|were|is|are|has|had|orders?)\b)"
        rf"|(?:{_NOUN_VERBS})\s+(?:{_OBJECTS})\b)",
        re.IGNORECASE,
    ),
    "de": re.compile(r"\w+en\s+Sie\b|(?:Abonnier|Folg|Lies|Klick|Meld|Hol|Sicher|Entdeck)\w{0,2}\s"),
    "fr": re.compile(r"(?!Chez|Assez)\w+ez\b"),
    "es": re.compile(
        r"\w*[áéíóú]\w*(?:nos|te|se)\b|(?:Sigue|Lee|Lea|Descubre|Recibe|Descarga|Haz|Mira|Conoce|Comparte|Entra|Apoya|Escucha|Vea|Ve)\s"
    ),
    "pt": re.compile(
        r"(?:Siga|Entre|Assine|Clique|Veja|Confira|Saiba|Receba|Baixe|Leia|Acompanhe|Participe|Inscreva|Ouça|Cadastre|Conheça|Compartilhe)\b"
    ),
    "it": re.compile(r"(?:Iscriviti|Leggi|Scopri|Segui|Scarica|Clicca|Ascolta|Guarda|Ricevi|Abbonati|Unisciti)\b"),
    "nl": re.compile(r"(?:Lees|Meld|Schrijf|Volg|Klik|Download|Bekijk|Ontvang|Abonneer)\s"),
    "ru": re.compile(r"\w+(?:йте|ите)(?:сь)?\b"),
    "zh": re.compile(
        r"(?:下载|下載|注册|註冊|点击|點擊|扫描|扫码|掃描|关注|關注|加入|领取|領取|打开|登录|登錄|订阅|訂閱|查看|阅读|閱讀|了解|获取|獲取|欢迎|歡迎|敬请|敬請|快来|立即|马上)"
    ),
}  # fmt: skip
# A polite ending in an article that is written in the plain form speaks to the reader.
_POLITE: Final = {
    "ja": re.compile(r"(?:です|ます|ました|ません|でした)[。\uff01]?$"),
    "ko": re.compile(r"(?:니다|요)[.!]?$"),
}
# Something before a colon that is no clause: "Editor's note, 3 May: …", "Top movers: …".
_LABEL: Final = re.compile(r"(?=([^:\uff1a]{1,48}[:\uff1a]))\1(?!\d|\s?[\"“„«「])")
_MAX_LABEL_WORDS: Final = 6
_WIDE_LABEL: Final = re.compile(r"[^\s。、\uff0c\uff1a=\uff1d]{1,10}[\uff1a\uff1d=]")
_OPENS_NOTE: Final = "([{【\uff08※▶►■□◆●★☆→*_`|#~+<@§¶†‡"
_SEPARATORS: Final = re.compile(r"\s[|·•»/]\s|```|_{2,}|[▲▼△▽►▶➤✓✔]")
_PICTOGRAPHS: Final = frozenset({"So", "Sk", "Cs", "Co"})
# The article, the page or the author itself is the subject, or what the site sells.
_SITE: Final = re.compile(rf"\b(?:{SITE})\b|{SITE_WITHOUT_WORD_ENDS}", re.IGNORECASE)
_TIME_OF_ENTRY: Final = re.compile(
    rf"(?:(?:{ENTRY_VERBS})\b|\W?\b\d{{1,2}} (?:minutes?|hours?|days?) ago\b)|"
    r"\(?\d{1,2}\s?(?:[:.h]\s?\d{2}\s?(?:[ap]\.?m\.?|h|uhr|utc|gmt|e[sd]?t)?|[ap]\.?m\.?)\b",
    re.IGNORECASE,
)


def addresses_reader(sentence: str, language: str) -> bool:
    """Return whether a sentence addresses the reader, or tells of the site instead of the news."""
    plain = sentence.replace("\u2019", "'")
    unquoted = _QUOTED.sub(" ", plain)
    persons, commands = _PERSONS.get(language), _COMMANDS.get(language)
    if (persons and persons.search(unquoted)) or (commands and commands.match(plain)):
        return True
    return _is_exclaimed(unquoted) or _looks_like_a_note(plain) or _SITE.search(unquoted) is not None


def _is_exclaimed(unquoted: str) -> bool:
    return "!" in unquoted or "\uff01" in unquoted or _SEPARATORS.search(unquoted) is not None


def _looks_like_a_note(sentence: str) -> bool:
    """Return whether a label, a bracket, an emoji or a time of day opens the sentence."""
    if sentence[:1] in _OPENS_NOTE or unicodedata.category(sentence[:1] or " ") in _PICTOGRAPHS:
        return True
    if any(unicodedata.category(char) == "So" and ord(char) > 0x2190 for char in sentence):
        return True
    label = _LABEL.match(sentence)
    is_label = label is not None and len(label[1].split()) <= _MAX_LABEL_WORDS
    return is_label or any(pattern.match(sentence) for pattern in (_WIDE_LABEL, _TIME_OF_ENTRY))


def find_polite(sentences: Sequence[str], language: str) -> frozenset[str]:
    """Return the sentences in polite style, if most of the article is in plain style."""
    if (pattern := _POLITE.get(language)) is None:
        return frozenset()
    polite = frozenset(each for each in sentences if pattern.search(each))
    return polite if len(polite) * 2 <= len(sentences) else frozenset()
