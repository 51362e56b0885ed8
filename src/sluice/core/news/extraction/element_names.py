"""What the class, id and role of an element say about its content."""

import re
from typing import Final

# As a word anywhere in a name: `post-comments`, `c-share_bar`.
_WORDS: Final = (
    r"addthis|adsense|advert|advertisement|advertising|advertorial|affiliate|anzeige|"
    r"author-?(?:bio|box|card|description|info)|banner|breadcrumbs?|brotkrumen?|byline|caption|carousel|"
    r"comment-(?:area|author|body|content|form|list|meta|respond|section|text|wrap)|commentform|commentlist|comments|"
    r"consent|cookies?|copyright|disclaimer|disqus|dropdown|facebook|feedback|flyout|footer|footnotes?|gallery|gdpr|"
    r"infobox|instagram|kommentare?|lightbox|login|masthead|menue?|messenger|meta-?info|metadata|modal|"
    r"more-?(?:articles|from|news|on|posts|stories)|most-?(?:popular|read)|navi?|navbar|navigation|newsletter|noprint|"
    r"outbrain|overlay|pager|pagination|paywall|pinterest|plista|podcast|popup|"
    r"post-?(?:date|info|meta|nav|navigation|tags)|promo|promotion|read-?(?:also|more|next)|recommend\w*|related\w*|"
    r"respond|screen-reader-text|share-?buttons?|sharebar|sharedaddy|shares?|sharing|shoutbox|sidebar|sign-?up|similar|"
    r"sitemap|skip-?link|slider|slideshow|sociable|socials?|sponsor\w*|sr-?only|sub-?nav\w*|subscribe|subscription|"
    r"taboola|tag-?list|tagcloud|tags|teasers?|toolbar|topbar|trending|tweet|twitter|upsell|vcard|visually-?hidden|"
    r"voting|yarpp"
)
# Only as a whole name: as a part of one they mean nothing.
_WHOLE: Final = re.compile(
    r"(?:^|\s)(?:ads?|author|bottom|comment|credits?|date|embed|foot|hidden|hide|legend|logo|meta|more|next|poll|popular|"
    r"prev|previous|print|profile|rating|recent|reply|rss|search|source|tag|toc|tools|topics|vote|widgets?)(?=\s|$)"
)
_BOILERPLATE: Final = re.compile(rf"(?:^|[\s_-])(?:{_WORDS})(?=$|[\s_-])")
_COMMENTS: Final = re.compile(r"(?:^|[\s_-])(?:comments?|kommentare?|disqus|respond)(?=$|[\s_-])")
# WordPress writes a post's tags and categories into the classes of its container.
_POST: Final = re.compile(r"(?:^|\s)(?:hentry|type-post|type-page)(?=\s|$)")
# Names that publishing systems give the body of an article.
_BODY: Final = re.compile(
    r"(?:^|[\s_-])(?:artikel|article|beitrag|blog|body|content|entry|main|news|page|post|story|text)"
    r"[_-]{0,2}(?:article|body|content|copy|entry|inner|main|post|story|text)(?=$|[\s_-])"
    r"|articlebody|(?:^|[\s_-])(?:entry|hentry|postentry|prose|rich-?text|rte|single-content|storycontent)(?=$|[\s_-])"
)
# Names of the paragraph between title and body.
_INTRO: Final = re.compile(
    r"(?:^|[\s_-])(?:lead|lede|intro|introduction|standfirst|vorspann|einleitung|excerpt|dek|deck|sub-?head(?:line)?|sub-?title|"
    r"summary|abstract|chapo|chapeau|entradilla|bajada|sommario|kicker-text|article-?teaser|teaser-?text)(?=$|[\s_-])"
)
_ARTICLE_BODY: Final = re.compile(r"article-?body")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NAMING: Final = ("class", "id", "role", "itemprop", "data-component", "data-testid")
_MAX_CHARS: Final = 400


def element_name_words(attributes: dict[str, str]) -> str:
    """Return class, id, role and similar attributes as one lower-case text."""
    named = " ".join(attributes[name] for name in _NAMING if attributes.get(name))
    return _CAMEL.sub("-", named[:_MAX_CHARS]).lower()


def is_boilerplate(words: str) -> bool:
    """Return whether the element is around the article, not part of it."""
    if not words or _POST.search(words):
        return False
    return _BOILERPLATE.search(words) is not None or _WHOLE.search(words) is not None


def is_comments(words: str) -> bool:
    """Return whether the element holds the comments of readers."""
    return _COMMENTS.search(words) is not None


def is_body(words: str) -> bool:
    """Return whether the element may hold the text of the article."""
    return _BODY.search(words) is not None


def is_article_body(words: str) -> bool:
    """Return whether the element is named as the article body explicitly."""
    return _ARTICLE_BODY.search(words) is not None


def is_intro(words: str) -> bool:
    """Return whether the element may hold the paragraph that introduces the article."""
    return _INTRO.search(words) is not None
