"""The sentiment of a headline in the view of a reader who holds Bitcoin."""

from sluice.core.news.sentiment.judge import Judgement, judge_headline

__all__ = ["Judgement", "judge_headline"]
