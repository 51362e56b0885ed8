"""A list of rules written in the format of another program, with a report of what that format cannot express."""
