"""The event log: everything that happens, in order, per stream; and those who follow it live.

Nothing is told to anyone that was not first appended, in the transaction that made it true.
"""
