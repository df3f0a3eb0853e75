"""Executors of the step types: one module for each type that has an effect."""
