"""A page to solve, watch and understand, and a service to call; no module but those of the server needs FastAPI."""
