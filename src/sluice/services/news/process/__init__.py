"""The processor: adds sentiment and summary to one article after another."""
