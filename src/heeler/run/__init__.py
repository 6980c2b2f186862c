"""The loop around a kernel: chunks, what is kept, progress, checkpoints, the result."""
