"""Published lists: definitions, builds, what is stored of them, and what readers get."""
