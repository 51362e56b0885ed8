"""What the Workers did, kept for a day and sent on when it failed."""
