"""The command line: `main` parses the command, and each command is a module that is imported only when it runs."""
