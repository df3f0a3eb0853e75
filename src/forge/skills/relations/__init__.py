"""Relations between skills: versions, dependencies, conflicts and parents."""
