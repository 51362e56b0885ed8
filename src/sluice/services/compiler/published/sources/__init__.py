"""The sources of published lists: their files, their last good copies, and how they are read."""
