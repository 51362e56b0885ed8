"""What an article is about: tags from a fixed list, the entities it names, and how much it matters."""
