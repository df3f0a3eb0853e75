"""What the steps of a workflow do: one file for each kind that has an effect."""
