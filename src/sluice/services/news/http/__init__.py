"""The routes of the three news Workers, and what each is for."""

from typing import Final

# In the examples of the API document.
ARTICLE_ID: Final = "0123456789abcdef"
