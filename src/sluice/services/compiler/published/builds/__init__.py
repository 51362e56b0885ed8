"""The builds of published lists: their queue, their steps, what they write, and their alerts."""
