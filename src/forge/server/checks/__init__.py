"""What the doctor looks at: a file for each thing that can be wrong."""
