"""Durable runs on DBOS: after kill -9 at any time, a run continues from its last finished step.

A run consists of pure code, steps (each is one side effect whose result is journaled) and waits (gate, sleep,
message, child). Only this package imports DBOS.
"""
