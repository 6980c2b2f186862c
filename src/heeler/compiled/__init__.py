"""The loops: flat arrays in, flat arrays out, no Python objects and no files.

The only place with Numba. Nothing here checks its input: `heeler.model` and `heeler.kernel` did.
"""
