"""The event log: ordered events per stream, and live followers.

Durable events reach followers only after they were appended, in the transaction of the change they report.
"""
