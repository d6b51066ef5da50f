"""Bridges to other packages: what is learned here, used there."""
