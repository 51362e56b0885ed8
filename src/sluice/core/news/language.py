"""Tells the language of a text by script, function words and spelling. Titles are short, so every sign counts."""

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Final

_ENGLISH_WORDS: Final = (
    "the of to a an in on for and is are was were be been as at by with from after before over under above below "
    "than that this these it its his her their will would can could may not no but or if while amid despite how why "
    "what who when where into out up down off about more most new first says say said has have had do does did just "
    "still yet our your you we they he she all again back only some such very per via against between through "
    "during since until near without within "
    # Verbs of headlines, which no other language spells like that
    "buys buy sells sell adds hits cuts rises falls drops gains loses wins launches files sues lifts raises sees holds "
    "moves takes makes gets gives keeps shows warns backs bans fines hosts hires names opens closes joins leaves leads "
    "slips climbs jumps slides sinks soars tumbles plunges surges rallies suspends halts resumes approves rejects delays "
    "denies unveils reports reaches accepts mines stuns trades rejoins owns spends pays faces seeks urges plans calls "
    "miners traders investors holders shares stocks hackers lawmakers inflows outflows withdrawals "
)
_FOREIGN_WORDS: Final = (
    # German, Dutch, Swedish
    "der das und ist nicht ein eine einen einem einer mit von zu auf für dem des im vor nach bei über unter aus "
    "wird werden sich "
    "gegen ab auch als wie um noch mehr durch zum zur sind wurde seit bis het een van voor met op naar niet door "
    "uit onder boven na stijgt daalt och att som "
    "är på med av till det "
    "ihre ihren ihrem seine seinen alle hat haben hatte kann können muss soll stoppt verliert gewinnt kauft verkauft "
    "kunden börse montag dienstag mittwoch donnerstag freitag weiter wegen trotz während laut jetzt heute gestern euro "
    "besluit kopers winst verlies wordt worden heeft dit deze bij nog meer tegen euro efter inte från kursen stiger faller "
    # French, Spanish, Portuguese, Italian
    "le la les une des et est pas pour dans sur au aux du avec par après sous ce cette qui que ses leur leurs se "
    "ne en de sont vers "
    "el los las del y con por para una más sobre tras ante según su sus al desde hasta como lo contra entre pero "
    "sin ya "
    "o os da dos das em na nos nas com um uma mais não ao pelo pela quem il gli dei delle della nel nella per più "
    "dopo di che sono "
    # Words of the trade in these languages
    "erreicht neues neue neuer allzeithoch kurs prozent anleger milliarden millionen steigt fällt kryptowährung "
    "kryptowährungen "
    "cours hausse baisse milliards monnaie bourse précio precio sube cae baja supera alcanza máximo mínimo "
    "millones dólares "
    "criptomonedas mercado inversores sobe cai ultrapassa atinge fecha alta queda mil reais milhões bilhões "
    "criptomoedas investidores "
    "prezzo scende crolla supera nuovo massimo minimo criptovalute mercati borsa koers miljoen miljard beurs "
    "effondre bondit chute recule franchit grimpe atteint selon avant encore jour semaine mois année seuil plateforme "
    "piratage achète vend banque gobierno banco compra vende récord caída subida anuncia lanza nueva nuevo semana día "
    "precios empresa governo compra banco nova novo recorde dia semana anuncia após ainda também vendas ações tocca sale "
    "scambio banca annuncia acquista dopo ancora oggi settimana perde guadagna sotto sopra dollari euro "
    # Turkish, Indonesian, Polish, Vietnamese
    "yeni ve bir için ile bu olarak yang dan untuk naik turun harga hari dengan dari pada ke ini akan tidak się "
    "że nie jest przez dla oraz spada rośnie kurs kursu bitcoina giełda giełdy po decyzji của và là các giá tăng giảm "
    "düştü yükseldi dolar karena setelah dalam tembus "
)
_ENGLISH: Final = frozenset(_ENGLISH_WORDS.split())
_FOREIGN: Final = frozenset(_FOREIGN_WORDS.split()) - _ENGLISH
# They are words of English too.
_HOMOGRAPHS: Final = frozenset({"al", "com", "dan", "des", "euro", "met", "op", "par", "sale", "sin", "van"})
_HOMOGRAPH_WEIGHT: Final = 0.4
# The beginning of a name: El Salvador, Las Vegas.
_PARTICLES: Final = frozenset(
    ["al", "da", "de", "del", "der", "di", "dos", "du", "el", "la", "las", "le", "les", "los", "van", "von"]
)
_LOAN_WORDS: Final = frozenset({"café", "cafés", "cliché", "exposé", "naïve", "résumé"})
_WORD: Final = re.compile(r"[^\W\d_]+")
_MARK: Final = re.compile(r"[äöüßéèêëàâáãåæçñíìîïóòôõøúùûýÿœąćęłńśźżčďěňřšťůžőűğışțșăđơư]")
_ENDING: Final = re.compile(
    r"(?:ción|ções|ção|mente|ieren|ungen|ung|keit|heit|schaft|idores|adores|eiros|eiras|ados|idos|ités?|eurs?|aient|ismo|zione|"
    r"zioni|lijk|heid|börse|leger|flüsse|ler|lar|kan|iert|steigt|fällt)$"
)
_ENGLISH_ENDING: Final = re.compile(r"(?:ing|ed|tion|ly|ers|ness|ment|ows|ies|ight|ould|ough)$")
_MAX_CHARS: Final = 300


