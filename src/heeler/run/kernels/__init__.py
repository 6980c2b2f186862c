"""Kernels as a user names them; their engines are in `heeler.kernel`."""
