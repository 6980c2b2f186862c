"""What `heeler demo` shows: a scene, the work done on it, and the figure made of both."""
