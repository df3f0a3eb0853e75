"""The programs that are measured, one process each: DBOS allows one instance per process, and they share no imports
or caches."""
