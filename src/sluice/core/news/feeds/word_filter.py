"""Which articles of a source are taken: words to keep or block, and a filter for those about Bitcoin."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from sluice.core.errors import ConfigError
from sluice.core.json_text import parse_bounded_json
from sluice.core.news.article import Article

MAX_WORDS: Final = 50
MAX_WORD_CHARS: Final = 100
_MEMBERS: Final = frozenset({"keep", "block", "relevant"})
# Bitcoin's names in the scripts of the world; a Latin one begins a word.
_BITCOIN: Final = re.compile(
    r"(?<![^\W_])(?:bitcoins?|bitcoin|btc|xbt|satoshis?|биткоин|биткойн|біткоїн|біткойн|битко[ий]н)|₿|ビットコイン|比特币|比特幣|"
    r"비트코인|بيتكوين|بتكوين|بیت\s?کوین|ביטקוין|บิทคอยน์|บิตคอยน์|बिटकॉइन|बिटकॉयन|বিটকয়েন|பிட்காயின்|బిట్‌కాయిన్|μπιτκόιν|ბიტკოინ|բիթքոին",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class WordFilter:
    """A word matches from the beginning of a word, in any case. `block` comes before `keep`."""

    keep: tuple[str, ...] = ()
    block: tuple[str, ...] = ()
    relevant: bool = False

    @classmethod
    def from_json(cls, value: object, path: str) -> Self:
        if not isinstance(value, Mapping) or value.keys() - _MEMBERS:
            raise ConfigError(f"{path} must be an object with keep, block and relevant, and nothing else")
        relevant = value.get("relevant", False)
        if not isinstance(relevant, bool):
            raise ConfigError(f"{path}.relevant must be true or false")
        return cls(_read_words(value, "keep", path), _read_words(value, "block", path), relevant)

    def admits(self, article: Article) -> bool:
        categories = article.data.get("category")
        words = categories if isinstance(categories, list) else []
        text = " ".join((article.title, article.description, *map(str, words)))
        if any(_has_word(text, word) for word in self.block):
            return False
        if self.keep and not any(_has_word(text, word) for word in self.keep):
            return False
        return not self.relevant or is_about_bitcoin(text)


EVERYTHING: Final = WordFilter()


def is_about_bitcoin(text: str) -> bool:
    """Return whether a text names Bitcoin, in whatever script."""
    return _BITCOIN.search(text) is not None


def parse_source_rules(text: str, variable: str) -> dict[str, WordFilter]:
    """Read a JSON object of addresses and their rules; raise ConfigError that names the bad part."""
    if not text.strip():
        return {}
    try:
        value = parse_bounded_json(text)
    except ValueError as error:
        raise ConfigError(f"{variable} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ConfigError(f'{variable} must be an object such as {{"https://site/feed": {{"keep": ["bitcoin"]}}}}')
    return {address: WordFilter.from_json(rules, f"{variable}[{address!r}]") for address, rules in value.items()}


def _read_words(value: Mapping[str, Any], name: str, path: str) -> tuple[str, ...]:
    words = value.get(name, [])
    fits = isinstance(words, list) and len(words) <= MAX_WORDS
    if not fits or not all(isinstance(each, str) and 0 < len(each.strip()) <= MAX_WORD_CHARS for each in words):
        raise ConfigError(
            f"{path}.{name} must be a list of up to {MAX_WORDS} words of up to {MAX_WORD_CHARS} characters"
        )
    return tuple(each.strip() for each in words)


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(word)}", text, re.IGNORECASE) is not None
