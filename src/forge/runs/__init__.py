"""Durable runs on DBOS: kill -9 at any instant, and a run goes on from its last finished step.

Inside a run only three things happen: pure code, a step (one side effect, its result journaled) and a wait
(gate, sleep, message, child). This package is the only one that knows DBOS.
"""
