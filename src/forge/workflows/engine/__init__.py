"""Execute workflow runs and journal their steps."""