def is_english(title: str, description: str = "") -> bool:
    """Return whether a text is English; a text without letters counts as English."""
    text = f"{title} {description[:_MAX_CHARS]}"
    letters = [char for char in text if char.isalpha()]
    if sum(char > "\u024f" for char in letters) > 0.3 * len(letters):
        return False
    words = _WORD.findall(text)
    english = sum(word.lower() in _ENGLISH for word in words)
    english_endings = sum(_ENGLISH_ENDING.search(word) is not None for word in words)
    if _count_foreign(words) > english + 0.25 * english_endings + 0.9:
        return False
    scores = _count_by_language(word.lower() for word in words)
    return max(scores.values()) < max(_SURE_WORDS, scores["en"] + 1)


def _count_foreign(words: list[str]) -> float:
    total = 0.0
    for word, following in pairwise([*words, ""]):
        lowered = word.lower()
        # Capitals are a name or an abbreviation.
        if lowered in _FOREIGN and not (len(word) > 1 and word.isupper()) and not _begins_name(word, following):
            total += _HOMOGRAPH_WEIGHT if lowered in _HOMOGRAPHS else 1.0
        if lowered in _LOAN_WORDS:
            continue
        if _MARK.search(lowered):
            # Short names such as São Paulo or Börse occur in English too.
            total += 0.75 if word[0].isupper() and len(word) <= 8 else 1.5
        elif len(word) > 5 and _ENDING.search(lowered):
            total += 0.5
    return total


def _begins_name(word: str, following: str) -> bool:
    is_capital = word[0].isupper() and following[:1].isupper()
    return is_capital and word.lower() in _PARTICLES and following.lower() not in {"bitcoin", "btc"}


_SCRIPTS: Final = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af\u1100-\u11ff]")),
    ("zh", re.compile(r"[\u3400-\u9fff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
)
_LATIN: Final = {
    "en": "the of to and in is are was for on that with at by from has have will an its this as it be not but",
    "de": (
        "der die das und ist nicht ein eine mit von zu auf für den dem des im nach bei über aus wird sich auch als wie am an ihre "
        "alle hat haben noch mehr gegen um vor zum zur bis seit"
    ),
    "fr": "le la les un une des et est pas pour dans sur au aux du avec par plus après ce cette qui que ses en",
    "es": "el los las del y con por para una más sobre tras su sus al desde como es que en se este artículo",
    "pt": "o os do da dos das em no na nos nas com um uma mais não ao pelo pela que se por para este artigo",
    "it": "il gli dei delle della nel nella con per un una più dopo di che sono ai alla",
    "nl": "het een van voor met op naar niet bij door uit en de dat zijn",
    "tr": "ve bir için ile bu olarak daha",
    "pl": "się że nie jest przez dla oraz na do po",
}
_LATIN_WORDS: Final = {language: frozenset(words.split()) for language, words in _LATIN.items()}
_ROMANCE: Final = frozenset({"es", "fr", "it", "pt"})
_SHARED_WORDS: Final = frozenset({"de", "en", "la", "un", "a", "o"})
FUNCTION_WORDS: Final = frozenset().union(*_LATIN_WORDS.values())
_SURE_WORDS: Final = 2
_MIN_SHARE: Final = 0.25
_SAMPLE_CHARS: Final = 4_000


def detect_language(text: str) -> str:
    """Return the code of the language that most of the text is in; "und" if there is no sign of one."""
    sample = text[:_SAMPLE_CHARS]
    letters = max(1, sum(char.isalpha() for char in sample))
    counts = {language: len(pattern.findall(sample)) for language, pattern in _SCRIPTS}
    # Japanese mixes its own letters with Chinese ones.
    if counts["ja"] >= 0.1 * letters:
        return "ja"
    script = max(counts, key=lambda language: counts[language])
    if counts[script] > _MIN_SHARE * letters:
        return script
    scores = _count_by_language(word.lower() for word in _WORD.findall(sample))
    best = max(scores, key=lambda language: scores[language])
    return best if scores[best] else "und"


def may_be_in(sentence: str, language: str) -> bool:
    """Return whether a sentence has no clear sign of a language other than `language`."""
    found = detect_language(sentence)
    if found in {language, "und"}:
        return True
    if found not in _LATIN_WORDS or language not in _LATIN_WORDS:
        return False
    # Related languages share small words.
    words = (word.lower() for word in _WORD.findall(sentence))
    scores = _count_by_language(word for word in words if word not in _SHARED_WORDS)
    has_sign = scores[language] > 0 or {found, language} <= _ROMANCE
    return has_sign and scores[found] - scores[language] < _SURE_WORDS


def _count_by_language(words: Iterable[str]) -> dict[str, int]:
    counted = list(words)
    return {language: sum(word in known for word in counted) for language, known in _LATIN_WORDS.items()}
