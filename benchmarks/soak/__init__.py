"""Exercise everything at once against one server for half an hour: its resource usage must not grow."""
