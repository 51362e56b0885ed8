"""The feed's own text in place of a summary."""

from typing import Final

from sluice.core.news.language import detect_language
from sluice.core.news.sentences import cut_at_sentence, split_sentences
from sluice.core.news.summaries.address import addresses_reader
from sluice.core.news.summaries.boilerplate import is_boilerplate
from sluice.core.news.summaries.extractive import MAX_CHARS, MAX_SENTENCES

_MIN_CHARS: Final = 20
_MAX_DESCRIPTION_CHARS: Final = 5_000


def summarise_feed_text(title: str, description: str) -> str:
    """Return the sentences of a feed's text that can be published; "" if there are none."""
    language = detect_language(description)
    sentences = split_sentences(description[:_MAX_DESCRIPTION_CHARS])
    clean = [each for each in sentences if not (is_boilerplate(each) or addresses_reader(each, language))][
        :MAX_SENTENCES
    ]
    text = cut_at_sentence(" ".join(clean), MAX_CHARS)
    is_title = text.casefold().rstrip(".") == title.casefold().rstrip(".")
    return text if len(text) >= _MIN_CHARS and not is_title else ""
