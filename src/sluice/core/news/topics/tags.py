"""The tags of an article, by the words in its title and its feed's text."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

# Patterns of whole words; English, and the words that other languages have for the same.
_WORDS: Final[Mapping[str, str]] = {
    "price": (
        r"pric(?:e|es|ing)|rall(?:y|ies|ied)|surg\w+|soar\w*|plung\w+|tumbl\w+|slump\w*|crash\w*|all-time high|record high|sell-?off|"
        r"kurs|precio|prix|preço|prezzo|цена|курс"
    ),
    "etf": r"etfs?|exchange-traded|ibit|fbtc|gbtc|etps?|spot (?:bitcoin )?funds?|inflows?|outflows?",
    "regulation": (
        r"regulat\w+|sec|cftc|fca|mica|licen[cs]\w*|bills?|law|laws|lawmakers?|senat\w+|congress|parliament|ban|bans|banned|"
        r"tax|taxes|taxation|sanctions?|regulier\w+|regulaci\w+|réglement\w+|регул\w+"
    ),
    "legal": r"court|judge|lawsuit|su(?:es|ed|ing)|trial|appeal\w*|charg(?:es|ed)|indict\w*|sentenc\w*|guilty|settle\w*|fin(?:es|ed)",
    "security": r"hack\w*|stol\w+|steal\w*|theft|thieves|exploit\w*|breach\w*|phishing|scam\w*|ransomware|drain\w*|heist|vulnerab\w+|kidnap\w*",
    "mining": r"min(?:er|ers|ing)|hash ?rate|difficulty|halving|asics?|minería|minage|майн\w+|挖矿|マイニング",
    "treasury": r"treasur(?:y|ies)|reserve|reserves|balance sheet|hoard|holdings|stockpile",
    "adoption": r"adopt\w*|accept\w*|legal tender|payments?|merchants?|pension|retirement|bank(?:s)? (?:offer|hold|to)\w*",
    "exchange": r"exchange(?!-traded)s?|coinbase|binance|kraken|okx|bybit|bitfinex|withdrawals?|listing",
    "macro": r"fed|fomc|ecb|rate (?:cut|hike)s?|interest rates?|inflation|cpi|jobs report|payrolls|tariffs?|dollar|treasury yields?|recession",
    "technology": r"bitcoin core|bip ?\d+|soft fork|hard fork|taproot|quantum|developers?|upgrade|nodes?|ordinals|covenants?",
    "lightning": r"lightning",
    "stablecoins": r"stablecoins?|tether|usdt|usdc|circle",
    "altcoins": r"ether|ethereum|eth|solana|sol|xrp|dogecoin|doge|cardano|altcoins?|memecoins?",
    "derivatives": r"options?|futures|perpetuals?|liquidat\w+|leverag\w+|open interest|short sellers?",
    "forecast": r"forecasts?|predict\w*|target|outlook|could (?:reach|hit|fall|drop|rise)|expects?",
}
TAGS: Final = tuple(_WORDS)
_MAX_TAGS: Final = 6
_MAX_CHARS: Final = 600
_WIDE: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def find_tags(title: str, description: str) -> list[str]:
    """Return the tags, those of the title first."""
    texts = (title.lower(), description[:_MAX_CHARS].lower())
    found = [tag for text in texts for tag, pattern in _patterns().items() if pattern.search(text)]
    return list(dict.fromkeys(found))[:_MAX_TAGS]


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    return {tag: re.compile("|".join(_compile_words(words))) for tag, words in _WORDS.items()}


def _compile_words(words: str) -> list[str]:
    """Return a pattern for words between word boundaries; between ideographs there are none."""
    pieces = words.split("|")
    wide = [piece for piece in pieces if _WIDE.search(piece)]
    plain = "|".join(piece for piece in pieces if piece not in wide)
    return [rf"(?<!\w)(?:{plain})(?!\w)", *wide]
