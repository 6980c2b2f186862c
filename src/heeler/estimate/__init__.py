"""Averages with honest errors: formed from what was seen, whatever kernel saw it."""
