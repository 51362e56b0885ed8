"""The keys of the KV namespace CRYPTO_NEWS_CACHE, and the write domain of each Worker."""

from typing import Final

PENDING: Final = "BTC_PENDING_LIST"
CHECKPOINT: Final = "BTC_CHECKPOINT"
INDEX: Final = "BTC_ID_INDEX"
ARTICLE_PREFIX: Final = "article:"
# The last checkpoint and the last index that could not be read.
CORRUPT: Final = "BTC_CHECKPOINT_CORRUPT"
CORRUPT_INDEX: Final = "BTC_ID_INDEX_CORRUPT"
# The only key of the architecture before checkpoints: {articles: [...], ...}.
LEGACY: Final = "BTC_ANALYZED_NEWS"

# No two Workers write the same key. A name that ends in a colon stands for all keys that begin with it.
UPDATER_WRITES: Final = (PENDING,)
PROCESSOR_WRITES: Final = (CHECKPOINT, INDEX, ARTICLE_PREFIX, CORRUPT, CORRUPT_INDEX)


def article_key(article_id: str) -> str:
    return f"{ARTICLE_PREFIX}{article_id}"
