"""What the product knows and decides: pure, shared by the Workers, the command line and the tests."""
