"""Read-only gateway to package registries."""
