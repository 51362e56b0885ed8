"""How the service is used."""
