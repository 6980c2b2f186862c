"""Temperature: annealing to the best state or to the distribution itself, and log Z."""
