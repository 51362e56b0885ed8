"""Groups of HTML elements by how they behave."""

from typing import Final


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


VOID: Final = _names(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr"
)
# Elements whose content is not markup.
RAW: Final = _names("iframe math noembed noframes script style svg textarea title xmp")
# Elements that do not interrupt the text.
INLINE: Final = _names(
    "a abbr acronym amp-img b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr picture q rp rt "
    "ruby s samp small source span strike strong sub sup time tt u var wbr"
)
HEADINGS: Final = _names("h1 h2 h3 h4 h5 h6")
# Visible only without scripts, or never.
UNSEEN: Final = _names("noscript template")
# Never part of an article's text.
NON_CONTENT: Final = UNSEEN | _names(
    "address aside audio button canvas datalist dialog embed fieldset figcaption footer head input label map menu nav "
    "object option select video"
)
# An opening tag ends the innermost element of the first set, unless one of the second set is between.
IMPLIED_END: Final = {
    "a": (_names("a"), _names("button object table td th")),
    "dd": (_names("dd dt"), _names("dl")),
    "dt": (_names("dd dt"), _names("dl")),
    "li": (_names("li"), _names("dir menu ol ul")),
    "option": (_names("option"), _names("select")),
    "td": (_names("td th"), _names("table tr")),
    "th": (_names("td th"), _names("table tr")),
    "tr": (_names("td th tr"), _names("table")),
} | {
    name: (_names("p"), _names("button li object table td th"))
    for name in _names(
        "address article aside blockquote details div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 "
        "header hr main menu nav ol p pre section table ul"
    )
}
# A stray closing tag inside one of these does not end an element outside of it.
SCOPES: Final = _names("table td th")
IN_TABLES: Final = SCOPES | _names("tbody tfoot thead tr")
