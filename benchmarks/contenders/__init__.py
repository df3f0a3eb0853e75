"""What is measured, one process each: DBOS allows one instance per process, and nobody shares an import or a cache."""
