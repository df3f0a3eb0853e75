"""What skills are to each other: versions, dependencies, conflicts, parents."""
