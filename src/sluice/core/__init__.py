"""What the product knows and decides; pure, and shared by the Workers, the command line and the tests."""
