"""What starts a workflow without a person: times, deliveries, events, files."""
