"""`python -m sluice`."""

from sluice.cli.main import main

main()
