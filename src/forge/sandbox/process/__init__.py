"""Starting and supervising processes: descriptors, limits, resource usage."""
