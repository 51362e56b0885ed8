"""What the outcome of an attempt makes of the article: figures of the embedded analyst, and the feed's text as the fallback."""

from sluice.core.errors import Refused, Unavailable
from sluice.core.news import stage_results
from sluice.core.news.article import Article

TITLE = "Bitcoin plunges after exchange hack"
DESCRIPTION = "Bitcoin fell 9% after hackers had drained a wallet. Subscribe to our newsletter for more."


def make_article(**members: object) -> Article:
    flags = {"needsSentiment": False, "needsSummary": True}
    return Article({"id": "a", "title": TITLE, "description": DESCRIPTION, **flags, **members})


def test_figures_of_the_embedded_analyst():
    """Its score and confidence are stored with the sentiment; another analyst gives none."""
    article = make_article(needsSentiment=True)
    embedded = stage_results.sentiment_found(article, "negative", "embedded", 5).article
    assert embedded.data["sentimentScore"] < 0 < embedded.data["sentimentConfidence"]
    other = stage_results.sentiment_found(embedded, "positive", "workers-ai", 6).article
    assert not {"sentimentScore", "sentimentConfidence"} & other.data.keys()
    assert not {"sentimentScore", "sentimentConfidence"} & embedded.reset().data.keys()


def test_unknown_is_a_sentiment():
    """A language that the analyst does not know is an answer, not a missing one."""
    article = stage_results.sentiment_found(make_article(title="Биткоин вырос"), "unknown", "embedded", 5).article
    assert article.sentiment == "unknown"


def test_feed_text_when_the_page_fails():
    """The feed's own text takes the place of the summary, without its boilerplate, and the reason stays."""
    for result in (
        stage_results.content_failed(make_article(), Refused("the page answered 410"), 1, 5),
        stage_results.content_failed(make_article(contentTimeout=1), Unavailable("the page answered 503"), 1, 5),
        stage_results.summary_mismatch(make_article(), 5),
    ):
        assert result.article.text("aiSummary") == "Bitcoin fell 9% after hackers had drained a wallet."
        assert result.article.text("summaryBy") == "feed"
        assert result.article.text("summaryError")
        assert result.article.stage == "complete"


def test_no_text_that_can_be_published():
    """Without a text in the feed the summary is empty, as before."""
    result = stage_results.summary_mismatch(make_article(description="Subscribe now!"), 5)
    assert (result.article.data["aiSummary"], result.article.text("summaryBy")) == ("", "")
