"""The command line. `main` finds the command; each command is a module that is imported only when it is called."""
