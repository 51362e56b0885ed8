"""Recognises single lines in an article that belong to the site: links elsewhere, credits, calls to subscribe."""

import re
from typing import Final

_MAX_CHARS: Final = 200  # a longer paragraph may begin like an aside and still belong to the article
_LINE: Final = re.compile(
    r"""
    # English
    (?:please\ )?(?:read|see)\ (?:more|also|next|full|the\ full)\b | also\ read\b
    | related(?:\ (?:articles?|posts?|stor(?:y|ies)|news|links?|reading|topics))?\s*(?::|$)
    | more\ (?:on\ this|from|about|stories|news)\b | recommended(?:\ for\ you|\ articles)?\s*(?::|$)
    | sign\ up\ (?:for|to)\b | subscribe\ (?:to|now|here)\b | follow\ us\b | join\ (?:us|our)\b | share\ (?:this|on|via)\b
    | (?:leave\ a\ )?(?:reply|comment)s?$ | advertisement\b | sponsored\b | tags?\s*: | filed\ under | written\ by\b
    | (?:photo|image|picture)s?(?:\ by|\ credit|\ via|\ source|:) | credits?: | copyright\b | © | \(c\)
    | all\ rights\ reserved | posted\ (?:in|by|on)\b | published\b | last\ updated | download\ (?:the|our)\ .{0,40}\bapp\b
    # German
    | lesen\ sie\ (?:auch|mehr|hier|weiter|dazu) | lies\ (?:auch|mehr) | auch\ interessant | das\ könnte\ (?:sie|dich|euch)
    | mehr\ (?:zum\ thema|dazu|über|lesen|infos?) | zum\ weiterlesen | ähnliche\ (?:artikel|beiträge)
    | weitere\ (?:artikel|infos?|informationen|themen|nachrichten|beiträge|meldungen|links)
    | (?:foto|quelle|text|bild(?:quelle|er|nachweis)?): | kommentare?$ | teilen$ | alle\ rechte\ vorbehalten
    # Spanish, French, Portuguese, Polish
    | lea\ también | también\ te | te\ puede\ interesar | todos\ los\ derechos | (?:à\ )?lire\ aussi | tous\ droits
    | leia\ (?:mais|também) | czytaj\ (?:też|także|więcej) | zobacz\ (?:też|także|również)
    """,
    re.IGNORECASE | re.VERBOSE,
)


def is_aside(text: str) -> bool:
    """Return whether the text of a block is an aside."""
    return len(text) < _MAX_CHARS and _LINE.match(text) is not None
