"""The command line's own machine: files, the web without a guard, threads and the terminal."""
