"""The members of an article that say what it is about."""

from typing import Any

from sluice.core.news.article import Article
from sluice.core.news.topics.entities import find_entities
from sluice.core.news.topics.importance import weigh_article
from sluice.core.news.topics.tags import find_tags


def describe_topics(article: Article) -> dict[str, Any]:
    """Returns tags, entities and the importance of the article by itself."""
    tags = find_tags(article.title, article.description)
    score = article.data.get("sentimentScore")
    weight = weigh_article(article.title, tags, score if isinstance(score, int | float) else 0.0)
    return {"tags": tags, "entities": find_entities(article.title, article.description), "importance": weight}
