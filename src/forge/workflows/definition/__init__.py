"""What a workflow is: its one form, how it is read and written, and what is wrong with it."""
