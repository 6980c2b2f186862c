"""A model made ready to run: lowered to flat arrays, with the compiled call that advances it."""
