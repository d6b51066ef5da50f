"""Seeded generators of instances: a module for each kind of problem, and one that draws what is left open."""
